# SPDX-License-Identifier: Apache-2.0
"""The statements of ops between rows of tokens and those of groups of them: in blocks of what they write, with all rows
of what they read."""

from __future__ import annotations

from ..ir import program as p
from .scope import Scope
from .statements import RENDER, texts_of_level
from .text import named


@RENDER.on(p.GroupRows)
def _group_rows(op: p.GroupRows, scope: Scope) -> str:
    return f"run(GroupRows{{{named('rate', op.rate)}, {_texts()}, a.{op.input.name}, {scope.view(op.out)}}});"


@RENDER.on(p.FirstRow)
def _first_row(op: p.FirstRow, scope: Scope) -> str:
    return f"run(FirstRow{{{_texts()}, a.{op.input.name}, {scope.view(op.rows)}}});"


@RENDER.on(p.SpreadRows)
def _spread_rows(op: p.SpreadRows, scope: Scope) -> str:
    shape = ", ".join(named(name, getattr(op, name)) for name in ("rate", "taps", "before"))
    values = f"{shape}, {_texts()}, a.{op.input.name}, a.{op.groups.name}, {scope.view(op.out)}"
    return f"run(SpreadRows{{{values}}});"


@RENDER.on(p.RowOfToken)
def _row_of_token(op: p.RowOfToken, scope: Scope) -> str:
    return f"run(RowOfToken{{{named('id', op.id)}, block, texts, a.ids, a.{op.input.name}, {scope.view(op.out)}}});"


def _texts() -> str:
    return f"block, texts, {texts_of_level(1)}"
