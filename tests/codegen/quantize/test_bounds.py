# SPDX-License-Identifier: Apache-2.0
"""Weights that could drive an activation past 2^50 are refused, by the tensor's name; others never are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lower.graph_builder import Made
from recorded.outputs import folder
from recorded_changes import Change, changed
from tiny_checkpoint import (
    bert_shapes,
    random_tensors,
    read_raw_safetensors,
    write_raw_safetensors,
    write_safetensors,
    write_tiny_checkpoint,
)
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.quantize.bounds import LIMIT, check_bounds

Tensors = dict[str, np.ndarray]
LAYER = "bert.encoder.layer.1."


def spoil(folder: Path, change: Callable[[Tensors], object]) -> None:
    write_tiny_checkpoint(folder, layers=2)
    shapes = bert_shapes(hidden=10, layers=2, intermediate=37, labels=3, max_positions=32, type_vocab=2, vocab_size=45)
    tensors = random_tensors(shapes)
    change(tensors)
    write_safetensors(folder / "model.safetensors", tensors)


def scale(name: str, factor: float) -> Callable[[Tensors], None]:
    def change(tensors: Tensors) -> None:
        tensors[name] = (tensors[name] * factor).astype(np.float32)

    return change


REFUSED = {
    "word embedding": ("bert.embeddings.word_embeddings.weight", "bert.embeddings.word_embeddings.weight"),
    "position embedding": ("bert.embeddings.position_embeddings.weight", "bert.embeddings.word_embeddings.weight"),
    "norm weight": (LAYER + "output.LayerNorm.weight", LAYER + "output.LayerNorm.weight"),
    "norm bias": (LAYER + "output.LayerNorm.bias", LAYER + "output.LayerNorm.weight"),
    "query": (LAYER + "attention.self.query.weight", LAYER + "attention.self.query.weight"),
    "query bias": (LAYER + "attention.self.query.bias", LAYER + "attention.self.query.weight"),
    "intermediate": (LAYER + "intermediate.dense.weight", LAYER + "intermediate.dense.weight"),
    "classifier": ("classifier.weight", "classifier.weight"),
}


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, recipe: str, tmp_path: Path) -> None:
    changed, named = REFUSED[case]
    spoil(tmp_path, scale(changed, 1e20))
    with pytest.raises(EtchError) as caught:
        pipeline.lower(pipeline.load(tmp_path), recipe, None)
    error = caught.value
    assert (error.code, error.stage, error.file, error.tensor) == (
        *("activation-bound", "quantize"),
        *("model.safetensors", named),
    )
    assert "2^50" in str(error)


def test_the_bound_is_at_2_to_the_50(tmp_path: Path) -> None:
    """Tables of one value each: the sum of the three maxima is known exactly."""

    def embeddings(value: float) -> Callable[[Tensors], None]:
        def change(tensors: Tensors) -> None:
            for name in tensors:
                if name.startswith("bert.embeddings.") and "LayerNorm" not in name:
                    tensors[name] = np.full_like(tensors[name], value if "word" in name else 0)

        return change

    spoil(tmp_path / "at", embeddings(LIMIT))
    pipeline.lower(pipeline.load(tmp_path / "at"), "w8a8", None)
    spoil(tmp_path / "above", embeddings(LIMIT * (1 + 2.0**-20)))
    with pytest.raises(EtchError):
        pipeline.lower(pipeline.load(tmp_path / "above"), "w8a8", None)


def test_products_of_layers_are_seen(tmp_path: Path) -> None:
    """No single weight is large: 1e9 into 1e9."""

    def change(tensors: Tensors) -> None:
        for part in ("attention.self.value", "attention.output.dense"):
            tensors[f"{LAYER}{part}.weight"] *= np.float32(1e9)

    spoil(tmp_path, change)
    with pytest.raises(EtchError) as caught:
        pipeline.lower(pipeline.load(tmp_path), "w8a8", None)
    assert caught.value.tensor == LAYER + "attention.output.dense.weight"


def test_large_but_harmless_weights_pass(tmp_path: Path) -> None:
    spoil(tmp_path, scale(LAYER + "intermediate.dense.weight", 1e6))
    pipeline.lower(pipeline.load(tmp_path), "w8a8", None)


@pytest.mark.parametrize(("pooling", "passes"), [("cls", True), ("mean", True), ("max", True), ("mean_sqrt", False)])
def test_a_sum_over_the_root_of_its_length_grows_with_it(pooling: str, passes: bool, tmp_path: Path) -> None:
    """The last norm reaches half of the limit, and sqrt(32) times as much is past it."""
    shapes = bert_shapes(hidden=10, layers=1, intermediate=37, labels=3, max_positions=32, type_vocab=2, vocab_size=45)
    tensors = random_tensors({name: shape for name, shape in shapes.items() if not name.startswith("classifier")})
    tensors["bert.encoder.layer.0.output.LayerNorm.bias"] = np.full(10, LIMIT / 2, np.float32)
    write_tiny_sentence_model(tmp_path, pooling=pooling)
    write_safetensors(tmp_path / "model.safetensors", tensors)
    checkpoint = pipeline.load(tmp_path)
    if passes:
        pipeline.lower(checkpoint, "fp32", None)
        return
    with pytest.raises(EtchError) as caught:
        pipeline.lower(checkpoint, "fp32", None)
    assert (caught.value.code, caught.value.tensor) == ("activation-bound", None)
    assert "'embedding'" in str(caught.value)


@pytest.mark.parametrize(("factor", "passes"), [(1.0, True), (1.01, False)])
def test_a_sum_is_bounded_by_that_of_its_terms(factor: float, passes: bool) -> None:
    def embed(name: str, value: float) -> g.Embed:
        table = g.Parameter(name, (Made(name, np.full((3, 4), value, np.float32)),))
        return g.Embed((g.Term(table, "ids"),), name)

    body = (embed("a", 0.75 * LIMIT), embed("b", factor * -0.25 * LIMIT), g.Add("a", "b", "a"))
    graph = g.Graph({"a": 4, "b": 4}, body, (), 3, 1, 8)
    if passes:
        check_bounds(graph)
        return
    with pytest.raises(EtchError, match="'a' could reach") as caught:
        check_bounds(graph)
    assert caught.value.code == "activation-bound"


@pytest.mark.parametrize(
    ("numbers", "passes"),
    [
        ([1.0, 1.0, 0.0, 0.0], True),  # of 2^25, the square
        ([1.01, 1.0, 0.0, 0.0], False),
        ([0.5, 2.0**25, 0.0, 2.0**24], False),
        ([0.25, 2.0**24, 0.0, -(2.0**24)], True),
    ],
)
def test_a_trained_activation_is_bounded_on_both_sides_of_0(numbers: list[float], passes: bool) -> None:
    words = g.Parameter("words", (Made("words", np.full((3, 4), 2.0**25, np.float32)),))
    xielu = g.Xielu("xielu", g.Parameter("numbers", (Made("numbers", np.array(numbers, np.float32)),)), "a")
    graph = g.Graph({"a": 4}, (g.Embed((g.Term(words, "ids"),), "a"), xielu), (), 3, 1, 8)
    if passes:
        check_bounds(graph)
        return
    with pytest.raises(EtchError, match="'a' could reach") as caught:
        check_bounds(graph)
    assert (caught.value.code, caught.value.tensor) == ("activation-bound", "numbers")


@pytest.mark.parametrize(("factor", "passes"), [(1.0, True), (1.01, False)])
def test_affine_rows_are_bounded_behind_what_makes_them(factor: float, passes: bool) -> None:
    """What is multiplied and added has to fit, what leaves is within 2^32, however many follow each other."""

    def column(name: str, value: float) -> g.Parameter:
        return g.Parameter(name, (Made(name, np.full(4, value, np.float32)),))

    def norm(name: str, gamma: float) -> g.Norm:
        return g.Norm(name, column(f"{name}_gamma", gamma), column(f"{name}_beta", 0.0), None, "a", "a", "affine")

    words = g.Parameter("words", (Made("words", np.full((3, 4), -1.0, np.float32)),))
    body = (g.Embed((g.Term(words, "ids"),), "a"), *(norm(f"n{i}", 2.0**18) for i in range(5)))
    graph = g.Graph({"a": 4}, (*body, norm("last", factor * LIMIT / g.AFFINE_LIMIT)), (), 3, 1, 8)
    if passes:
        check_bounds(graph)
        return
    with pytest.raises(EtchError, match="'a' could reach") as caught:
        check_bounds(graph)
    assert (caught.value.code, caught.value.tensor) == ("activation-bound", "last_gamma")


@pytest.mark.parametrize(("factor", "passes"), [(0.99, True), (1.01, False)])
def test_a_bias_of_scores_is_bounded_as_a_power_of_2(factor: float, passes: bool) -> None:
    """Times log2(e) it may pass what float32 holds, though the checkpoint's own value is finite."""
    graph = pipeline.to_graph(pipeline.load(folder("mpnet/long")), None)
    largest = factor * LIMIT / math.log2(math.e)

    def with_bias(op: g.Op) -> g.Op:
        if not isinstance(op, g.Attention) or op.bias is None:
            return op
        values = np.full(op.bias.shape, -largest, np.float32)
        return replace(op, bias=replace(op.bias, arrays=(Made("bias", values),)))

    layers = [replace(node, body=tuple(map(with_bias, node.body))) if isinstance(node, g.Layers) else node
              for node in graph.body]  # fmt: skip
    graph = replace(graph, body=tuple(layers))
    if passes:
        check_bounds(graph)
        return
    with pytest.raises(EtchError) as caught:
        check_bounds(graph)
    assert (caught.value.code, caught.value.tensor) == ("activation-bound", "bias")


def large_angles(half: int) -> Change:
    """1e30 in place of the sines (0) or cosines (1) of RoFormer's table of angles, as bfloat16, which holds that."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        entry = header["roformer.encoder.embed_positions.weight"]
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F16"
        table = np.frombuffer(data[begin:end], np.float16).reshape(entry["shape"]).astype(np.float32)
        width = table.shape[1] // 2
        table[:, half * width : (half + 1) * width] = 1e30
        entry["dtype"] = "BF16"
        stored = (table.view(np.uint32) >> 16).astype(np.uint16)
        write_raw_safetensors(path / "model.safetensors", header, data[:begin] + stored.tobytes() + data[end:])

    return change


@pytest.mark.parametrize("half", [0, 1])
def test_angles_of_a_file_are_looked_at(half: int, tmp_path: Path) -> None:
    path = changed("roformer/softmax", large_angles(half), tmp_path)
    with pytest.raises(EtchError, match="'query' could reach") as caught:
        pipeline.lower(pipeline.load(path), "w8a8", None)
    error = caught.value
    assert (error.code, error.stage, error.file) == ("activation-bound", "quantize", "model.safetensors")
    assert error.tensor is not None
    assert error.tensor.startswith("roformer.encoder.embed_positions.weight")


@pytest.mark.parametrize(("cosine", "sine", "growth"), [(0.5, -0.25, 1.0), (-3.0, 4.0, 7.0), (0.6, 0.8, 1.4)])
@pytest.mark.parametrize(("factor", "passes"), [(0.9999, True), (1.0001, False)])
def test_turned_rows_grow_by_their_tables(
    factor: float, passes: bool, cosine: float, sine: float, growth: float
) -> None:
    """By the one of several tables that is meant; values that none turns stay as they are."""

    def table(name: str, value: float) -> g.Parameter:
        return g.Parameter(name, (Made(name, np.full((8, 1), value, np.float32)),), common=True)

    words = g.Parameter("words", (Made("words", np.full((3, 4), factor * LIMIT / 2 / growth, np.float32)),))
    cosines, sines = (table("other", 1e9), table("cosines", cosine)), (table("others", 1e9), table("sines", sine))
    body = (g.Embed((g.Term(words, "ids"),), "a"), g.Rotary(cosines, sines, 1, "a", 1), g.Add("a", "a", "twice"))
    graph = g.Graph({"a": 4, "twice": 4}, body, (), 3, 1, 8)
    if passes:
        check_bounds(graph)
        return
    with pytest.raises(EtchError, match="'twice' could reach"):
        check_bounds(graph)


@pytest.mark.parametrize(("dropped", "passes"), [(None, True), (2, False)])
def test_a_token_that_is_left_over_grows_by_the_length_of_its_text(dropped: int | None, passes: bool) -> None:
    """Of 8 tokens 7 are dropped: the entry of the last one is multiplied by 8."""

    def graph(value: float) -> g.Graph:
        words = g.Parameter("words", (Made("words", np.full((3, 4), value, np.float32)),))
        return g.Graph({"a": 4}, (g.Embed((g.Term(words, "ids", factor=0.5, dropped=dropped),), "a"),), (), 3, 1, 8)

    check_bounds(graph(LIMIT / 4))
    if passes:
        check_bounds(graph(LIMIT / 2))
        return
    with pytest.raises(EtchError, match="'a' could reach") as caught:
        check_bounds(graph(LIMIT / 4 * (1 + 2.0**-20)))
    assert (caught.value.code, caught.value.tensor) == ("activation-bound", "words")
