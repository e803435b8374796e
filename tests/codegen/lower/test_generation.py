# SPDX-License-Identifier: Apache-2.0
"""Graphs that write texts: what the interpreter makes of them is what `transformers` wrote, and what is not sound is
refused."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_builder import VOCABULARY
from tiny_generators import MAX_TARGET, decoder_only

from codegen.errors import EtchError
from codegen.frontends import FRONT_ENDS
from codegen.ir import graph as g
from codegen.ir.check_graph import check_graph
from codegen.ir.search import Search
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.generation_config import GenerationSettings, read_generation, settings_in
from codegen.load.shards import open_weights
from codegen.oracle.interpret import Interpreter

HERE = Path(__file__).resolve().parents[1] / "generation"
VARIANTS = sorted(str(path.parent.relative_to(HERE)) for path in HERE.glob("*/*/recorded.json"))
WITHOUT_ENCODER = (
    *("bloom", "codegen", "ernie4_5", "exaone4", "falcon", "glm", "helium", "hunyuan", "ministral", "seed_oss"),
    *(
        "gemma",
        "gpt2",
        "gpt_bigcode",
        "gpt_neo",
        "gpt_neox",
        "gptj",
        "granite",
        "llama",
        "mistral",
        "olmo",
        "opt",
        "phi",
        "qwen",
    ),
    *("lfm2", "modernbert-decoder", "mpt", "nemotron", "smollm3", "stablelm", "starcoder2", "xglm"),
)
LONGROPE = json.loads((HERE / "phi3" / "long" / "config.json").read_text(encoding="utf-8"))["rope_parameters"]
SEARCHED = [variant for variant in VARIANTS if (HERE / variant / "beams.json").exists()]


def recorded(variant: str, root: Path = HERE) -> dict[str, Any]:
    return json.loads((root / variant / "recorded.json").read_text(encoding="utf-8"))


def graph_of(variant: str, without: tuple[str, ...] = (), **changes: Any) -> g.Graph:
    """Of a recorded folder, with keys of its configuration changed."""
    folder = CheckpointFolder(HERE / variant)
    said = folder.read_json("config.json") | changes
    config = Config.from_json({key: value for key, value in said.items() if key not in without})
    family = FRONT_ENDS[variant.partition("/")[0]]
    limits = 24, recorded(variant)["max_target"]
    return family.graph_of(config, open_weights(folder)[0], *limits, settings_of(variant, config))


def settings_of(variant: str, config: Config) -> GenerationSettings:
    has_encoder = not variant.startswith(WITHOUT_ENCODER)
    vocabulary = config.positive_int("target_vocab_size", config.positive_int("vocab_size"))
    return read_generation(CheckpointFolder(HERE / variant), config, vocabulary, has_encoder=has_encoder)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_writes_what_the_library_wrote(variant: str) -> None:
    made = graph_of(variant)
    check_graph(made)
    interpreter = Interpreter(made)
    for text in recorded(variant)["outputs"]:
        segments = [0] * len(text["ids"])
        logits = np.array(text["logits"])
        found = interpreter.logits(text["ids"], segments, text["written"][:-1])
        assert len(found) == len(text["written"])
        assert np.abs(found[: len(logits)] - logits).max() < 1e-10 * np.abs(logits).max()
        assert interpreter.generate(text["ids"], segments) == text["written"]


@pytest.mark.parametrize("variant", SEARCHED)
def test_beams_find_what_the_library_found(variant: str) -> None:
    made = graph_of(variant)
    own = settings_of(variant, Config.from_json(CheckpointFolder(HERE / variant).read_json("config.json")))
    searches = json.loads((HERE / variant / "beams.json").read_text(encoding="utf-8"))
    assert {beams for _, beams, *_ in searches} >= {2, 8}
    for ids, beams, penalty, early, written, score in searches:
        assert (beams is None) <= (own.max_tokens is not None)
        settings = own.search if beams is None else Search(beams, penalty, early, own.search.renormalize)
        most = made.target.max_tokens if beams is not None or own.max_tokens is None else own.max_tokens
        interpreter = Interpreter(replace(made, target=replace(made.target, max_tokens=most)))
        best = interpreter.beams(ids, [0] * len(ids), settings)[0]
        assert list(best.tokens) == written
        assert abs(best.score - score) < 1e-5 * max(1.0, abs(score))


RESTRICTED: list[Any] = json.loads((HERE / "restrictions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("variant", sorted({one[0] for one in RESTRICTED}))
def test_what_may_come_behind_what_is_there(variant: str) -> None:
    """As the library has it, greedily and by beams."""
    for _, ids, options, beams, written in (one for one in RESTRICTED if one[0] == variant):
        made = graph_of(variant, **options)
        interpreter, segments = Interpreter(made), [0] * len(ids)
        assert made.target is not None
        if beams == 1:
            assert interpreter.generate(ids, segments) == written, options
        else:
            search = Search(beams, renormalize=made.target.search.renormalize)
            assert list(interpreter.beams(ids, segments, search)[0].tokens) == written, (options, beams)


def test_what_may_not_come_is_what_the_library_says() -> None:
    """N-grams and words, odd ones above all; what a target begins with counts as what was written does."""
    vocabulary, end = 6, 2
    for tokens, size, words, banned in json.loads((HERE / "banned.json").read_text(encoding="utf-8")):
        asked = {"decoder_start_token_id": 0, "eos_token_id": end, "no_repeat_ngram_size": size, "bad_words_ids": words}
        settings = settings_in(Config.from_json(asked), vocabulary, has_encoder=True)
        for split in range(1, len(tokens) + 1):
            found = settings.restrictions.banned(tokens[:split], tokens[split:])
            assert sorted({*found, *settings.never}) == banned, (tokens[:split], tokens[split:], size, words)


@pytest.mark.sweep
def test_the_script_writes_what_is_recorded(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    for script in ("record_generation.py", "record_plain.py"):
        subprocess.run([sys.executable, HERE / script, "--out", tmp_path], check=True, capture_output=True)
    banned = tmp_path / "banned.json"
    subprocess.run([sys.executable, HERE / "record_banned.py", "--out", banned], check=True, capture_output=True)
    assert banned.read_bytes() == (HERE / "banned.json").read_bytes()
    for variant in VARIANTS:
        for text, again in zip(recorded(variant)["outputs"], recorded(variant, tmp_path)["outputs"], strict=True):
            assert (text["ids"], text["written"]) == (again["ids"], again["written"])
            assert np.abs(np.array(text["logits"]) - again["logits"]).max() < 1e-9


@pytest.mark.parametrize(
    ("variant", "changes", "code"),
    [
        ("bart/two_layers", {"forced_eos_token_id": 3}, "generation-not-supported"),
        ("bart/two_layers", {"decoder_start_token_id": 45}, "token-id-out-of-range"),
        ("bart/two_layers", {"eos_token_id": None}, "config-missing"),
        ("bart/two_layers", {"decoder_layers": 3}, "missing-tensor"),
        ("bart/two_layers", {"decoder_attention_heads": 3}, "heads-do-not-divide"),
        ("bart/two_layers", {"decoder_ffn_dim": 30}, "wrong-shape"),
        ("bart/two_layers", {"vocab_size": 44}, "wrong-shape"),
        ("bart/two_layers", {"activation_function": "sine"}, "activation-not-supported"),
        ("bart/two_layers", {"max_position_embeddings": 17}, "max-tokens-out-of-range"),
        ("marian/opus", {"normalize_embedding": True}, "generation-not-supported"),
        ("marian/opus", {"share_encoder_decoder_embeddings": False}, "generation-not-supported"),
        ("marian/opus", {"encoder_repetition_penalty": 1.5}, "generation-not-supported"),
        ("marian/opus", {"bad_words_ids": [[45]]}, "token-id-out-of-range"),
        ("marian/opus", {"encoder_layers": 1}, "unused-tensor"),
        ("gpt2/two_layers", {"scale_attn_by_inverse_layer_idx": True}, "config-not-supported"),
        ("gpt2/two_layers", {"tie_word_embeddings": False}, "missing-tensor"),
        ("gpt2/two_layers", {"n_positions": 39}, "max-tokens-out-of-range"),
        ("gpt2/two_layers", {"n_head": 3}, "heads-do-not-divide"),
        ("gpt2/two_layers", {"n_inner": 79}, "wrong-shape"),
        ("gpt_neo/texts", {"attention_layers": ["global"]}, "layers-out-of-range"),
        ("gpt_neo/texts", {"attention_layers": ["global", "near"]}, "layers-out-of-range"),
        ("gpt_neo/texts", {"window_size": 0}, "config-out-of-range"),
        ("gpt_neo/texts", {"num_heads": 3}, "heads-do-not-divide"),
        ("gpt_neo/texts", {"num_attention_heads": 4}, "config-value"),
        ("gpt_neo/texts", {"num_layers": 1000}, "missing-tensor"),
        ("gpt_neo/texts", {"intermediate_size": 79}, "wrong-shape"),
        ("gpt_neo/texts", {"max_position_embeddings": 43}, "wrong-shape"),
        ("gpt_neo/texts", {"activation_function": "sine"}, "activation-not-supported"),
        ("gptj/own", {"rotary_dim": 5}, "rotary-not-supported"),
        ("gptj/own", {"rotary_dim": 12}, "rotary-not-supported"),
        ("gptj/own", {"rotary_dim": None}, "config-type"),
        ("gptj/own", {"tie_word_embeddings": True}, "tied-tensors-differ"),
        ("gptj/own", {"hidden_size": 24}, "config-value"),
        ("gptj/own", {"n_head": 3}, "heads-do-not-divide"),
        ("gptj/own", {"n_inner": None}, "wrong-shape"),
        ("umt5/own", {"num_decoder_layers": 1}, "unused-tensor"),
        ("umt5/own", {"num_decoder_layers": 3}, "missing-tensor"),
        ("umt5/own", {"relative_attention_num_buckets": 10}, "wrong-shape"),
        ("codegen/own", {"n_head": 2}, "heads-do-not-divide"),
        ("codegen/own", {"rotary_dim": 6}, "rotary-not-supported"),
        ("gpt_bigcode/own", {"multi_query": False}, "wrong-shape"),
        ("gpt_bigcode/own", {"add_cross_attention": True}, "config-not-supported"),
        ("gpt_bigcode/own", {"n_head": 3}, "heads-do-not-divide"),
        ("gpt_bigcode/own", {"tie_word_embeddings": False}, "missing-tensor"),
        ("llama/tied", {"num_key_value_heads": 3}, "heads-do-not-divide"),
        ("llama/tied", {"head_dim": 5}, "heads-do-not-divide"),
        ("llama/tied", {"tie_word_embeddings": False}, "missing-tensor"),
        ("llama/tied", {"attention_bias": True}, "missing-tensor"),
        ("llama/tied", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}, "rotary-not-supported"),
        ("llama/tied", {"rope_parameters": {"rope_type": "default", "rope_theta": 0}}, "rotary-not-supported"),
        ("llama/wide_heads", {"tie_word_embeddings": True}, "tied-tensors-differ"),
        ("smollm3/own", {"no_rope_layers": [1, 0]}, "layers-out-of-range"),
        ("smollm3/own", {"no_rope_layers": [1, 0, 2]}, "layers-out-of-range"),
        ("smollm3/own", {"sliding_window": 1}, "config-not-supported"),
        (
            "smollm3/own",
            {"use_sliding_window": False, "layer_types": ["sliding_attention"] * 3},
            "config-not-supported",
        ),
        ("granite/own", {"logits_scaling": 0}, "config-out-of-range"),
        ("granite/own", {"residual_multiplier": -1.0}, "config-out-of-range"),
        ("olmo2/own", {"attention_bias": False}, "unused-tensor"),
        ("gemma/own", {"use_bidirectional_attention": True}, "config-not-supported"),
        ("gemma/own", {"head_dim": 256}, "wrong-shape"),
        ("gemma2/own", {"use_bidirectional_attention": True}, "config-not-supported"),
        ("gemma2/own", {"attn_logit_softcapping": 0}, "config-out-of-range"),
        ("gemma2/own", {"final_logit_softcapping": -3.0}, "config-out-of-range"),
        ("gemma2/own", {"sliding_window": 1}, "config-not-supported"),
        ("gemma2/own", {"query_pre_attn_scalar": 0}, "config-out-of-range"),
        ("gemma2/own", {"num_attention_heads": 2}, "wrong-shape"),
        ("modernbert-decoder/own", {"local_attention": 3, "sliding_window": 1}, "config-not-supported"),
        ("modernbert-decoder/own", {"sliding_window": 8}, "config-value"),
        ("modernbert-decoder/own", {"decoder_bias": False}, "unused-tensor"),
        ("modernbert-decoder/own", {"tie_word_embeddings": False}, "missing-tensor"),
        ("nemotron/own", {"partial_rotary_factor": 0.4, "rope_parameters": None}, "rotary-not-supported"),
        ("nemotron/own", {"hidden_act": "tanh"}, "activation-not-supported"),
        ("nemotron/own", {"mlp_bias": True}, "missing-tensor"),
        *(
            ("mpt/own", {"attn_config": changes}, "config-not-supported")
            for changes in (
                {"alibi": False},
                {"clip_qkv": 6},
                {"qk_ln": True},
                {"prefix_lm": True},
                {"alibi_bias_max": 4},
            )
        ),
        ("mpt/own", {"attn_config": [8]}, "config-value"),
        ("mpt/own", {"n_heads": 4}, "heads-do-not-divide"),
        ("mpt/own", {"hidden_size": 20}, "config-value"),
        ("mpt/own", {"max_seq_len": 39}, "max-tokens-out-of-range"),
        ("xglm/texts", {"pad_token_id": 5}, "config-not-supported"),
        ("xglm/texts", {"add_cross_attention": True}, "config-not-supported"),
        ("xglm/texts", {"attention_heads": 4}, "heads-do-not-divide"),
        ("xglm/texts", {"hidden_size": 20}, "config-value"),
        ("xglm/texts", {"d_model": 3}, "config-out-of-range"),
        ("olmo/own", {"clip_qkv": 8.0}, "config-not-supported"),
        ("olmo3/own", {"sliding_window": 1}, "config-not-supported"),
        ("olmo3/own", {"layer_types": ["full_attention"]}, "layers-out-of-range"),
        *(
            ("olmo3/own", {"rope_scaling": changes}, "rotary-not-supported")
            for changes in ({"truncate": False}, {"factor": 0.5}, {"beta_fast": 0}, {"rope_type": "dynamic"})
        ),
        ("ministral/own", {"sliding_window": 1}, "config-not-supported"),
        ("helium/own", {"mlp_bias": False}, "unused-tensor"),
        ("helium/own", {"head_dim": 8}, "wrong-shape"),
        ("ernie4_5/own", {"use_bias": False}, "unused-tensor"),
        ("hunyuan_v1_dense/own", {"rope_parameters": {"type": "dynamic", "factor": 2.0}}, "rotary-not-supported"),
        ("hunyuan_v1_dense/own", {"rope_parameters": {"type": "dynamic", "alpha": -2.0}}, "rotary-not-supported"),
        ("glm/own", {"attention_bias": False}, "unused-tensor"),
        ("glm/own", {"rope_parameters": {"partial_rotary_factor": 0.4}}, "rotary-not-supported"),
        ("seed_oss/own", {"attention_out_bias": False}, "unused-tensor"),
        ("exaone4/own", {"sliding_window": 1}, "config-not-supported"),
        ("exaone4/own", {"sliding_window": None}, "layers-out-of-range"),
        ("gpt_neox/one_by_one", {"rope_parameters": {"partial_rotary_factor": 0.4}}, "rotary-not-supported"),
        ("gpt_neox/one_by_one", {"rope_parameters": None, "rotary_pct": 0}, "rotary-not-supported"),
        ("gpt_neox/one_by_one", {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}, "rotary-not-supported"),
        ("gpt_neox/one_by_one", {"attention_bias": True}, "missing-tensor"),
        ("gpt_neox/one_by_one", {"head_dim": 4}, "config-not-supported"),
        ("gpt_neox/texts", {"attention_bias": False}, "unused-tensor"),
        ("phi/texts", {"rope_parameters": None, "partial_rotary_factor": 0.2}, "rotary-not-supported"),
        ("phi/texts", {"rope_parameters": None, "partial_rotary_factor": 1.1}, "rotary-not-supported"),
        ("phi/texts", {"rope_parameters": {"rope_type": "default", "factor": 2.0}}, "rotary-not-supported"),
        ("phi/texts", {"rope_scaling": [2.0], "rope_parameters": None}, "rotary-not-supported"),
        ("phi/texts", {"qk_layernorm": True}, "missing-tensor"),
        ("phi/head_norms", {"qk_layernorm": False}, "unused-tensor"),
        ("phi/head_norms", {"tie_word_embeddings": False}, "missing-tensor"),
        ("stablelm/parallel", {"use_parallel_residual": False}, "missing-tensor"),
        ("stablelm/parallel", {"use_qkv_bias": False}, "unused-tensor"),
        ("stablelm/parallel", {"qk_layernorm": True}, "config-not-supported"),
        ("stablelm/parallel", {"head_dim": 8}, "config-not-supported"),
        ("stablelm/parallel", {"rope_parameters": None}, "rotary-not-supported"),
        ("starcoder2/own", {"sliding_window": 1}, "config-not-supported"),
        ("starcoder2/own", {"use_bias": False}, "unused-tensor"),
        ("opt/texts", {"layer_norm_elementwise_affine": False}, "config-not-supported"),
        ("opt/texts", {"_remove_final_layer_norm": True}, "unused-tensor"),
        ("opt/texts", {"enable_bias": False}, "unused-tensor"),
        ("opt/texts", {"num_attention_heads": 3}, "heads-do-not-divide"),
        ("opt/texts", {"max_position_embeddings": 43}, "wrong-shape"),
        ("opt/projected", {"word_embed_proj_dim": None}, "wrong-shape"),
        ("opt/projected", {"do_layer_norm_before": True}, "missing-tensor"),
        ("phi3/texts", {"sliding_window": 1}, "config-not-supported"),
        ("phi3/texts", {"num_key_value_heads": 4}, "wrong-shape"),
        ("phi3/texts", {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, "rotary-not-supported"),
        ("phi3/long", {"original_max_position_embeddings": 39}, "config-not-supported"),
        *(
            ("phi3/long", {"rope_parameters": LONGROPE | changes}, "rotary-not-supported")
            for changes in (
                *({"short_factor": [1.0, 2.0]}, {"short_factor": [1.0, 0, 2.0]}, {"long_factor": None}),
                *({"attention_factor": -1.0}, {"factor": 1e9}, {"high_freq_factor": 2.0}, {"rope_theta": 0}),
            )
        ),
    ],
)
def test_a_configuration_that_does_not_fit(variant: str, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(variant, **changes)
    assert caught.value.code == code


def test_angles_by_their_older_names() -> None:
    """As GPT-NeoX's first files have them."""
    variant = "gpt_neox/texts"
    ids = recorded(variant)["outputs"][1]["ids"]
    own, older, other = (
        Interpreter(graph_of(variant, **changes)).logits(ids, [0] * len(ids), [])
        for changes in (
            {},
            {"rope_parameters": None, "rotary_pct": 0.5, "rotary_emb_base": 500},
            {"rope_parameters": None, "rotary_emb_base": 500},
        )
    )
    assert np.array_equal(own, older)
    assert not np.array_equal(own, other)


def test_angles_of_long_texts() -> None:
    """Factors of longer texts than the first training's do not count; how much longer they are does."""
    variant = "phi3/long"
    ids = recorded(variant)["outputs"][1]["ids"]

    def logits(**changes: Any) -> np.ndarray:
        made = graph_of(variant, rope_parameters=LONGROPE | changes)
        return Interpreter(made).logits(ids, [0] * len(ids), [])

    own = logits()
    for changes in ({"factor": 164 / 41}, {"long_factor": [7.0, 8.0, 9.0]}):
        assert np.array_equal(logits(**changes), own)
    said = logits(attention_factor=math.sqrt(1 + math.log(4) / math.log(41)))
    assert np.abs(said - own).max() < 1e-6 * np.abs(own).max()
    for changes in ({"factor": 1.0}, {"factor": 3.0}, {"attention_factor": 1.0}):
        assert np.abs(logits(**changes) - own).max() > 1e-3 * np.abs(own).max()


def test_a_target_that_begins_with_the_text() -> None:
    """What a step computes does not change when more is written, and the largest logit is what is written."""
    made = decoder_only()
    check_graph(made)
    interpreter = Interpreter(made)
    ids = [30, 1, 1, 9, 14]
    written = interpreter.generate(ids, [0] * 5)
    assert 1 <= len(written) <= MAX_TARGET
    assert 3 not in written[:-1]
    logits = interpreter.logits(ids, [0] * 5, written[:-1])
    assert logits.argmax(axis=1).tolist() == written
    before = interpreter.logits([*ids, *written[:2]], [0] * 7, written[2:-1])
    assert np.abs(logits[2:] - before).max() < 1e-12 * np.abs(logits).max()
    assert interpreter.generate(ids, [0] * 5, 2) == written[:2]
    forced = Interpreter(replace(made, target=replace(made.target, forced_end=True)))
    assert forced.generate(ids, [0] * 5, 2) == [written[0], 3]


def test_a_token_that_is_never_written() -> None:
    """As `bad_words_ids` says it: the next best is written."""
    plain, ids = graph_of("marian/opus"), recorded("marian/opus")["outputs"][0]["ids"]
    first = Interpreter(plain).generate(ids, [0] * len(ids))[0]
    logits = Interpreter(plain).logits(ids, [0] * len(ids), [])[0]
    without = Interpreter(graph_of("marian/opus", bad_words_ids=[[first]])).generate(ids, [0] * len(ids))
    assert without[0] == np.argsort(-logits)[1] != first
    assert first not in without


def _layer(change: Callable[[g.Op], g.Op]) -> Callable[[g.Graph], g.Graph]:
    """The ops of the repeated layers changed."""

    def changed(made: g.Graph) -> g.Graph:
        nodes = (replace(n, body=tuple(map(change, n.body))) if isinstance(n, g.Layers) else n for n in made.repeat)
        return replace(made, repeat=tuple(nodes))

    return changed


def _attention(**changes: Any) -> Callable[[g.Graph], g.Graph]:
    return _layer(lambda op: replace(op, **changes) if isinstance(op, g.Attention) else op)


def _target(**changes: Any) -> Callable[[g.Graph], g.Graph]:
    return lambda made: replace(made, target=replace(made.target, **changes))


def _segments(made: g.Graph) -> g.Graph:
    embed = made.repeat[0]
    assert isinstance(embed, g.Embed)
    terms = (replace(embed.terms[0], by="segments"), *embed.terms[1:])
    return replace(made, repeat=(replace(embed, terms=terms), *made.repeat[1:]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_attention(mask="none"), "a row per step, with mask none"),
        (_attention(mask="window", window=3), "with mask window"),
        (_attention(mask="past"), "mask past with window None"),
        (_segments, "has no segments"),
        (_target(begin=(1,)), "the text is read nowhere"),
        (_target(ends=(VOCABULARY,)), "begins and ends with"),
        (_target(never=(VOCABULARY,)), "begins and ends with"),
        (_target(never=(3,)), "is never written"),
        (_target(ends=(5, 3), never=(3,)), "is never written"),
        (_target(ends=()), "nothing ends"),
        (_target(max_tokens=0), "a target of 0 tokens"),
        (_target(max_tokens=MAX_TARGET + 1), "entries"),
        (_target(vocabulary=VOCABULARY + 1), "entries"),
        (lambda made: replace(made, target=None), "come together"),
        (lambda made: replace(made, repeat=(*made.repeat, g.Pool("mean", "logits", "logits"))), "a row per step"),
    ],
)
def test_a_phase_that_is_not_sound(change: Callable[[g.Graph], g.Graph], message: str) -> None:
    with pytest.raises(EtchError, match=message) as caught:
        check_graph(change(decoder_only()))
    assert caught.value.code == "graph-not-sound"
