# SPDX-License-Identifier: Apache-2.0
"""The const tables of a model: every weight packed for the target, and the tokenizer's arrays."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from .. import program as p
from ..pack import pack_f32, pack_factors, pack_s4, pack_s8
from ..targets import Target, round_up
from ..tokenizer import WordPieceTables

_TYPES = {
    "int8": "std::int8_t",
    "uint8": "std::uint8_t",
    "uint16": "std::uint16_t",
    "uint32": "std::uint32_t",
    "int32": "std::int32_t",
    "float32": "float",
}


@dataclass(frozen=True)
class Table:
    """One array of the generated code: [elements], or [layers][elements] for weights inside a loop. Where the layers
    differ in bits, each kind has an array of its own."""

    name: str
    part: str  # of the model: the weights' own name, or "tokenizer"
    arrays: tuple[np.ndarray, ...]  # flat, one per layer, of equal size and type
    layers: tuple[int, ...]  # that they are of; none: it is in no layer

    @property
    def type(self) -> str:
        """The C++ element type."""
        return _TYPES[self.arrays[0].dtype.name]

    @property
    def extent(self) -> str:
        """The C++ array bounds."""
        elements = f"[{self.arrays[0].size}]"
        return f"[{len(self.arrays)}]{elements}" if self.layers else elements

    def index(self, layer: int | None) -> str:
        """What follows the name where the array of one layer is meant."""
        return "" if layer is None else f"[{self.layers.index(layer)}]"

    @property
    def bytes(self) -> int:
        """Size, without padding."""
        return sum(array.nbytes for array in self.arrays)

    def crc(self) -> int:
        """CRC-32 over all elements."""
        crc = 0
        for array in self.arrays:
            crc = zlib.crc32(_little_endian(array), crc)
        return crc

    def data(self) -> list[memoryview]:
        """The elements as they lie in memory on a little-endian machine, a layer at a time; not copied."""
        return [_little_endian(array) for array in self.arrays]


def slots_of(program: p.Program) -> list[tuple[p.WeightSlot, p.Loop | None]]:
    """Every weight slot in the order of its first use, with the loop that it is in."""
    found: dict[str, tuple[p.WeightSlot, p.Loop | None]] = {}

    def visit(op: p.Op, loop: p.Loop | None) -> None:
        slots: tuple[p.WeightSlot, ...] = ()
        if isinstance(op, p.EmbeddingSum):
            slots = (op.word, op.segment, op.position)
        elif isinstance(op, p.Linear | p.LayerNorm):
            slots = (op.weights,)
        for slot in slots:
            found.setdefault(slot.name, (slot, loop))

    for step in program.steps:
        if isinstance(step, p.Loop):
            for blocks in step.body:
                for op in blocks.body:
                    visit(op, step)
        else:
            visit(step, None)
    return list(found.values())


def make_tables(program: p.Program, target: Target, tokenizer: WordPieceTables) -> tuple[Table, ...]:
    """All tables in the order that they are written."""
    weights = (table for slot, loop in slots_of(program) for table in slot_tables(slot, loop is not None, target))
    return (*weights, *tokenizer_tables(tokenizer))


def slot_tables(slot: p.WeightSlot, in_loop: bool, target: Target) -> tuple[Table, ...]:
    """Those of one slot."""
    parts = [_parts(weights, target) for weights in slot.per_layer]
    found: list[Table] = []
    for role in dict.fromkeys(role for part in parts for role in part):
        layers = tuple(layer for layer, part in enumerate(parts) if role in part)
        arrays = tuple(parts[layer][role] for layer in layers)
        found.append(Table(f"{slot.name}_{role}", slot.name, arrays, layers if in_loop else ()))
    return tuple(found)


def tokenizer_tables(tokenizer: WordPieceTables) -> tuple[Table, ...]:
    """Those that turn text into tokens."""
    return tuple(Table(name, "tokenizer", (array.reshape(-1),), ()) for name, array in tokenizer.arrays)


def weight_bytes(weights: p.Weights, target: Target) -> int:
    """What the tables of one layer's weights take."""
    return sum(array.nbytes for array in _parts(weights, target).values())


def table_bytes(tables: tuple[Table, ...], target: Target) -> int:
    """What the tables take in the linked program, each aligned."""
    return sum(round_up(table.bytes, target.alignment) for table in tables)


def _parts(weights: p.Weights, target: Target) -> dict[str, np.ndarray]:
    if isinstance(weights, p.LayerNormWeights):
        return {"gamma": weights.gamma, "beta": weights.beta}
    if isinstance(weights, p.EmbeddingWeights):  # rows are looked up, never multiplied: not packed
        if isinstance(weights.matrix, p.S8Matrix):
            return {"table": weights.matrix.q.reshape(-1), "scales": weights.matrix.scales}
        if isinstance(weights.matrix, p.S4Matrix):
            factors = pack_factors(weights.matrix.factors, "rows")
            return {"table": pack_s4(weights.matrix.q, "rows"), "scales": weights.matrix.scales, "factors": factors}
        return {"table": weights.matrix.values.reshape(-1)}
    if isinstance(weights.matrix, p.S8Matrix):
        parts = {"weights": pack_s8(weights.matrix.q, target.packing), "scales": weights.matrix.scales}
    elif isinstance(weights.matrix, p.S4Matrix):
        matrix = weights.matrix
        parts = {"nibbles": pack_s4(matrix.q, target.packing), "factors": pack_factors(matrix.factors, target.packing)}
        parts["scales"] = matrix.scales
    else:
        parts = {"weights": pack_f32(weights.matrix.values, target.packing)}
    return parts if weights.bias is None else parts | {"bias": weights.bias}


def _little_endian(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data
