# SPDX-License-Identifier: Apache-2.0
"""Linear attention by the gated delta rule: its heads as a constant of the generated code, and the statement."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import EtchError
from ..ir import program as p
from ..ir import walks
from .scope import Scope
from .statements import RENDER

SHAPE = "kDeltaShape"
_FIELDS = {
    "heads": "heads of values",
    "key_heads": "heads of queries and keys",
    "key_width": "their width",
    "value_width": "width of values",
}


def delta_shape(program: p.Program) -> list[tuple[object, str]]:
    """The values of the constant with what each is; none without such a layer. EtchError where layers differ in them,
    for there is one constant."""
    return one_shape(program, p.DeltaRule, _FIELDS, "linear attention")


def one_shape(program: p.Program, kind: type, fields: Mapping[str, str], named: str) -> list[tuple[object, str]]:
    """The same of ops of another kind: `fields` are what its attributes are."""
    ops = [op for op in walks.ops_of(program) if isinstance(op, kind)]
    shapes = {tuple(getattr(op, name) for name in fields) for op in ops}
    if len(shapes) > 1:
        raise EtchError("attention-not-supported", "render", f"{len(ops)} layers of {named} of different shapes")
    return [field for shape in shapes for field in zip(shape, fields.values(), strict=True)]


def carried_values(op: p.DeltaRule | p.StateSpace, shape: str, scope: Scope) -> dict[str, str]:
    """What the statement of an op says that carries a matrix of each head; `shape` is the constant of its heads."""
    return {
        "weights": scope.weights(op.weights),
        "shape": shape,
        "block": "block",
        "texts": scope.texts_of(op.out.rows),
        "input": scope.view(op.input),
        "state": scope.view(op.state),
        "out": scope.view(op.out),
        "room": ", kRoom" if scope.beams else "",
    }


@RENDER.on(p.DeltaRule)
def _delta_rule(op: p.DeltaRule, scope: Scope) -> str:
    values = carried_values(op, SHAPE, scope) | {"decay": scope.view(op.decay), "beta": scope.view(op.beta)}
    return scope.statement("delta_step" if scope.step else "delta_rule", values)
