# SPDX-License-Identifier: Apache-2.0
"""What compilers made of the inner loops of the s8 products: sums stay in their registers. GCC 12, unless kept from it,
moves or spills them on every turn, which costs half the speed."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from archives import innermost_loops
from classify_program import built_file

MEMORY = re.compile(r"[^,]*\(")  # the first operand, the source, is in memory
VECTOR = re.compile(r"%[xyz]mm")


@dataclass(frozen=True)
class Hot:
    """The inner loops of a set: which tiles there are, and what else may be done to vectors."""

    product: str  # the instruction that multiplies
    counts: frozenset[int]  # of products in a loop, one for each tile
    loads: frozenset[str]
    computes: frozenset[str]


HOT = {
    # The tile registers hold the sums.
    "amx_int8.cpp.o": Hot("tdpbssd", frozenset({1, 2, 4}), frozenset(), frozenset()),
    "avx512_vnni.cpp.o": Hot(
        "vpdpbusd",
        frozenset(rows * panels for rows in range(1, 10) for panels in ((1, 3) if rows > 4 else (1, 6)))
        | {2 * rows * panels for rows in range(1, 9) for panels in (1, 1 if rows > 4 else 2 if rows > 2 else 4)},
        frozenset({"vmovdqu64", "vpbroadcastd", "vpxord", "vpxorq"}),
        # Of the product of 4-bit weights, as its even numbers of products.
        frozenset({"vpandd", "vpandq", "vpsrlw", "vpxord", "vpxorq"}),
    ),
    "avx_vnni.cpp.o": Hot(
        "vpdpbusd",
        frozenset(rows * 2 for rows in range(1, 7)),
        frozenset({"vmovdqu", "vpbroadcastd", "vpxor"}),
        frozenset({"vpxor"}),
    ),
    # Steps of 8 k are 4 products for a row, or 8 where they are of 4 k each.
    "avx2.cpp.o": Hot(
        "vpmaddubsw",
        frozenset(rows * products for rows in range(1, 4) for products in (2, 4)),
        frozenset({"vmovdqu", "vpbroadcastd", "vpxor", "vpaddb"}),
        # Shifts and signs; the last two are of the product of 4-bit weights.
        frozenset({"vpxor", "vpaddb", "vpcmpgtb", "vpabsb", "vpmaddwd", "vpaddw", "vpaddd", "vpand", "vpsrlw"}),
    ),
    # pmaddwd overwrites an operand: movdqa keeps it. GCC 14 also loads so what it knows to be aligned.
    "sse2.cpp.o": Hot(
        "pmaddwd",
        frozenset(rows * 8 for rows in (1, 2)),
        frozenset({"movq", "movdqu", "movdqa"}),
        frozenset({"pshufd", "psllw", "psraw", "paddd", "movdqa"}),
    ),
}


@pytest.mark.parametrize("name", HOT)
def test_sums_stay_in_their_registers(name: str) -> None:
    loops = innermost_loops(built_file("libetch.a"))
    if name not in loops:
        pytest.skip(f"this build has no {name}")
    hot = HOT[name]
    seen = set()
    for loop in loops[name]:
        products = sum(mnemonic == hot.product for mnemonic, _ in loop)
        if products == 0:
            continue
        seen.add(products)
        if products <= 2:  # one row by 16 columns waits for its sums, not for a move
            continue
        for mnemonic, operands in loop:
            if mnemonic == hot.product or not VECTOR.search(operands):
                continue
            allowed = hot.loads if MEMORY.match(operands) else hot.computes
            assert mnemonic in allowed and "%rsp" not in operands, (f"{mnemonic} {operands}", loop)
    assert hot.counts <= seen
