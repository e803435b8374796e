# SPDX-License-Identifier: Apache-2.0
"""Weight layouts: both packings against the index formulas of runtime/include/etch/packing.hpp, and back."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen.pack.layouts import (
    pack_f32,
    pack_factors,
    pack_s4,
    pack_s8,
    unpack_f32,
    unpack_factors,
    unpack_s4,
    unpack_s8,
)
from codegen.targets import Packing, round_up

ROOT = Path(__file__).resolve().parents[2]
SHAPES = [
    *itertools.product((1, 2, 15, 16, 17, 33), (1, 3, 4, 5, 15, 16, 17, 64)),
    (1000, 10),
    (3, 257),
]
PACKINGS: tuple[Packing, ...] = ("panel", "rows")


def s8_index(packing: Packing, n: int, k: int, inputs: int) -> int:
    """packed_s8_index of packing.hpp."""
    if packing == "panel":
        return n // 16 * (-(-inputs // 4) * 4) * 16 + k // 4 * 64 + n % 16 * 4 + k % 4
    return n * (-(-inputs // 16) * 16) + k


def f32_index(packing: Packing, n: int, k: int, inputs: int) -> int:
    """packed_f32_index of packing.hpp."""
    return n // 16 * inputs * 16 + k * 16 + n % 16 if packing == "panel" else n * inputs + k


def s4_place(packing: Packing, n: int, k: int, inputs: int) -> tuple[int, bool]:
    """packed_s4_index and packed_s4_high of packing.hpp."""
    if packing == "panel":
        return n // 16 * -(-inputs // 8) * 64 + k // 8 * 64 + n % 16 * 4 + k % 4, k % 8 >= 4
    return n * -(-inputs // 32) * 16 + k // 32 * 16 + k % 16, k % 32 >= 16


def factor_index(packing: Packing, n: int, k: int, inputs: int) -> int:
    """packed_s4_factor_index of packing.hpp."""
    groups = -(-inputs // 32)
    return (n // 16 * groups + k // 32) * 16 + n % 16 if packing == "panel" else n * groups + k // 32


def s8_matrix(n: int, k: int) -> np.ndarray:
    """No zeros, so that padding shows, and -127 and 127 among the values."""
    q = np.random.default_rng(n * 1000 + k).integers(1, 128, (n, k)).astype(np.int8)
    q[::2] *= -1
    return q


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("n", "k"), SHAPES)
def test_s8(n: int, k: int, packing: Packing) -> None:
    q = s8_matrix(n, k)
    packed = pack_s8(q, packing)
    size = round_up(n, 16) * round_up(k, 4) if packing == "panel" else n * round_up(k, 16)
    assert packed.dtype == np.int8
    assert packed.shape == (size,)
    expected = np.zeros(size, np.int8)
    for i, j in itertools.product(range(n), range(k)):
        expected[s8_index(packing, i, j, k)] = q[i, j]
    assert np.array_equal(packed, expected)
    assert np.array_equal(unpack_s8(packed, n, k, packing), q)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("n", "k"), SHAPES)
def test_f32(n: int, k: int, packing: Packing) -> None:
    values = np.random.default_rng(n * 1000 + k).standard_normal((n, k)).astype(np.float32)
    packed = pack_f32(values, packing)
    size = round_up(n, 16) * k if packing == "panel" else n * k
    assert packed.dtype == np.float32
    assert packed.shape == (size,)
    expected = np.zeros(size, np.float32)
    for i, j in itertools.product(range(n), range(k)):
        expected[f32_index(packing, i, j, k)] = values[i, j]
    assert np.array_equal(packed.view(np.uint32), expected.view(np.uint32))
    assert np.array_equal(unpack_f32(packed, n, k, packing), values)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("n", "k"), SHAPES)
def test_s4(n: int, k: int, packing: Packing) -> None:
    random = np.random.default_rng(n * 1000 + k)
    q = random.integers(-8, 8, (n, k)).astype(np.int8)
    factors = random.integers(1, 19, (n, -(-k // 32))).astype(np.uint8)
    packed, packed_factors = pack_s4(q, packing), pack_factors(factors, packing)
    assert packed.dtype == np.int8
    assert packed.shape == (round_up(n, 16) * round_up(k, 8) // 2 if packing == "panel" else n * round_up(k, 32) // 2,)
    assert packed_factors.shape == ((round_up(n, 16) if packing == "panel" else n) * -(-k // 32),)
    expected = np.zeros(packed.size, np.uint8)
    for i, j in itertools.product(range(n), range(k)):
        at, high = s4_place(packing, i, j, k)
        expected[at] |= (int(q[i, j]) & 15) << (4 if high else 0)
        assert packed_factors[factor_index(packing, i, j, k)] == factors[i, j // 32]
    assert np.array_equal(packed.view(np.uint8), expected)
    assert np.array_equal(unpack_s4(packed, n, k, packing), q)
    assert np.array_equal(unpack_factors(packed_factors, n, packing), factors)


@pytest.mark.parametrize("packing", PACKINGS)
def test_input_of_any_memory_order(packing: Packing) -> None:
    q = s8_matrix(20, 9)
    assert np.array_equal(pack_s8(np.asfortranarray(q), packing), pack_s8(q, packing))
    wide = np.zeros((20, 18), np.int8)
    wide[:, ::2] = q
    assert np.array_equal(pack_s8(wide[:, ::2], packing), pack_s8(q, packing))


def test_formulas_are_those_of_the_header(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    lines = [
        '#include "etch/packing.hpp"',
        "#include <cstdio>",
        "#include <initializer_list>",
        "using namespace etch;",
        "int main() {",
        "  const unsigned shapes[][2] = {" + ", ".join(f"{{{n}, {k}}}" for n, k in SHAPES) + "};",
        "  for (auto packing : {Packing::panel, Packing::rows})",
        "    for (auto& shape : shapes) {",
        "      const unsigned n = shape[0], k = shape[1];",
        '      std::printf("%zu %zu\\n", packed_s8_bytes(packing, n, k), packed_f32_elements(packing, n, k));',
        "      for (unsigned i = 0; i < n; ++i)",
        "        for (unsigned j = 0; j < k; ++j)",
        '          std::printf("%zu %zu\\n", packed_s8_index(packing, i, j, k), packed_f32_index(packing, i, j, k));',
        '      std::printf("%zu %zu\\n", packed_s4_bytes(packing, n, k), packed_s4_factors(packing, n, k));',
        "      for (unsigned i = 0; i < n; ++i)",
        "        for (unsigned j = 0; j < k; ++j)",
        '          std::printf("%zu %d %zu\\n", packed_s4_index(packing, i, j, k), packed_s4_high(packing, j),',
        "                      packed_s4_factor_index(packing, i, j, k));",
        "    }",
        "}",
    ]
    (tmp_path / "print.cpp").write_text("\n".join(lines) + "\n")
    include = f"-I{ROOT / 'runtime/include'}"
    subprocess.run([compiler, "-std=c++17", include, tmp_path / "print.cpp", "-o", tmp_path / "print"], check=True)
    printed = subprocess.run([tmp_path / "print"], check=True, capture_output=True, text=True).stdout.split()
    expected: list[int] = []
    for packing in PACKINGS:
        for n, k in SHAPES:
            expected += [pack_s8(np.ones((n, k), np.int8), packing).size]
            expected += [pack_f32(np.ones((n, k), np.float32), packing).size]
            for i, j in itertools.product(range(n), range(k)):
                expected += [s8_index(packing, i, j, k), f32_index(packing, i, j, k)]
            expected += [pack_s4(np.ones((n, k), np.int8), packing).size]
            expected += [pack_factors(np.ones((n, -(-k // 32)), np.uint8), packing).size]
            for i, j in itertools.product(range(n), range(k)):
                expected += [*s4_place(packing, i, j, k), factor_index(packing, i, j, k)]
    assert list(map(int, printed)) == expected
