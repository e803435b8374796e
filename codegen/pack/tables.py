# SPDX-License-Identifier: Apache-2.0
"""The const tables of a model: every weight packed for the target, and the tokenizer's arrays."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from ..ir import program as p
from ..ir import walks
from ..ir.stage import Stage
from ..targets import Target, round_up
from ..tokenizer import TargetTables, TokenizerTables
from .experts import by_panels
from .layouts import pack_f32, pack_factors, pack_s4, pack_s8

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


def make_tables(
    program: p.Program, target: Target, tokenizer: TokenizerTables, target_text: TargetTables | None = None
) -> tuple[Table, ...]:
    """All tables in the order that they are written."""
    weights = (table for slot, loop in walks.slots_of(program) for table in slot_tables(slot, loop is not None, target))
    of_target = () if target_text is None else tokenizer_tables(target_text)
    of_task = (Table(name, name, (array,), ()) for name, array in program.task.tables.items())
    return (*weights, *of_task, *tokenizer_tables(tokenizer), *of_target)


def slot_tables(slot: p.WeightSlot, in_loop: bool, target: Target) -> tuple[Table, ...]:
    """Those of one slot."""
    parts = [PARTS(weights, target) for weights in slot.stored]
    found: list[Table] = []
    for role in dict.fromkeys(role for part in parts for role in part):
        layers = tuple(layer for layer, part in enumerate(parts) if role in part)
        arrays = tuple(parts[layer][role] for layer in layers)
        found.append(Table(f"{slot.name}_{role}", slot.name, arrays, layers if in_loop else ()))
    return tuple(found)


def tokenizer_tables(tokenizer: TokenizerTables | TargetTables) -> tuple[Table, ...]:
    """Those that turn text into tokens, or back."""
    return tuple(Table(name, "tokenizer", (array.reshape(-1),), ()) for name, array in tokenizer.arrays)


def weight_bytes(weights: p.Weights, target: Target) -> int:
    """What the tables of one layer's weights take."""
    return sum(array.nbytes for array in PARTS(weights, target).values())


def table_bytes(tables: tuple[Table, ...], target: Target) -> int:
    """What the tables take in the linked program, each aligned."""
    return sum(round_up(table.bytes, target.alignment) for table in tables)


# The arrays of one entry of a slot by their roles.
PARTS: Stage[dict[str, np.ndarray]] = Stage("pack")


@PARTS.on(p.NormWeights)
def _norm_parts(weights: p.NormWeights, target: Target) -> dict[str, np.ndarray]:
    return {"gamma": weights.gamma} | ({} if weights.beta is None else {"beta": weights.beta})


@PARTS.on(p.XieluWeights)
def _xielu_parts(weights: p.XieluWeights, target: Target) -> dict[str, np.ndarray]:
    """None: its numbers lie in its struct."""
    return {}


@PARTS.on(p.ConvolutionWeights)
def _convolution_parts(weights: p.ConvolutionWeights, target: Target) -> dict[str, np.ndarray]:
    """Rows of taps, for a row is made of all its channels at once."""
    return {"taps": weights.taps.reshape(-1)} | ({} if weights.bias is None else {"bias": weights.bias})


@PARTS.on(p.DeltaWeights)
def _delta_parts(weights: p.DeltaWeights, target: Target) -> dict[str, np.ndarray]:
    return {"rates": weights.rates}


@PARTS.on(p.ExpertBias)
def _expert_bias_parts(weights: p.ExpertBias, target: Target) -> dict[str, np.ndarray]:
    return {"values": weights.values}


@PARTS.on(p.StateSpaceWeights)
def _state_space_parts(weights: p.StateSpaceWeights, target: Target) -> dict[str, np.ndarray]:
    return {"rates": weights.rates, "skips": weights.skips}


@PARTS.on(p.FloatTable, p.IndexTable)
def _looked_up_parts(weights: p.LookedUp, target: Target) -> dict[str, np.ndarray]:
    return {"values": weights.values.reshape(-1)}


@PARTS.on(p.RelativeWeights)
def _relative_parts(weights: p.RelativeWeights, target: Target) -> dict[str, np.ndarray]:
    """Packed head by head, as keys are."""
    matrix, shape = weights.matrix, weights.by_head
    if isinstance(matrix, p.F32Matrix):
        heads = matrix.values.reshape(shape)
        return {"packed": np.concatenate([pack_f32(head, target.packing) for head in heads])}
    packed = np.concatenate([pack_s8(head, target.packing) for head in matrix.q.reshape(shape)])
    return {"packed": packed, "scales": matrix.scales}


@PARTS.on(p.EmbeddingWeights)
def _embedding_parts(weights: p.EmbeddingWeights, target: Target) -> dict[str, np.ndarray]:
    """Rows that are looked up and never multiplied are not packed."""
    matrix = weights.matrix
    if isinstance(matrix, p.F32Matrix):
        return {"table": pack_f32(matrix.values, target.packing if weights.tied else "rows")}
    if isinstance(matrix, p.S8Matrix):
        packed = pack_s8(matrix.q, target.packing) if weights.tied else matrix.q.reshape(-1)
        return {"table": packed, "scales": matrix.scales}
    packing = target.packing if weights.tied else "rows"
    factors = pack_factors(matrix.factors, packing)
    return {"table": pack_s4(matrix.q, packing), "scales": matrix.scales, "factors": factors}


@PARTS.on(p.LinearWeights)
def _linear_parts(weights: p.LinearWeights, target: Target) -> dict[str, np.ndarray]:
    if weights.experts > 1:
        weights = by_panels(weights)
    matrix = weights.matrix
    if weights.table is not None:
        parts: dict[str, np.ndarray] = {}
    elif isinstance(matrix, p.F32Matrix):
        parts = {"weights": pack_f32(matrix.values, target.packing)}
    elif isinstance(matrix, p.S8Matrix):
        parts = {"weights": pack_s8(matrix.q, target.packing), "scales": matrix.scales}
    else:
        parts = {"nibbles": pack_s4(matrix.q, target.packing), "factors": pack_factors(matrix.factors, target.packing)}
        parts["scales"] = matrix.scales
    return parts if weights.bias is None else parts | {"bias": weights.bias}


def _little_endian(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data
