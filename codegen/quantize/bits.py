# SPDX-License-Identifier: Apache-2.0
"""How many bits the weights of each place have: what a recipe says, or what is said of the place.

A place is a name of weights in the program, `pooler`, or one layer's of them, `2.intermediate`. `intermediate` alone
means those of all layers that are not named themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import EtchError, printable
from ..ir import graph as g
from ..ir import program as p
from ..ir import walks
from ..ir.products import products_of, terms_of, tied_tables

WIDTHS = (8, 4)
Bits = Mapping[str, int]
SEGMENTS = "segment_embeddings"  # a few entries, which go into every token: 8 bits unless they are named


def parse_bits(text: str) -> dict[str, int]:
    """`2.intermediate=4,word_embeddings=4`. ValueError where it is written otherwise, or a place is named twice."""
    found: dict[str, int] = {}
    for part in text.split(","):
        place, equals, width = part.partition("=")
        if not equals or not place or place in found or width not in map(str, WIDTHS):
            raise ValueError(part)
        found[place] = int(width)
    return found


def bits_text(bits: Bits) -> str:
    """As parse_bits reads it."""
    return ",".join(f"{place}={width}" for place, width in bits.items())


def bits_at(bits: Bits, name: str, layer: int, otherwise: int) -> int:
    """Those of the weights `name`, in one layer where there are layers."""
    return bits.get(f"{layer}.{name}", bits.get(name, otherwise))


def check_bits(bits: Bits, graph: g.Graph) -> None:
    """EtchError where a place is none of the graph's quantized weights, or has other bits than there are."""
    tied = tied_tables(graph)
    places = {term.table.name for term in terms_of(graph)}
    for product, layers in products_of(graph):
        if product.weight.name in tied or (isinstance(product, g.Linear) and product.exact):
            continue
        places.add(product.name)
        if layers is not None:
            places |= {f"{layer}.{product.name}" for layer in range(len(product.weight.arrays))}
    for place, width in bits.items():
        if place not in places:
            known = ", ".join(sorted(name for name in places if "." not in name))
            raise EtchError("unknown-place", "arguments", f"--bits: there is no '{printable(place)}', but {known}")
        if width not in WIDTHS:
            raise EtchError("unknown-bits", "arguments", f"--bits: {place} of {width!r} bits: 8 or 4")


def places_of(program: p.Program) -> Iterator[tuple[str, str, p.LinearWeights | p.EmbeddingWeights]]:
    """Place, name and weights of every linear and embedding table once, of a tied one the table."""
    for slot, loop in walks.slots_of(program):
        for layer, weights in enumerate(slot.stored):
            if isinstance(weights, p.LinearWeights | p.EmbeddingWeights) and not p.of_table(weights):
                yield slot.name if loop is None else f"{layer}.{slot.name}", slot.name, weights


def width_of(matrix: p.Integers) -> int:
    """Bits of a weight, scales and factors left aside."""
    if isinstance(matrix, p.S4Matrix):
        return 4
    return 7 if isinstance(matrix, p.S7Matrix) else 8
