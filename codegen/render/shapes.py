# SPDX-License-Identifier: Apache-2.0
"""The heads and scales of attentions as constants of the generated code: one of each, or where the target attends to
texts and to itself, or attentions differ, one for each pair of caches."""

from __future__ import annotations

import math
from typing import Any

from ..errors import EtchError
from ..ir import program as p
from ..ir import walks
from ..ir.constants import rounded
from ..targets import Target
from .text import constant, float_literal

HEADS = "heads"  # where there is one


def heads_of(program: p.Program) -> dict[str, str]:
    """By the name of a cache what its constants are called by; of others `HEADS`."""
    ops = _attentions(program)
    if program.target_rules is None and len({(op.shape, op.score_scale) for op in ops}) == 1:
        return {}
    found: dict[str, str] = {}
    for op in ops:
        found |= dict.fromkeys((op.keys.name, op.values.name), f"{op.keys.name.removesuffix('keys')}{HEADS}")
    return found


def scale_of(heads: str) -> str:
    """The name of the scale that belongs to the heads."""
    return f"{heads.removesuffix(HEADS)}score_scale"


def shape_values(program: p.Program, target: Target) -> dict[str, Any]:
    """The constants, a shape and a scale each. EtchError where attentions differ in what there is one constant for."""
    names = heads_of(program)
    found: dict[str, set[tuple[Any, ...]]] = {}
    for op in _attentions(program):
        key = op.shape, op.score_scale, op.kind, op.keys.rows == "steps"
        found.setdefault(names.get(op.keys.name, HEADS), set()).add(key)
    differing = next((of for of in found.values() if len(of) != 1), None)
    if differing is not None:
        count = len(_attentions(program))
        raise EtchError("attention-not-supported", "render", f"{count} attentions of different shapes or scales")
    searches = program.target_rules is not None and program.target_rules.search.beams > 1
    shapes = []
    for name, (of,) in found.items():
        shape, scale, kind, of_steps = of
        shapes.append(_values(name, shape, scale, kind, of_steps, target, searches))
    return {"shapes": shapes}


def _values(
    heads: str, shape: p.HeadShape, scale: Any, kind: p.Kind, of_steps: bool, target: Target, searches: bool
) -> dict[str, Any]:
    beams = of_steps and searches
    usual = scale == rounded(math.log2(math.e) / math.sqrt(shape.width))
    fields: list[tuple[object, str]] = [
        ("kPacking", ""),
        (shape.heads, "heads"),
        (shape.width, "head width"),
        ("kMaxSteps" if of_steps else "kMaxTokens", "rows of keys and values of a text"),
        (target.attention_tile_rows, "query rows at a time"),
    ]
    if shape.key_heads != shape.heads or beams:
        fields.append((shape.key_heads, "heads of keys"))
    if beams:
        fields.append(("kBeams * kRoom", "rows that the caches have room for"))
    return {
        "constant": constant(heads),
        "fields": fields,
        "scale_constant": constant(scale_of(heads)),
        "score_scale": float_literal(scale),
        "score_scale_of": f"log2(e) / sqrt({shape.width})" if usual else "log2(e) times the model's scale",
    }


def _attentions(program: p.Program) -> list[p.Attention]:
    return [op for op in walks.ops_of(program) if isinstance(op, p.Attention)]
