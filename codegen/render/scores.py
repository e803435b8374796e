# SPDX-License-Identifier: Apache-2.0
"""What becomes of scores, and what rows are turned by: constants of the generated code, or members of a layer where the
layers differ."""

from __future__ import annotations

from typing import Any

from ..errors import EtchError
from ..ir import program as p
from ..ir import walks
from ..ir.op import at_layer, by_layer
from ..ir.stage import Stage
from .text import constant, float_literal, named

SCORE, TURN, POOLED_BIAS = "score", "turn", "score_bias"  # members of a layer

# Of an op that differs by layer: the name, type and value of the member, as it is in one layer.
MEMBER: Stage[tuple[str, str, str]] = Stage("render")


@MEMBER.on(p.Attention)
def _score_member(op: p.Attention, layer: int) -> tuple[str, str, str]:
    if op.pooled is not None:
        assert op.bias is not None
        return POOLED_BIAS, "const float*", f"{op.bias.name}_values[{op.bias.entry(layer)}]"
    if op.sinks is not None:
        sinks = named("sinks", f"{op.sinks.name}_values[{op.sinks.entry(layer)}]")
        return SCORE, "SinkBias", f"{{{_bias(op, layer)}, {sinks}}}"
    return SCORE, "ScoreBias", _bias(op, layer)


@MEMBER.on(p.Rotary)
def _turn_member(op: p.Rotary, layer: int) -> tuple[str, str, str]:
    return TURN, "RotaryTable", _turn(op)


def score_values(program: p.Program) -> dict[str, Any]:
    """The constants of what is the same in all layers."""
    ops = [op for op in walks.ops_of(program) if not _differs(op)]
    biases = {bias_name(op): op for op in ops if isinstance(op, p.Attention) and bias_name(op) is not None}
    turns = {rotary_name(op): op for op in ops if isinstance(op, p.Rotary)}
    return {
        "biases": [{"constant": name, "value": _bias(op)} for name, op in biases.items()],
        "turns": [{"constant": name, "value": _turn(op)} for name, op in turns.items()],
    }


def layer_members(loop: p.Loop) -> list[tuple[str, str, list[str]]]:
    """Of what differs by layer the name and type of the member, and its value in each layer."""
    found: dict[str, tuple[str, str, list[str]]] = {}
    for op in walks.ops_in(loop):
        if not _differs(op):
            continue
        members = [MEMBER(at_layer(op, layer), layer) for layer in range(loop.count)]
        name, kind, _ = members[0]
        values = [value for _, _, value in members]
        if found.setdefault(name, (name, kind, values))[2] != values:
            message = f"{loop.name}: two ops differ by layer in their {name}, one is supported"
            raise EtchError("attribute-by-layer", "render", message)
    return list(found.values())


def bias_name(op: p.Attention) -> str | None:
    """What the code calls that which becomes of the scores; None where nothing does."""
    if _differs(op):
        return f"layer.{SCORE}"
    of_steps = op.keys.rows == "steps" and op.mask == "causal"  # there are only those before
    if op.bias is None and (op.mask == "none" or of_steps):
        return None
    mask = "" if op.mask == "none" else f"_{op.mask}"
    if op.window is not None:
        mask += f"_{op.window}"
    return constant(f"{'score' if op.bias is None else op.bias.name}{mask}")


def rotary_name(op: p.Rotary) -> str:
    """What the code calls the tables that rows are turned by."""
    if by_layer(op):
        return f"layer.{TURN}"
    assert isinstance(op.table, int)
    name = op.cosines[op.table].name.replace("cosines", "rotary")
    return constant(name.replace("rotary_rotary", "rotary"))


def soft_cap(cap: p.SoftCap) -> str:
    """The initializer of a SoftCap."""
    return f"{{{named('limit', float_literal(cap.limit))}, {named('inverse', float_literal(cap.inverse))}}}"


def _differs(op: p.Op) -> bool:
    """Whether it does by layer, in its attributes or by a bias or sinks of each."""
    if isinstance(op, p.Attention) and (op.sinks is not None or (op.bias is not None and not op.bias.common)):
        return True
    return bool(by_layer(op))


def _bias(op: p.Attention, layer: int = 0) -> str:
    """The initializer of a ScoreBias."""
    table = "nullptr"
    if op.bias is not None:
        table = f"{op.bias.name}_values" + ("" if op.bias.common else f"[{op.bias.entry(layer)}]")
    return f"{{AttentionMask::{op.mask}, {named('window', op.window or 0)}, {named('table', table)}}}"


def _turn(op: p.Rotary) -> str:
    """The initializer of a RotaryTable."""
    assert isinstance(op.table, int)
    cosines, sines = op.cosines[op.table], op.sines[op.table]
    (table,) = cosines.stored
    assert isinstance(table, p.FloatTable)
    rotated, head_width = 2 * table.values.shape[1], op.rows.width // op.heads
    numbers = f"{named('rotated', rotated)}, {named('head_width', head_width)}"
    return f"{{{cosines.name}_values, {sines.name}_values, {numbers}}}"
