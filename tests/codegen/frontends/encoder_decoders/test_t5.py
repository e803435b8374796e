# SPDX-License-Identifier: Apache-2.0
"""T5 as a family: what its folders may say, which distances share a bias, and what is refused."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_changes import drop
from test_decoders import folder, graph_of
from test_generation import graph_of as recorded_graph
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen.errors import EtchError
from codegen.frontends.shared.distance_bias import bucket_of
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.report import parameter_count

WORDS, LOGITS = "shared.weight", "lm_head.weight"
# T5Attention._relative_position_bucket of transformers 5.23.0, of keys before the query, 32 buckets up to 128: the
# first distances of the buckets behind 16.
FARTHER = (19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113)
IDS = [5, 9, 3, 1]


def store(made: Path, change: dict[str, str | None], difference: int = 0) -> None:
    """Stores tensors under another name as well, or under none; `difference` changes the first byte."""
    for source, name in change.items():
        if name is None:
            drop(source)(made)
            continue
        header, data = read_raw_safetensors(made / "model.safetensors")
        begin, end = header[source]["data_offsets"]
        copy = bytes((data[begin] ^ difference,)) + data[begin + 1 : end]
        header[name] = header[source] | {"data_offsets": [len(data), len(data) + len(copy)]}
        write_raw_safetensors(made / "model.safetensors", header, data + copy)


def logits(made: Path) -> np.ndarray:
    return Interpreter(graph_of(made)).logits(IDS, [0] * len(IDS), [7])


def test_what_a_folder_says(tmp_path: Path) -> None:
    made = folder(tmp_path / "model", "t5")
    graph = graph_of(made)
    assert graph.target_rules is not None
    assert (graph.task.name, graph.task.verb, graph.max_tokens) == ("translation", "translate", 20)
    rules = graph.target_rules
    assert (rules.begin, rules.ends, rules.forced_end, rules.max_tokens) == ((0,), (1,), False, 17)
    assert graph.notes == ()
    stored, _ = read_raw_safetensors(made / "model.safetensors")
    learned = {name: prod(entry["shape"]) for name, entry in stored.items() if name != "__metadata__"}
    biases = [name for name in learned if "relative_attention_bias" in name]
    made_of_them = 5 * (2 * 20 - 1 + 2 * 17 - 1)  # heads, and distances of the text and of the target
    assert len(biases) == 2
    assert parameter_count(graph) == sum(learned.values()) - sum(learned[name] for name in biases) + made_of_them


def test_there_are_no_positions(tmp_path: Path) -> None:
    """The lengths of a folder are a default, of which a user may want more."""
    silent = folder(tmp_path / "silent", "t5", generation={"max_new_tokens": None})
    config = silent / "tokenizer_config.json"
    values = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps({**values, "model_max_length": 10**30}), encoding="utf-8")
    said = folder(tmp_path / "said", "t5", generation={"max_new_tokens": None}, n_positions=19)
    for path, asked, expected in (
        (silent, (None, None), (512, 512)),
        (silent, (700, 600), (700, 600)),
        (said, (None, None), (19, 19)),
        (said, (20, 40), (20, 40)),
    ):
        graph = graph_of(path, *asked)
        assert graph.target_rules is not None
        assert (graph.max_tokens, graph.target_rules.max_tokens) == expected


def test_buckets() -> None:
    expected = 0
    for far in range(600):
        expected = far if far <= 16 else expected + (far in FARTHER)
        assert bucket_of(-far, 32, 128, both_sides=False) == expected
        assert bucket_of(far, 32, 128, both_sides=False) == 0


def test_words_that_lie_twice(tmp_path: Path) -> None:
    """Older files have the words by all their names, and a bias that nothing reads."""
    made = folder(tmp_path / "model", "t5")
    before = logits(made)
    bias = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    store(made, {bias: "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}, difference=1)
    store(made, {WORDS: "encoder.embed_tokens.weight"})
    assert np.array_equal(logits(made), before)
    store(made, {WORDS: "decoder.embed_tokens.weight"}, difference=1)
    with pytest.raises(EtchError, match=r"decoder\.embed_tokens\.weight is not shared\.weight"):
        graph_of(made)


def test_words_by_the_name_of_tied_logits(tmp_path: Path) -> None:
    """The library ties the words to what predicts them, where these alone are there."""
    made = folder(tmp_path / "model", "t5", tie_word_embeddings=True, scale_decoder_outputs=False)
    store(made, {LOGITS: None})
    before = logits(made)
    store(made, {WORDS: LOGITS})
    store(made, {WORDS: None})
    assert np.array_equal(logits(made), before)


def test_tied_and_scaled(tmp_path: Path) -> None:
    """What the library's files say of version 1.1, and of words that are tied and not scaled, as it trains them."""
    own = folder(tmp_path / "own", "t5")
    assert json.loads((own / "config.json").read_text(encoding="utf-8"))["scale_decoder_outputs"] is False
    old = folder(tmp_path / "old", "t5", tie_word_embeddings=False, scale_decoder_outputs=None)
    assert np.array_equal(logits(own), logits(old))
    store(own, {LOGITS: None})
    tied = logits(own)
    store(own, {WORDS: LOGITS})
    assert np.abs(logits(own) - tied).max() < 1e-12
    scaled = folder(tmp_path / "scaled", "t5", scale_decoder_outputs=None)
    store(scaled, {LOGITS: None})
    assert np.abs(logits(scaled) - tied / np.sqrt(20)).max() < 1e-12


def test_tied_and_untied_at_once(tmp_path: Path) -> None:
    both = folder(tmp_path / "both", "t5", scale_decoder_outputs=None)
    neither = folder(tmp_path / "neither", "t5", tie_word_embeddings=False)
    store(neither, {LOGITS: None})
    for made, code in ((both, "tied-tensors-differ"), (neither, "missing-tensor")):
        with pytest.raises(EtchError, match=r"lm_head\.weight") as caught:
            graph_of(made)
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"tie_word_embeddings": False, "scale_decoder_outputs": True}, "config-value"),
        ({"vocab_size": 39}, "token-id-out-of-range"),
        ({"vocab_size": 55}, "wrong-shape"),
        ({"d_kv": 5}, "wrong-shape"),
        ({"d_kv": 65_536}, "config-out-of-range"),
        ({"num_heads": 4}, "wrong-shape"),
        ({"num_attention_heads": 4}, "config-value"),
        ({"num_layers": 2, "num_decoder_layers": 1}, "missing-tensor"),
        ({"num_decoder_layers": 2}, "missing-tensor"),
        ({"relative_attention_num_buckets": 12}, "wrong-shape"),
        ({"relative_attention_num_buckets": 3}, "buckets-out-of-range"),
        ({"relative_attention_max_distance": 5}, "buckets-out-of-range"),
        ({"feed_forward_proj": "gated-sine", "dense_act_fn": None}, "activation-not-supported"),
        ({"feed_forward_proj": "silu", "is_gated_act": None}, "missing-tensor"),
        ({"feed_forward_proj": "silu"}, "config-value"),
        ({"dense_act_fn": "relu"}, "config-value"),
        ({"layer_norm_epsilon": 0}, "epsilon-out-of-range"),
        ({"generation": {"decoder_start_token_id": None}}, "config-missing"),
        ({"generation": {"decoder_start_token_id": 47}}, "token-id-out-of-range"),
        ({"generation": {"eos_token_id": -1}}, "token-id-out-of-range"),
        ({"generation": {"pad_token_id": 47}}, "token-id-out-of-range"),
        ({"generation": {"num_beams": 0}}, "generation-value"),
        ({"generation": {"num_beams": 9}}, "generation-not-supported"),
        ({"generation": {"encoder_no_repeat_ngram_size": 3}}, "generation-not-supported"),
        ({"generation": {"min_new_tokens": 18}}, "generation-value"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", "t5", **changes))
    assert caught.value.code == code


def test_no_padding(tmp_path: Path) -> None:
    """Which the library's own class refuses to train."""
    made = folder(tmp_path / "model", "t5")
    config = made / "config.json"
    values = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps({**values, "pad_token_id": None}), encoding="utf-8")
    with pytest.raises(EtchError, match="pad_token_id") as caught:
        graph_of(made)
    assert caught.value.code == "config-missing"


def test_each_layer_of_umt5_has_a_bias() -> None:
    """mT5's layers have that of the first one."""
    found = {}
    for variant in ("umt5/own", "mt5/texts"):
        ops = [op for op, _ in g.ops_of(recorded_graph(variant)) if isinstance(op, g.Attention) and op.bias is not None]
        found[variant] = [(len(op.bias.arrays), op.bias.common) for op in ops]
    assert found == {"umt5/own": [(3, False), (2, False)], "mt5/texts": [(1, True), (1, True)]}
