# SPDX-License-Identifier: Apache-2.0
"""Weights of 4 bits: what the contract says of them, and that the search finds what trying everything finds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.emulate.embedding import entries
from codegen.emulate.floats import quantize_rows as quantize_activations
from codegen.emulate.linear import linear
from codegen.errors import EtchError
from codegen.ir import program as p
from codegen.ir import walks
from codegen.quantize import choose_recipe
from codegen.quantize.groups import in_groups, quantize_groups, search_factors, tree_sum
from codegen.request import Evaluate, Prune


def weights(rows: int, width: int, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    return (random.standard_normal((rows, width)) * np.exp2(random.integers(-9, 3, (rows, 1)))).astype(np.float32)


def error(matrix: p.S4Matrix, values: np.ndarray) -> float:
    expanded = matrix.expanded
    return float(np.square(expanded.q * expanded.scales[:, None].astype(np.float64) - values).sum())


@pytest.mark.parametrize("width", [1, 31, 32, 33, 64, 100, 384])
def test_what_the_contract_says(width: int) -> None:
    values = weights(40, width)
    values[3] = 0
    values[4] = 1e-20
    matrix = quantize_groups(values)
    assert (matrix.q.dtype, matrix.factors.dtype, matrix.scales.dtype) == (np.int8, np.uint8, np.float32)
    assert matrix.q.shape == values.shape
    assert matrix.factors.shape == (40, -(-width // 32))
    assert matrix.q.min() >= -8
    assert matrix.q.max() <= 7
    assert matrix.factors.min() >= 1
    products = matrix.q.astype(int) * np.repeat(matrix.factors.astype(int), 32, axis=1)[:, :width]
    assert np.abs(products).max() <= 127
    assert np.array_equal(matrix.expanded.q, products)
    assert not matrix.q[3:5].any()
    assert not matrix.scales[3:5].any()
    assert (matrix.scales[5:] >= np.float32(2.0**-40)).all()


def test_better_than_rounding_each_group_by_its_largest() -> None:
    values = weights(64, 384)
    groups = in_groups(values.astype(np.float64))
    step = np.abs(groups).max(axis=2, keepdims=True) / 7
    plain = float(np.square(np.rint(groups / step) * step - groups).sum())
    assert error(quantize_groups(values), values) < 0.95 * plain


def test_factors_are_the_best_of_all() -> None:
    groups = in_groups(weights(20, 96).astype(np.float64))
    scales = (np.abs(groups).max(axis=(1, 2)) / 120).astype(np.float32)
    found, factors = search_factors(groups, scales)
    best = np.full(groups.shape[:2], np.inf)
    for factor in range(1, 19):
        by = factor * scales.astype(np.float64)[:, None, None]
        q = np.clip(np.rint(groups / by), max(-8, -(127 // factor)), 7)
        best = np.minimum(best, np.square(groups - q * by).sum(axis=2))
    assert factors.min() >= 1
    assert np.allclose(found, best, rtol=1e-12, atol=0)


def test_importance_counts() -> None:
    groups = in_groups(weights(50, 32).astype(np.float64))
    scales = (np.abs(groups).max(axis=(1, 2)) / 126).astype(np.float32)
    importance = np.ones((1, 32))
    importance[0, :4] = 1e6
    _, factors = search_factors(groups, scales, importance)
    _, plain = search_factors(groups, scales)

    def error_of_important(chosen: np.ndarray) -> float:
        by = (chosen * scales.astype(np.float64)[:, None])[:, :, None]
        q = np.clip(np.rint(groups / by), np.maximum(-8, -np.floor(127 / chosen))[:, :, None], 7)
        return float(np.square(groups - q * by)[..., :4].sum())

    assert error_of_important(factors) < error_of_important(plain)


def test_the_sum_is_a_tree() -> None:
    x = np.random.default_rng(3).standard_normal((4, 8)) * np.exp2(np.arange(8) * 7.0)
    a = x[:, :4] + x[:, 4:]
    b = a[:, :2] + a[:, 2:]
    assert np.array_equal(tree_sum(x), b[:, 0] + b[:, 1])


def test_the_emulator_multiplies_the_expanded_table() -> None:
    matrix = quantize_groups(weights(24, 70))
    x = quantize_activations(weights(9, 70, seed=2))
    bias = weights(1, 24)[0]
    got = linear(x, p.LinearWeights(matrix, bias, "w"), "gelu", None)
    want = linear(x, p.LinearWeights(matrix.expanded, bias, "w"), "gelu", None)
    assert got.tobytes() == want.tobytes()
    index = np.array([3, 0, 23, 3])
    rows = entries(p.EmbeddingWeights(matrix, "e"), index)
    assert rows.tobytes() == entries(p.EmbeddingWeights(matrix.expanded, "e"), index).tobytes()


def test_a_pruned_vocabulary_saves_rows_of_4_bits(tmp_path: Path) -> None:
    """21 bytes a row: 10 values and padding in 16, a factor, a scale; and what the tokenizer saves."""
    write_tiny_checkpoint(tmp_path / "model")
    (tmp_path / "texts").write_text("the cat sat\n" * 9)
    (tmp_path / "rows.csv").write_text("1,the cat sat\n3,on the mat\n")
    lines: list[str] = []
    prune = Prune(tmp_path / "texts", 2)
    calibrate = tmp_path / "texts"
    request = pipeline.Request(
        tmp_path / "model",
        tmp_path / "out",
        recipe="w4a8",
        prune=prune,
        embedding_bits=4,
        calibrate=calibrate,
        evaluate=Evaluate(tmp_path / "rows.csv"),
    )
    pipeline.generate(request, lines.append)
    (saved,) = [line for line in lines if line.startswith("  saved")]
    rows, taken = (int(text) for text in re.findall(r"(\d+) embedding rows (\d+)", saved)[0])
    assert rows > 0
    assert taken == 21 * rows
    assert any(line.startswith("  1 other texts against float64, calibrated") for line in lines)
    evaluated = [line.split()[0] for line in lines if "accuracy" in line]
    assert evaluated == ["evaluation", "nearest", "unpruned"]


def test_recipes(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    checkpoint = pipeline.load(tmp_path)
    for recipe, bits in (("w4a8", 8), ("w4a8", 4), ("w8a8", 4), ("w7a8", 8)):
        program = pipeline.lower(checkpoint, recipe, None, bits)
        linears = {op.weights.name: op for op in walks.ops_of(program) if isinstance(op, p.Linear)}
        kind = {"w4a8": p.S4Matrix, "w7a8": p.S7Matrix, "w8a8": p.S8Matrix}[recipe]
        for name, op in linears.items():
            expected = p.F32Matrix if name == "classifier" else kind
            assert all(type(each.matrix) is expected for each in op.weights.stored)
        (embedding,) = [op for op in walks.ops_of(program) if isinstance(op, p.EmbeddingSum)]
        words, segments, positions = (term.table for term in embedding.terms)
        kind = p.S4Matrix if bits == 4 else p.S8Matrix
        assert type(words.stored[0].matrix) is kind
        assert type(positions.stored[0].matrix) is kind
        assert type(segments.stored[0].matrix) is p.S8Matrix
    with pytest.raises(EtchError) as refused:
        choose_recipe("fp32", 4)
    assert (refused.value.code, refused.value.stage) == ("float-weights", "arguments")
