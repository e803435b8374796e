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
from sampling import sampled
from tiny_generators import MAX_TARGET, decoder_only

from codegen.errors import EtchError
from codegen.frontends import family_of
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
    *(
        "arcee",
        "bamba",
        "bloom",
        "codegen",
        "cohere",
        "ernie4_5",
        "exaone4",
        "falcon",
        "glm",
        "helium",
        "hunyuan",
        "ministral",
    ),
    *(
        "apertus",
        "biogpt",
        "bitnet",
        "cwm",
        "hyperclovax",
        "internlm3",
        "iquestcoder",
        "jais2",
        "mamba2",
        "nanochat",
        "seed_oss",
    ),
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
        "openai-gpt",
        "opt",
        "persimmon",
        "phi",
        "qwen",
    ),
    *(
        "idefics3",
        "lfm2",
        "lfm3",
        "llava",
        "minicpm3",
        "mixtral",
        "modernbert-decoder",
        "mpt",
        "nemotron",
        "smollm3",
        "smolvlm",
        "stablelm",
        "starcoder2",
        "vaultgemma",
        "xglm",
        "youtu",
    ),
)
LONGROPE, QUERIES_YARN = (
    json.loads((HERE / of / "config.json").read_text(encoding="utf-8"))["rope_parameters"]
    for of in ("phi3/long", "ministral3/own")
)
SEARCHED = [variant for variant in VARIANTS if (HERE / variant / "beams.json").exists()]


def recorded(variant: str, root: Path = HERE) -> dict[str, Any]:
    return json.loads((root / variant / "recorded.json").read_text(encoding="utf-8"))


def graph_of(variant: str, without: tuple[str, ...] = (), **changes: Any) -> g.Graph:
    """Of a recorded folder, with keys of its configuration changed."""
    folder = CheckpointFolder(HERE / variant)
    said = folder.read_json("config.json") | changes
    config = Config.from_json({key: value for key, value in said.items() if key not in without})
    family = family_of(variant.partition("/")[0])
    limits = 24, recorded(variant)["max_target"]
    return family.graph_of(config, open_weights(folder)[0], *limits, settings_of(variant, config))


def settings_of(variant: str, config: Config) -> GenerationSettings:
    has_encoder = not variant.startswith(WITHOUT_ENCODER)
    vocabulary = family_of(variant.partition("/")[0]).read_limits(config).target_vocabulary
    return read_generation(CheckpointFolder(HERE / variant), config, vocabulary, has_encoder=has_encoder)


@pytest.mark.parametrize("variant", sampled(VARIANTS, 50, "graphs that write"))
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


@pytest.mark.parametrize("variant", sampled(SEARCHED, 50, "graphs that search"))
def test_beams_find_what_the_library_found(variant: str) -> None:
    made = graph_of(variant)
    own = settings_of(variant, Config.from_json(CheckpointFolder(HERE / variant).read_json("config.json")))
    searches = json.loads((HERE / variant / "beams.json").read_text(encoding="utf-8"))
    assert {beams for _, beams, *_ in searches} >= {2, 8}
    for ids, beams, penalty, early, written, score in searches:
        assert (beams is None) <= (own.max_tokens is not None)
        settings = own.search if beams is None else Search(beams, penalty, early, own.search.renormalize)
        most = made.target_rules.max_tokens if beams is not None or own.max_tokens is None else own.max_tokens
        interpreter = Interpreter(replace(made, target_rules=replace(made.target_rules, max_tokens=most)))
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
        assert made.target_rules is not None
        if beams == 1:
            assert interpreter.generate(ids, segments) == written, options
        else:
            search = Search(beams, renormalize=made.target_rules.search.renormalize)
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
    older = {"rope_type": "su"}, {"rope_type": "yarn"}  # what first files call them
    for changes in ({"factor": 164 / 41}, {"long_factor": [7.0, 8.0, 9.0]}, *older):
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
    forced = Interpreter(replace(made, target_rules=replace(made.target_rules, forced_end=True)))
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
    return lambda made: replace(made, target_rules=replace(made.target_rules, **changes))


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
        (lambda made: replace(made, target_rules=None), "come together"),
        (lambda made: replace(made, repeat=(*made.repeat, g.Pool("mean", "logits", "logits"))), "a row per step"),
    ],
)
def test_a_phase_that_is_not_sound(change: Callable[[g.Graph], g.Graph], message: str) -> None:
    with pytest.raises(EtchError, match=message) as caught:
        check_graph(change(decoder_only()))
    assert caught.value.code == "graph-not-sound"
