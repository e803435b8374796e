# SPDX-License-Identifier: Apache-2.0
"""Whether global rows are sound: ops that compute them alone, and what reads that."""

from __future__ import annotations

from . import graph as g
from . import program as p
from . import walks
from .check_operands import refuse
from .global_rows import GlobalRows
from .op import reads, writes
from .unsound import unsound


def check_linear(op: g.Linear, vocabulary: int, in_layers: bool) -> None:
    """EtchError where a linear in layers or outside them cannot have just these rows."""
    if op.only is not None and (_are_none(op.only, vocabulary) or not in_layers or op.residual is not None):
        raise unsound(f"{op.name}: only {op.only} rows, of linears in layers without a residual")


def check_attention(op: g.Attention, vocabulary: int, in_layers: bool) -> None:
    """The same of rows that are seen beside a window, and of those that see all."""
    fits = in_layers and op.bias is None and not op.relative_rows
    if op.global_rows != 0 and (_are_none(op.global_rows, vocabulary) or op.mask != "window" or not fits):
        raise unsound(f"{op.global_rows} rows are seen beside mask {op.mask}: with a window in layers, and no bias")
    if (op.only is None) != (op.others is None):
        raise unsound(f"only {op.only} rows are computed, and those of '{op.others}' stay: one asks for the other")
    if op.only is None:
        return
    if op.others != op.out:
        raise unsound(f"'{op.out}': the rows that stay are those of '{op.others}'")
    if _are_none(op.only, vocabulary) or op.mask != "none" or not fits:
        raise unsound(f"only {op.only} rows with mask {op.mask}: in layers they see all, and there is no bias")


def _are_none(rows: GlobalRows, vocabulary: int) -> bool:
    return rows < 1 if isinstance(rows, int) else not 0 <= rows.id < vocabulary


def check_blocks(blocks: p.Blocks) -> None:
    """EtchError where a block of a program reads other rows of what holds global ones only."""
    kinds = {only for op in blocks.body if (only := walks.only_rows(op)) is not None}
    if len(kinds) > 1:
        raise refuse(f"{len(kinds)} kinds of global rows in a block")
    partial: set[p.Buffer] = set()
    for op in blocks.body:
        only = walks.only_rows(op) is not None
        for buffer in reads(op):
            if not only and buffer in partial:
                raise refuse(f"{type(op).__name__} reads every row of '{buffer.name}', which holds global rows only")
        kept = {buffer for buffer in writes(op) if only and buffer not in reads(op)}
        partial = (partial - set(writes(op))) | kept
