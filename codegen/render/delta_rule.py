# SPDX-License-Identifier: Apache-2.0
"""Linear attention by the gated delta rule: its heads as a constant of the generated code, and the statement."""

from __future__ import annotations

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
    ops = [op for op in walks.ops_of(program) if isinstance(op, p.DeltaRule)]
    shapes = {tuple(getattr(op, name) for name in _FIELDS) for op in ops}
    if len(shapes) > 1:
        raise EtchError(
            "attention-not-supported", "render", f"{len(ops)} layers of linear attention of different shapes"
        )
    return [field for shape in shapes for field in zip(shape, _FIELDS.values(), strict=True)]


@RENDER.on(p.DeltaRule)
def _delta_rule(op: p.DeltaRule, scope: Scope) -> str:
    values = {
        "weights": scope.weights(op.weights),
        "shape": SHAPE,
        "block": "block",
        "texts": scope.texts_of(op.out.rows),
        "input": scope.view(op.input),
        "decay": scope.view(op.decay),
        "beta": scope.view(op.beta),
        "state": scope.view(op.state),
        "out": scope.view(op.out),
        "room": ", kRoom" if scope.beams else "",
    }
    return scope.statement("delta_step" if scope.step else "delta_rule", values)
