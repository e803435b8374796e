# SPDX-License-Identifier: Apache-2.0
"""NAME_weights.hpp: the structs that give a model's tables their shapes, and the constants of its tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..ir import program as p
from ..ir import walks
from ..ir.stage import Stage
from ..pack.experts import outputs_of_all
from ..pack.tables import Table
from ..tokenizer import Field
from .scores import layer_members
from .text import broken, constant, float_literal, named, pascal


def weights_values(program: p.Program, stored: Sequence[Table]) -> dict[str, Any]:
    """The structs and their constants; `stored` are the tables that they point to."""
    # Tables that are looked up as they are have no struct.
    slots = [(slot, loop) for slot, loop in walks.slots_of(program) if not isinstance(slot.stored[0], p.LookedUp)]
    tables = {table.name: table for table in stored}
    loops = {loop.name: loop for step in program.steps for _, loop in walks.located(step) if loop is not None}
    first_inside = next((index for index, (_, where) in enumerate(slots) if where is not None), len(slots))
    before = [slot for slot, _ in slots[:first_inside]]
    after = [slot for slot, where in slots[first_inside:] if where is None]
    counts = [loop.count for loop in loops.values()]
    return {
        "vocabulary": program.vocabulary,
        "segments": program.segments,
        "convolves": any(isinstance(slot.stored[0], p.ConvolutionWeights) for slot, _ in slots),
        "has_delta_rule": any(isinstance(slot.stored[0], p.DeltaWeights) for slot, _ in slots),
        "has_expert_bias": any(isinstance(slot.stored[0], p.ExpertBias) for slot, _ in slots),
        "has_state_space": any(isinstance(slot.stored[0], p.StateSpaceWeights) for slot, _ in slots),
        "has_sinks": any(isinstance(op, p.Attention) and op.sinks is not None for op in walks.ops_of(program)),
        "relative": any(isinstance(slot.stored[0], p.RelativeWeights) for slot, _ in slots),
        "mixed": any(0 < len(table.layers) < _layers_of(table, slots) for table in stored),
        "before": [_global(slot, tables) for slot in before],
        "after": [_global(slot, tables) for slot in after],
        "layer_counts": " and ".join(f"[{count}]" for count in dict.fromkeys(counts)),
        "loops": [
            _loop(loop, [slot for slot, of in slots if of is not None and of.name == loop.name], tables)
            for loop in loops.values()
        ],
    }


def _layers_of(table: Table, slots: Sequence[tuple[p.WeightSlot, p.Loop | None]]) -> int:
    """How many layers those of a table's weights are among."""
    return next((loop.count for slot, loop in slots if slot.name == table.part and loop is not None), 0)


def _loop(loop: p.Loop, inside: Sequence[p.WeightSlot], tables: dict[str, Table]) -> dict[str, Any]:
    members = layer_members(loop)
    return {
        "type": pascal(loop.name),
        "array": constant(loop.name + "s"),
        "count_name": constant(loop.name + "_count"),
        "count": loop.count,
        "fields": [{"type": TYPE(slot.stored[0]), "name": slot.name} for slot in inside]
        + [{"type": kind, "name": name} for name, kind, _ in members],
        "layers": [
            [
                line
                for name, value in (
                    *((slot.name, _value(slot, layer, tables)) for slot in inside),
                    *((name, values[layer]) for name, _, values in members),
                )
                for line in broken(f"        {named(name, value)},")
            ]
            for layer in range(loop.count)
        ],
    }


def _global(slot: p.WeightSlot, tables: dict[str, Table]) -> dict[str, str]:
    return {"type": TYPE(slot.stored[0]), "constant": constant(slot.name), "value": _value(slot, None, tables)}


def _value(slot: p.WeightSlot, layer: int | None, tables: dict[str, Table]) -> str:
    """The initializer of a slot's struct."""
    entry = slot.entry(layer or 0)

    def table(role: str) -> str:
        name = f"{slot.name}_{role}"
        return name + tables[name].index(None if layer is None else entry)

    return "{" + ", ".join(FIELDS(slot.stored[entry], table)) + "}"


TYPE: Stage[str] = Stage("render")  # the struct of an entry of a slot
FIELDS: Stage[list[str]] = Stage("render")  # its members, given the name of a table by its role


@TYPE.on(p.NormWeights)
def _norm_type(weights: p.NormWeights) -> str:
    if weights.epsilon is None:
        return "AffineWeights"
    return "RmsNormWeights" if weights.beta is None else "LayerNormWeights"


@TYPE.on(p.XieluWeights)
def _xielu_type(weights: p.XieluWeights) -> str:
    return "XieluWeights"


@TYPE.on(p.ConvolutionWeights)
def _convolution_type(weights: p.ConvolutionWeights) -> str:
    return "ConvolutionWeights"


@TYPE.on(p.DeltaWeights)
def _delta_type(weights: p.DeltaWeights) -> str:
    return "DeltaWeights"


@TYPE.on(p.ExpertBias)
def _expert_bias_type(weights: p.ExpertBias) -> str:
    return "ExpertBias"


@TYPE.on(p.StateSpaceWeights)
def _state_space_type(weights: p.StateSpaceWeights) -> str:
    return "StateSpaceWeights"


@TYPE.on(p.EmbeddingWeights)
def _embedding_type(weights: p.EmbeddingWeights) -> str:
    kind = "F32Embedding" if isinstance(weights.matrix, p.F32Matrix) else "S8Embedding"
    return f"Tied{kind}" if weights.tied else kind


@TYPE.on(p.LinearWeights)
def _linear_type(weights: p.LinearWeights) -> str:
    return "F32Weights" if isinstance(weights.matrix, p.F32Matrix) else "S8Weights"


@TYPE.on(p.RelativeWeights)
def _relative_type(weights: p.RelativeWeights) -> str:
    return "F32RelativeRows" if isinstance(weights.matrix, p.F32Matrix) else "S8RelativeRows"


@FIELDS.on(p.NormWeights)
def _norm_fields(weights: p.NormWeights, table: Callable[[str], str]) -> list[str]:
    beta = [] if weights.beta is None else [table("beta")]
    numbers = {"epsilon": weights.epsilon, "inverse_width": weights.inverse_width}
    said = ((field, value) for field, value in numbers.items() if value is not None)
    return [table("gamma"), *beta, *(named(field, float_literal(value)) for field, value in said)]


@FIELDS.on(p.XieluWeights)
def _xielu_fields(weights: p.XieluWeights, table: Callable[[str], str]) -> list[str]:
    names = ("square", "power", "most", "linear")
    return [named(name, float_literal(getattr(weights, name))) for name in names]


@FIELDS.on(p.ConvolutionWeights)
def _convolution_fields(weights: p.ConvolutionWeights, table: Callable[[str], str]) -> list[str]:
    return [table("taps"), _bias(weights, table), named("count", len(weights.taps))]


@FIELDS.on(p.DeltaWeights)
def _delta_fields(weights: p.DeltaWeights, table: Callable[[str], str]) -> list[str]:
    return [table("rates")]


@FIELDS.on(p.ExpertBias)
def _expert_bias_fields(weights: p.ExpertBias, table: Callable[[str], str]) -> list[str]:
    return [table("values")]


@FIELDS.on(p.StateSpaceWeights)
def _state_space_fields(weights: p.StateSpaceWeights, table: Callable[[str], str]) -> list[str]:
    return [table("rates"), table("skips")]


@FIELDS.on(p.RelativeWeights)
def _relative_fields(weights: p.RelativeWeights, table: Callable[[str], str]) -> list[str]:
    roles = ["packed"] if isinstance(weights.matrix, p.F32Matrix) else ["packed", "scales"]
    return [*(table(role) for role in roles), named("rows", weights.by_head[1])]


@FIELDS.on(p.EmbeddingWeights)
def _embedding_fields(weights: p.EmbeddingWeights, table: Callable[[str], str]) -> list[str]:
    roles = {p.F32Matrix: ["table"], p.S8Matrix: ["table", "scales"], p.S4Matrix: ["table", "scales", "factors"]}
    found = [table(role) for role in roles[type(weights.matrix)]]
    return [f"{{{', '.join(found)}}}", "layout_of(kPacking)"] if weights.tied else found


@FIELDS.on(p.LinearWeights)
def _linear_fields(weights: p.LinearWeights, table: Callable[[str], str]) -> list[str]:
    matrix = weights.matrix
    shape = (outputs_of_all(weights), matrix.shape[1]) if weights.experts > 1 else matrix.shape
    outputs, inputs = map(named, ("outputs", "inputs"), shape)
    bias = _bias(weights, table)
    if weights.table is not None:
        scales = [] if isinstance(matrix, p.F32Matrix) else [f"{weights.table}_scales"]
        factors = [f"{weights.table}_factors"] if isinstance(matrix, p.S4Matrix) else []
        return [f"{weights.table}_table", *scales, bias, outputs, inputs, *factors]
    if isinstance(matrix, p.F32Matrix):
        return [table("weights"), bias, outputs, inputs]
    if isinstance(matrix, p.S8Matrix):
        of_7_bits = [named("factors", "nullptr"), named("of_7_bits", "true")] if isinstance(matrix, p.S7Matrix) else []
        return [table("weights"), table("scales"), bias, outputs, inputs, *of_7_bits]
    return [table("nibbles"), table("scales"), bias, outputs, inputs, table("factors")]


def _bias(weights: p.LinearWeights | p.ConvolutionWeights, table: Callable[[str], str]) -> str:
    return named("bias", "nullptr") if weights.bias is None else table("bias")


def tokenizer_lines(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    """The initializer of a tokenizer, a field a line."""
    for field in fields:
        if field.group is not None and len(field.group) <= 2 and all(part.literal for part in field.group):
            values = ", ".join(named(part.name, part.literal) for part in field.group)
            yield f"{indent}{{{values}}},  // {field.name}"
        elif field.group is not None:
            yield f"{indent}{{"
            yield from tokenizer_lines(field.group, indent + "    ")
            yield f"{indent}}},  // {field.name}"
        elif field.array is not None:
            yield f"{indent}{field.array},"
        else:
            yield f"{indent}{field.literal},  // {field.name}"
