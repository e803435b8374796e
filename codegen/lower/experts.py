# SPDX-License-Identifier: Apache-2.0
"""A mixture of experts as ops of the runtime."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ir import graph as g
from ..ir import program as p
from ..ir.clamped_gate import ClampedGate
from ..ir.constants import rounded, without_tiny
from ..ir.experts import ExpertLinear, ExpertShares
from ..ir.parameter import Array
from .ops import LOWER, linear_slot, stored_arrays
from .place import Place


@LOWER.on(g.Experts)
def _experts(op: g.Experts, at: Place) -> list[p.Op]:
    """What the experts of a row make of it lies beside what those of others do until it is summed."""
    kind = at.recipe.kind
    before = f"{op.out}_row_" if at.rows == "one" else f"{op.out}_"

    def rows(name: str, width: int) -> p.Buffer:
        return p.Buffer(f"{before}{name}", "f32", at.rows, width, times=op.top)

    def as_operand(value: p.Buffer) -> tuple[list[p.Op], p.Buffer]:
        if kind == "f32":
            return [], value
        quantized = replace(value, name=f"{value.name}_q", storage="quantized")
        return [p.Quantize(value, quantized)], quantized

    routes = p.Buffer(f"{before}routes", "routes", at.rows, op.top, op.experts)
    selected, inner = rows("rows", at.graph.widths[op.input]), rows("inner", op.inner)
    made = rows("outputs", at.graph.widths[op.out])
    quantize_rows, operand = as_operand(selected)
    ops: list[p.Op] = [
        p.ChooseExperts(op.weighing, at.buffer(op.scores), routes, _bias(op), _shares(op)),
        p.SelectRows(routes, at.buffer(op.input), selected),
        *quantize_rows,
    ]
    first, *up, last = op.linears
    clamped = op.clamped and ClampedGate(*(float(rounded(of)) for of in (op.clamped.alpha, op.clamped.limit)))
    ops.append(p.ExpertLinear(kind, _expert_slot(first, op, at), routes, operand, op.activation, inner))
    for linear in up:
        factor = rows("factors", op.inner)
        ops.append(p.ExpertLinear(kind, _expert_slot(linear, op, at), routes, operand, "none", factor))
        ops.append(p.Multiply(inner, factor, inner, clamped))
    quantize_inner, operand = as_operand(inner)
    ops += quantize_inner
    ops.append(p.ExpertLinear(kind, _expert_slot(last, op, at), routes, operand, "none", made))
    return [*ops, p.MixExperts(routes, made, at.buffer(op.out))]


def _expert_slot(linear: ExpertLinear, op: g.Experts, at: Place) -> p.WeightSlot:
    """That of a linear whose outputs are those of all experts."""
    slot = linear_slot(linear, at)
    entries = (entry for entry in slot.stored if isinstance(entry, p.LinearWeights))
    return replace(slot, stored=tuple(replace(entry, experts=op.experts) for entry in entries))


def _bias(op: g.Experts) -> p.WeightSlot | None:
    """In a slot of its own, by the name that the parameter has."""
    if op.bias is None:
        return None

    def weights(array: Array, _: int) -> p.ExpertBias:
        return p.ExpertBias(without_tiny(array.values.astype(np.float32)), array.name)

    return p.WeightSlot(op.bias.name, stored_arrays(op.bias, weights), op.bias.of_layer, op.bias.common)


def _shares(op: g.Experts) -> ExpertShares | None:
    return op.shares and ExpertShares(*(float(rounded(of)) for of in (op.shares.added, op.shares.least)))
