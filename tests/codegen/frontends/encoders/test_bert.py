# SPDX-License-Identifier: Apache-2.0
"""The BERT front-end: every tensor taken once, the graph as the model is, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import (
    bert_shapes,
    random_tensors,
    read_raw_safetensors,
    write_json,
    write_raw_safetensors,
    write_safetensors,
    write_tiny_checkpoint,
)

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends.shared.parts import ACTIVATIONS
from codegen.ir import graph as g

Tensors = dict[str, np.ndarray]
TINY = {"hidden": 10, "layers": 2, "intermediate": 37, "labels": 3, "max_positions": 32, "type_vocab": 2}


def configure(**values: Any) -> Callable[[Path], None]:
    """Sets keys of config.json; None removes one."""

    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        config.update(values)
        write_json(folder / "config.json", {key: value for key, value in config.items() if value is not None})

    return change


def tensors(change: Callable[[Tensors], object]) -> Callable[[Path], None]:
    """Writes the weights again, changed."""

    def apply(folder: Path) -> None:
        values = random_tensors(bert_shapes(vocab_size=45, **TINY))
        change(values)
        write_safetensors(folder / "model.safetensors", values)

    return apply


def graph_of(folder: Path, max_tokens: int | None = None) -> g.Graph:
    return pipeline.to_graph(pipeline.load(folder), max_tokens)


REFUSED: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "type": (
        configure(model_type="reformer"),
        "model-type-not-supported",
        "model type 'reformer' is not supported; nearest: ",
    ),
    **{
        f"type, {name}": (configure(model_type=name, **keys), "model-type-not-supported", f"it asks for {words}")
        for name, keys, words in (
            ("gemma3n", {"final_logit_softcapping": 30.0}, "logits that a tanh bounds"),
            ("blip", {"vision_config": {"hidden_size": 8}}, "images"),
        )
    },
    "type, near to none": (
        configure(model_type="dinov2"),
        "model-type-not-supported",
        "'dinov2' is not supported; needed: a front-end",
    ),
    "architecture": (
        configure(architectures=["BertLMHeadModel"]),
        "architecture-not-supported",
        "BertLMHeadModel",
    ),
    "decoder": (configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "cross": (configure(add_cross_attention=True), "decoder-not-supported", "add_cross_attention"),
    "positions": (configure(position_embedding_type="relative_key"), "position-embedding-not-supported", "absolute"),
    "activation": (configure(hidden_act="mish"), "activation-not-supported", "'mish'"),
    "epsilon 0": (configure(layer_norm_eps=0), "epsilon-out-of-range", "1e-12"),
    "epsilon tiny": (configure(layer_norm_eps=9e-13), "epsilon-out-of-range", "9e-13"),
    "epsilon large": (configure(layer_norm_eps=2.0), "epsilon-out-of-range", "2"),
    "heads": (configure(num_attention_heads=3), "heads-do-not-divide", "10"),
    "layers": (configure(num_hidden_layers=900), "missing-tensor", "900"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_configuration(case: str, tmp_path: Path) -> None:
    change, code, words = REFUSED[case]
    write_tiny_checkpoint(tmp_path, layers=2)
    graph_of(tmp_path)
    change(tmp_path)
    with pytest.raises(EtchError) as caught:
        graph_of(tmp_path)
    error = caught.value
    assert (error.code, error.stage, error.file) == (code, "front-end", "config.json")
    assert words in str(error)


EXTRA = "bert.encoder.layer.2.output.dense.weight"
QUERY = "bert.encoder.layer.1.attention.self.query.weight"
WRONG_TENSORS: dict[str, tuple[Callable[[Tensors], object], str]] = {
    "missing": (lambda t: t.pop(QUERY), QUERY),
    "missing bias": (lambda t: t.pop("classifier.bias"), "classifier.bias"),
    "extra": (lambda t: t.update({EXTRA: np.ones((10, 37), np.float32)}), EXTRA),
    "transposed": (lambda t: t.update({"bert.pooler.dense.weight": np.ones((10, 11), np.float32)}), "bert.pooler"),
    "flat": (lambda t: t.update({QUERY: t[QUERY].reshape(-1)}), QUERY),
    "another width": (lambda t: t.update({"classifier.weight": np.ones((4, 10), np.float32)}), "classifier.weight"),
}


@pytest.mark.parametrize("case", WRONG_TENSORS)
def test_refused_tensors(case: str, tmp_path: Path) -> None:
    change, name = WRONG_TENSORS[case]
    write_tiny_checkpoint(tmp_path, layers=2)
    tensors(change)(tmp_path)
    with pytest.raises(EtchError) as caught:
        graph_of(tmp_path)
    assert caught.value.file == "model.safetensors"
    assert name in str(caught.value)


@pytest.mark.parametrize("tokens", [1, 2, 33, 1 << 20])
def test_refused_lengths(tokens: int, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    with pytest.raises(EtchError) as caught:
        graph_of(tmp_path, tokens)
    assert (caught.value.code, caught.value.stage) == ("max-tokens-out-of-range", "front-end")
    assert "3 to 32" in str(caught.value)


@pytest.mark.parametrize("tokens", [3, 17, 32])
def test_accepted_lengths(tokens: int, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    assert graph_of(tmp_path, tokens).max_tokens == tokens


def test_every_tensor_is_used_once_with_its_values(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, layers=2)
    expected = random_tensors(bert_shapes(vocab_size=45, **TINY))
    used = [array for parameter in g.parameters_of(graph_of(tmp_path)) for array in parameter.arrays]
    assert sorted(array.name for array in used) == sorted(expected)
    for array in used:
        assert array.values.dtype == np.float32
        assert np.array_equal(array.values, expected[array.name])


def test_order_of_layers(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, layers=12)
    layers = next(node for node in graph_of(tmp_path).body if isinstance(node, g.Layers))
    assert layers.count == 12
    for parameter in g.parameters_of(graph_of(tmp_path)):
        if len(parameter.arrays) == 12:
            assert [array.name.split(".")[3] for array in parameter.arrays] == [str(i) for i in range(12)]


def test_older_names_of_norms(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    header, data = read_raw_safetensors(tmp_path / "model.safetensors")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): entry
        for name, entry in header.items()
    }
    assert old != header
    before = [array.values for parameter in g.parameters_of(graph_of(tmp_path)) for array in parameter.arrays]
    write_raw_safetensors(tmp_path / "model.safetensors", old, data)
    after = [array.values for parameter in g.parameters_of(graph_of(tmp_path)) for array in parameter.arrays]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_f16_is_read_exactly(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, layers=2, dtype="F16")
    expected = random_tensors(bert_shapes(vocab_size=45, **TINY))
    for parameter in g.parameters_of(graph_of(tmp_path)):
        for array in parameter.arrays:
            assert np.array_equal(array.values, expected[array.name].astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden_act=name)
    layers = next(node for node in graph_of(tmp_path).body if isinstance(node, g.Layers))
    used = {node.name: node.activation for node in layers.body if isinstance(node, g.Linear)}
    assert used.pop("intermediate") == ACTIVATIONS[name]
    assert set(used.values()) == {"none"}


def test_defaults_of_absent_keys(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    plain = graph_of(tmp_path)
    keys = ("hidden_act", "layer_norm_eps", "type_vocab_size", "position_embedding_type", "architectures")
    configure(**dict.fromkeys(keys))(tmp_path)
    graph = graph_of(tmp_path)
    assert (graph.widths, graph.segments, graph.task) == (plain.widths, plain.segments, plain.task)


def test_labels(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, labels=2)
    assert graph_of(tmp_path).task.labels == ("label 0", "label 1")
    configure(id2label=None, label2id=None)(tmp_path)
    checkpoint = pipeline.load(tmp_path)
    assert pipeline.to_graph(checkpoint, None).task.labels == ("LABEL_0", "LABEL_1")
    assert any("LABEL_0" in note for note in checkpoint.notes)


def test_only_the_last_linear_stays_exact(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    linears = [node for node in graph_of(tmp_path).body if isinstance(node, g.Linear)]
    assert {node.name: (node.exact, node.activation) for node in linears} == {
        "pooler": (False, "tanh"),
        "classifier": (True, "none"),
    }
