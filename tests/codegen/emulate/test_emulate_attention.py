# SPDX-License-Identifier: Apache-2.0
"""Attention and linears against loops over single values, written from the contract once more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_emulate_floats import naive_row_sum

from codegen.emulate import attention as attention_module
from codegen.emulate.attention import attention, split_heads
from codegen.emulate.floats import quantize_rows
from codegen.emulate.linear import linear
from codegen.emulate.polynomials import exp2
from codegen.ir.program import Attention, Buffer, F32Matrix, HeadShape, Kind, LinearWeights, S8Matrix

F32 = np.float32
SHAPES = [(1, 1, 1, 1), (1, 3, 2, 5), (15, 15, 1, 16), (3, 16, 3, 4), (2, 17, 2, 12), (1, 40, 1, 33)]


def op_of(kind: Kind, heads: int, width: int) -> Attention:
    row = Buffer("row", "f32", "block", heads * width)
    keys, values = (Buffer(name, name, "tokens", heads * width, heads, kind) for name in ("keys", "values"))
    scale = F32(math.log2(math.e) / math.sqrt(width))
    return Attention(kind, HeadShape(heads, heads, width), scale, row, keys, values, row)


def inputs(
    kind: Kind, queries: int, tokens: int, heads: int, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Attention]:
    random = np.random.default_rng(queries * 100 + tokens)
    query, key, value = (random.standard_normal((n, heads * width)).astype(F32) for n in (queries, tokens, tokens))
    return query * F32(3), key, value, op_of(kind, heads, width)


def naive_quantize(row: np.ndarray) -> tuple[list[int], np.float32]:
    largest = max(abs(value) for value in row)
    if largest < F32(2.0**-40):
        return [0] * len(row), F32(0)
    factor = F32(127) / largest
    return [int(np.rint(value * factor)) for value in row], largest * F32(1 / 127)


def naive_exponentials(scores: list[np.float32]) -> np.ndarray:
    return exp2(np.array([score - max(scores) for score in scores], F32))


def naive_s8(query: np.ndarray, key: np.ndarray, value: np.ndarray, c: np.float32) -> np.ndarray:
    q, q_scale = naive_quantize(query)
    keys, values = [naive_quantize(row) for row in key], [naive_quantize(row) for row in value]
    scores = [F32(sum(a * b for a, b in zip(q, k, strict=True))) * (q_scale * c) * scale for k, scale in keys]
    e = naive_exponentials(scores)
    w = [e_j * scale for e_j, (_, scale) in zip(e, values, strict=True)]
    largest = max(w)
    tiny = largest < F32(2.0**-40)
    p = [0 if tiny else int(np.rint(w_j * (F32(127) / largest))) for w_j in w]
    assert all(0 <= p_j <= 127 for p_j in p)
    sums = [F32(sum(p_j * v[i] for p_j, (v, _) in zip(p, values, strict=True))) for i in range(len(query))]
    return np.array([s * ((largest * F32(1 / 127)) / naive_row_sum(e)) for s in sums], F32)


def naive_f32(query: np.ndarray, key: np.ndarray, value: np.ndarray, c: np.float32) -> np.ndarray:
    scores = []
    for row in key:
        dot = F32(0)
        for a, b in zip(query, row, strict=True):
            dot = dot + a * b
        scores.append(dot * c)
    e = naive_exponentials(scores)
    out = [F32(0)] * len(query)
    for e_j, row in zip(e, value, strict=True):
        out = [o + e_j * v for o, v in zip(out, row, strict=True)]
    return np.array([o * (F32(1) / naive_row_sum(e)) for o in out], F32)


@pytest.mark.parametrize("kind", ["s8", "f32"])
@pytest.mark.parametrize("sizes", SHAPES)
def test_attention(kind: Kind, sizes: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_module, "_SCORES_AT_ONCE", 32)  # several pieces of query rows
    query, key, value, op = inputs(kind, *sizes)
    heads, width = op.shape.heads, op.shape.width
    keys, values = split_heads(key, heads), split_heads(value, heads)
    if kind == "s8":
        result = attention(op, query, quantize_rows(keys), quantize_rows(values), None)
    else:
        result = attention(op, query, keys, values, None)
    naive = naive_s8 if kind == "s8" else naive_f32
    for row in range(len(query)):
        for head in range(heads):
            columns = slice(head * width, (head + 1) * width)
            expected = naive(query[row, columns], key[:, columns], value[:, columns], op.score_scale)
            assert result[row, columns].tobytes() == expected.tobytes()


def test_attention_over_zero_values_is_zero() -> None:
    query, key, value, op = inputs("s8", 2, 5, 1, 8)
    keys, values = quantize_rows(split_heads(key, 1)), quantize_rows(split_heads(value * F32(0), 1))
    assert (attention(op, query, keys, values, None) == 0).all()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("residual", [True, False])
def test_linear_s8(bias: bool, residual: bool) -> None:
    random = np.random.default_rng(5)
    x, other = random.standard_normal((3, 37)).astype(F32), random.standard_normal((3, 11)).astype(F32)
    q = random.integers(-127, 128, (11, 37)).astype(np.int8)
    scales, b = random.uniform(0.001, 0.01, 11).astype(F32), random.standard_normal(11).astype(F32)
    weights = LinearWeights(S8Matrix(q, scales), b if bias else None, "w")
    result = linear(quantize_rows(x), weights, "relu", other if residual else None)
    for r in range(3):
        row, row_scale = naive_quantize(x[r])
        for c in range(11):
            acc = sum(i * int(j) for i, j in zip(row, q[c], strict=True))
            y = (F32(acc) * row_scale) * scales[c] + (b[c] if bias else F32(0))
            y = max(y, F32(0))
            assert result[r, c] == (y + other[r, c] if residual else y)


def test_linear_f32() -> None:
    random = np.random.default_rng(6)
    x, w = random.standard_normal((2, 9)).astype(F32), random.standard_normal((4, 9)).astype(F32)
    b, other = random.standard_normal(4).astype(F32), random.standard_normal((2, 4)).astype(F32)
    result = linear(x, LinearWeights(F32Matrix(w), b, "w"), "none", other)
    for r in range(2):
        for c in range(4):
            y = F32(0)
            for k in range(9):
                y = y + x[r, k] * w[c, k]
            assert result[r, c] == (y + b[c]) + other[r, c]


def test_linear_of_mixed_kinds_is_refused() -> None:
    weights = LinearWeights(F32Matrix(np.zeros((2, 3), F32)), None, "w")
    with pytest.raises(TypeError, match="different kinds"):
        linear(quantize_rows(np.zeros((1, 3), F32)), weights, "none", None)
