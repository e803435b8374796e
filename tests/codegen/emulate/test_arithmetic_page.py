# SPDX-License-Identifier: Apache-2.0
"""runtime/ARITHMETIC.md: its worked examples, computed by the emulator and the recipe."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codegen.emulate.floats import F32Array, quantize_rows, row_maximum, row_sum
from codegen.emulate.linear import linear
from codegen.emulate.polynomials import LOG2E, exp2
from codegen.emulate.pooling import softmax
from codegen.ir.weights import LinearWeights
from codegen.quantize import channels

EXAMPLES = (Path(__file__).parents[3] / "runtime/ARITHMETIC.md").read_text("utf-8").partition("## Worked examples")[2]


def shown(example: str) -> dict[str, F32Array]:
    """By name the numbers of a line: integers, or floats in hexadecimal."""
    lines = re.findall(rf"^{example} +(\w+) +(-?\d.*)$", EXAMPLES, re.MULTILINE)
    numbers = {name: [float.fromhex(n) if "x" in n else float(n) for n in text.split()] for name, text in lines}
    found = {name: np.array(values, np.float32) for name, values in numbers.items()}
    assert [found[name].tolist() for name in numbers] == [*numbers.values()]  # none is rounded here
    return found


def assert_shown(expected: F32Array, computed: NDArray) -> None:
    np.testing.assert_array_equal(expected, np.ravel(computed))


def test_a_row_to_bytes() -> None:
    row = shown("row")
    rows = quantize_rows(row["x"][None])
    assert_shown(row["q"], rows.q)
    assert_shown(row["s"], rows.scales)


def test_a_linear() -> None:
    of = shown("linear")
    rows, matrix = quantize_rows(of["x"][None]), channels.quantize_rows(of["w"][None])
    assert_shown(of["q"], rows.q)
    assert_shown(of["s"], rows.scales)
    assert_shown(of["wq"], matrix.q)
    assert_shown(of["scale"], matrix.scales)
    assert_shown(of["y"], linear(rows, LinearWeights(matrix, of["bias"], "weight"), "none", None))


def test_a_softmax() -> None:
    of = shown("softmax")
    t = of["x"] * LOG2E
    e = exp2(t - row_maximum(t))
    assert_shown(of["e"], e)
    assert_shown(of["sum"], row_sum(e))
    assert_shown(of["y"], softmax(of["x"]))


def test_other_orders_have_other_bits() -> None:
    """So the examples can tell them apart."""
    of = shown("linear")
    acc, s, scale, bias = of["q"] @ of["wq"], of["s"], of["scale"], of["bias"]
    fused = ((acc * s).astype(np.float64) * scale + bias).astype(np.float32)
    for other in (acc * (s * scale) + bias, (acc * scale) * s + bias, fused):
        assert (other != of["y"]).all()
    assert np.abs(of["x"]).max() / np.float32(127) != of["s"]
    of = shown("softmax")
    assert (of["e"][0] + of["e"][1]) + of["e"][2] != of["sum"]
    assert (of["e"] / of["sum"] != of["y"]).any()
