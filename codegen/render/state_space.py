# SPDX-License-Identifier: Apache-2.0
"""State spaces: their heads as a constant of the generated code, and the statement."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..ir import program as p
from .delta_rule import carried_values, one_shape
from .scope import Scope
from .statements import RENDER
from .text import float_literal

SHAPE = "kStateSpaceShape"
_FIELDS = {
    "heads": "heads of values",
    "groups": "groups of inputs and outputs of states",
    "state_width": "their width",
    "value_width": "width of values",
    "least_time": "the least time step",
    "most_time": "the most",
}


def state_space_shape(program: p.Program) -> list[tuple[object, str]]:
    """As `delta_shape`."""
    fields = one_shape(program, p.StateSpace, _FIELDS, "state spaces")
    return [*fields[:-2], *((float_literal(cast(np.float32, value)), named) for value, named in fields[-2:])]


@RENDER.on(p.StateSpace)
def _state_space(op: p.StateSpace, scope: Scope) -> str:
    values = carried_values(op, SHAPE, scope) | {"time": scope.view(op.time)}
    return scope.statement("state_space_step" if scope.step else "state_space", values)
