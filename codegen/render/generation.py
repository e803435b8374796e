# SPDX-License-Identifier: Apache-2.0
"""The pass of a token in a model that writes: read() has what appends to the caches, choose() what only the next token
needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jinja2 import Environment

from ..errors import EtchError
from ..ir import program as p
from ..ir.op import by_layer
from .forward import INDENT, Row, Scope, embedding_names, layer_rows, op_rows
from .shapes import heads_of
from .text import annotated, number_lines


def target_values(program: p.Program) -> dict[str, Any]:
    """What every template may say of a target; where there is none, that there is none."""
    target = program.target
    if target is None:
        return {"writes": False}
    never = sorted(set(target.never))
    attentions = [op for op in p.ops_in(_repeat(program)) if isinstance(op, p.Attention)]
    return {
        "writes": True,
        "max_target": target.max_tokens,
        "attends_to_text": any(op.keys.rows == "tokens" for op in attentions),
        "begin": _ids(target.begin),
        "begin_count": len(target.begin),
        "never": _ids(never),
        "never_count": len(never),
        "end": target.end,
        "forced_end": "true" if target.forced_end else "false",
    }


def pass_values(program: p.Program, environment: Environment) -> dict[str, list[str]]:
    """The lines of read() and choose(); none where nothing is written."""
    if program.target is None:
        return {}
    body = _repeat(program).body
    split = max((i for i, step in enumerate(body, 1) if isinstance(step, p.Loop)), default=0)
    read, chosen = body[:split], body[split:]
    if not read or any(isinstance(op, p.PackKeys | p.PackValues) for step in chosen for op in p.ops_in(step)):
        raise EtchError("generation-not-supported", "render", "keys and values are made by the layers of a step")
    if any(by_layer(op) for op in p.ops_in(_repeat(program))):
        raise EtchError("generation-not-supported", "render", "an op of a step differs by layer")
    names, sums = heads_of(program), embedding_names(program)
    scope = Scope(environment, 1, texts="text", step=True, heads=names, embeddings=sums)
    return {
        "read": annotated([row for step in read for row in _rows(step, scope)]),
        "choose": annotated([row for step in chosen for row in _rows(step, scope)]),
    }


def _repeat(program: p.Program) -> p.Repeat:
    (repeat,) = (step for step in program.steps if isinstance(step, p.Repeat))
    return repeat


def _rows(step: p.Step, scope: Scope) -> list[Row]:
    """The statements of a step, for one row."""
    if isinstance(step, p.Loop):
        within = replace(scope, indent=2, layer="layer")
        ops = [row for op in p.ops_in(step) for row in op_rows(op, within)]
        return [*layer_rows(step, scope), *ops, (f"{INDENT}}}", "")]
    return [row for op in p.ops_in(step) for row in op_rows(op, scope)]


def _ids(ids: Sequence[int]) -> list[str]:
    """Lines of an array; none of an empty one."""
    return list(number_lines(np.array(ids, np.int32))) if ids else []
