# SPDX-License-Identifier: Apache-2.0
"""Weights to integers and scales, against the sentence in the arithmetic contract, and the programs of the recipes."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import POOLINGS, write_tiny_sentence_model

from codegen import pipeline
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.constants import TINY, reciprocal, rounded, without_tiny
from codegen.quantize.channels import quantize_rows, quantize_rows_s7


def contract_row(row: np.ndarray, most: float) -> tuple[list[int], np.float32]:
    """m = max |w| in float64; q = rne(w * most / m) left to right; scale float32(m / most), 0 below 2^-40."""
    values = [float(w) for w in row]  # Python floats are float64
    m = max(abs(w) for w in values)
    scale = np.float32(m / most)
    if scale < np.float32(2.0**-40):
        return [0] * len(values), np.float32(0)
    return [round(w * most / m) for w in values], scale  # round() is to nearest even


def check(rows: np.ndarray) -> p.S8Matrix:
    """In 7 bits, too; those of 8 are given back."""
    narrow, matrix = quantize_rows_s7(rows.astype(np.float32)), quantize_rows(rows.astype(np.float32))
    assert type(narrow) is p.S7Matrix
    assert type(matrix) is p.S8Matrix
    check_rows(narrow, rows, 63)
    check_rows(matrix, rows, 127)
    return matrix


def check_rows(matrix: p.S8Matrix, rows: np.ndarray, most: int) -> None:
    assert matrix.q.dtype == np.int8
    assert matrix.scales.dtype == np.float32
    assert matrix.q.shape == rows.shape
    for row, q, scale in zip(rows.astype(np.float32), matrix.q, matrix.scales, strict=True):
        expected_q, expected_scale = contract_row(row, float(most))
        assert q.tolist() == expected_q
        assert scale.tobytes() == expected_scale.tobytes()  # 0 is +0
    assert np.abs(matrix.q.astype(int)).max(initial=0) <= most


def test_random_rows() -> None:
    random = np.random.default_rng(1)
    for width in (1, 2, 17, 192):
        check(random.standard_normal((50, width)) * np.exp2(random.integers(-60, 60, (50, 1)).astype(np.float64)))


def test_ties_go_to_even() -> None:
    # With a maximum of 127 the quotient is w itself: n + 0.5 is a tie.
    ties = np.arange(-126.5, 127.0, 1.0)
    q = check(np.array([[*ties, 127.0]])).q[0, :-1]
    assert (q % 2 == 0).all()
    assert q.tolist() == [round(Fraction(w)) for w in ties]


def test_products_come_before_quotients() -> None:
    """w * 127 / m is a tie exactly; with 127 / m first, or in float32, rounding moves many of them off it."""
    k = np.arange(1, 600, 2)[:, None]  # 49 * (1.0 / 49) is not 1
    ties = np.concatenate([k * np.arange(-125, 126, 2), 254 * k], axis=1)
    assert (check(ties.astype(np.float64)).q[:, :-1] % 2 == 0).all()


def test_zero_rows() -> None:
    matrix = check(np.array([[0.0, -0.0, 0.0], [1.0, 2.0, 3.0], [-0.0, -0.0, -0.0]]))
    assert matrix.scales[[0, 2]].tobytes() == bytes(8)
    assert not matrix.q[[0, 2]].any()
    assert matrix.q[1].any()


def test_tiny_rows() -> None:
    edge = 127.0 * TINY  # the least maximum whose scale is kept
    below = float(np.nextafter(np.float32(edge), np.float32(0)))
    smallest = float(np.finfo(np.float32).smallest_subnormal)
    matrix = check(np.array([[edge, edge / 2], [below, -below], [smallest, 0.0], [2 * edge, 1e-30]]))
    assert matrix.scales.astype(bool).tolist() == [True, False, False, True]
    assert matrix.q[0].tolist() == [127, 64]
    assert matrix.q[3].tolist() == [127, 0]


def test_all_equal_and_extremes() -> None:
    matrix = check(np.array([[0.3] * 5, [-0.3] * 5, [7e-5, -7e-5, 7e-5, -7e-5, 0.0], [3e38, -3e38, 1.0, 0.0, 1e38]]))
    assert matrix.q[0].tolist() == [127] * 5
    assert matrix.q[1].tolist() == [-127] * 5
    assert matrix.q[2].tolist() == [127, -127, 127, -127, 0]
    assert matrix.q[3].tolist() == [127, -127, 0, 0, 42]


def test_more_rows_than_are_converted_at_once() -> None:
    random = np.random.default_rng(2)
    rows = random.standard_normal((4096 * 2 + 3, 3)).astype(np.float32)
    rows[[4095, 4096, 8191, 8192]] = 0
    check(rows)


def test_without_tiny() -> None:
    tiny = np.float32(TINY)
    below = np.nextafter(tiny, np.float32(0))
    subnormal = np.finfo(np.float32).smallest_subnormal
    values = np.array([0.0, -0.0, tiny, -tiny, below, -below, subnormal, -subnormal, 1.0, -3e38], np.float32)
    cleaned = without_tiny(values)
    assert cleaned.dtype == np.float32
    assert cleaned.tolist() == [0, 0, tiny, -tiny, 0, 0, 0, 0, 1.0, np.float32(-3e38)]
    assert not np.signbit(cleaned[cleaned == 0]).any()  # +0 only


def test_constants_are_rounded_once() -> None:
    for n in (1, 3, 10, 192, 768, 3072):
        exact = Fraction(1, n)
        near = [np.nextafter(reciprocal(n), np.float32(side)) for side in (-1, 2)]
        assert all(abs(Fraction(float(reciprocal(n))) - exact) <= abs(Fraction(float(x)) - exact) for x in near)
    assert rounded(1 / 127).dtype == np.float32


def lowered(folder: Path, recipe: str, **shape: object) -> p.Program:
    write_tiny_checkpoint(folder, **shape)  # type: ignore[arg-type]
    return pipeline.lower(pipeline.load(folder), recipe, None)


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
def test_tables_of_a_program(recipe: str, tmp_path: Path) -> None:
    program = lowered(tmp_path, recipe, hidden=36, heads=3, layers=2)
    ops = walks.ops_of(program)
    linears = {op.weights.name: op for op in ops if isinstance(op, p.Linear)}
    assert set(linears) == {
        *("query", "key", "value", "attention_output", "intermediate", "output", "pooler", "classifier")
    }
    for name, op in linears.items():
        s8 = recipe == "w8a8" and name != "classifier"  # the last linear of a head stays f32
        assert op.kind == ("s8" if s8 else "f32")
        assert len(op.weights.stored) == (1 if name in ("pooler", "classifier") else 2)
        for weights in op.weights.stored:
            assert isinstance(weights, p.LinearWeights)
            assert isinstance(weights.matrix, p.S8Matrix if s8 else p.F32Matrix)
            assert weights.bias is not None
    (attention,) = [op for op in ops if isinstance(op, p.Attention)]
    assert attention.shape == p.HeadShape(3, 3, 12)
    assert attention.score_scale == np.float32(math.log2(math.e) / math.sqrt(12))


def test_quantized_weights_are_those_of_the_checkpoint(tmp_path: Path) -> None:
    program = lowered(tmp_path, "w8a8", layers=2)
    tensors = pipeline.load(tmp_path).tensors
    for op in walks.ops_of(program):
        if isinstance(op, p.Linear):
            for layer, weights in enumerate(op.weights.stored):
                assert isinstance(weights, p.LinearWeights)
                assert f".{layer}." in weights.source or len(op.weights.stored) == 1
                if isinstance(weights.matrix, p.S8Matrix):
                    shape = weights.matrix.q.shape
                    check(tensors.take(weights.source, shape).values)
                    again = quantize_rows(tensors_again(tmp_path, weights.source, shape))
                    assert np.array_equal(again.q, weights.matrix.q)


def tensors_again(folder: Path, name: str, shape: tuple[int, ...]) -> np.ndarray:
    return pipeline.load(folder).tensors.take(name, shape).values


def test_a_row_is_quantized_once_while_it_does_not_change(tmp_path: Path) -> None:
    program = lowered(tmp_path, "w8a8")
    loop = next(step for step in program.steps if isinstance(step, p.Loop))
    first, second = loop.body
    assert [type(op).__name__ for op in first.body] == ["Quantize", "Linear", "PackKeys", "Linear", "PackValues"]
    assert [type(op).__name__ for op in second.body] == [
        *("Quantize", "Linear", "Attention", "Quantize", "Linear", "Norm"),
        *("Quantize", "Linear", "Quantize", "Linear", "Norm"),
    ]
    assert not first.last_layer_first_row
    assert second.last_layer_first_row


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_tail_of_an_embedding(pooling: str, normalize: bool, recipe: str, tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path, pooling=pooling, normalize=normalize)
    program = pipeline.lower(pipeline.load(tmp_path), recipe, None)
    (loop,) = [step for step in program.steps if isinstance(step, p.Loop)]
    assert loop.body[1].last_layer_first_row == (pooling == "cls")
    embedding = p.Buffer("embedding", "f32", "one", 10)
    kind = "first" if pooling == "cls" else pooling
    tail = [p.Pool(kind, p.Buffer("hidden", "f32", "tokens", 10), embedding), p.Normalize(embedding)]
    assert program.steps[3:] == (p.Repeat("texts", tuple(tail if normalize else tail[:1])),)
    assert program.output == embedding


def test_the_first_row_of_a_classifier_is_used_where_it_lies(tmp_path: Path) -> None:
    program = lowered(tmp_path, "fp32")
    assert not [op for op in walks.ops_of(program) if isinstance(op, p.Pool)]
    (pooler,) = [op for op in walks.ops_of(program) if isinstance(op, p.Linear) and op.weights.name == "pooler"]
    assert pooler.input == p.Buffer("hidden", "f32", "tokens", 10)
