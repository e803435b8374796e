# SPDX-License-Identifier: Apache-2.0
"""The pass of a token in a generative model: read() has what appends to the caches, choose() what only the next token
needs, project() the logits of some entries of the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jinja2 import Environment

from ..errors import EtchError
from ..ir import program as p
from ..ir import walks
from ..ir.constants import powers
from ..ir.op import writes
from ..ir.search import Restrictions, Sampling, Search
from ..ir.stage import Stage
from ..memory.plan import slot_rows
from .embeddings import embedding_names
from .forward import INDENT, Line, layer_lines, op_lines
from .scope import Scope
from .scores import soft_cap
from .shapes import heads_of
from .text import annotated, constant, float_literal, number_lines

_LENGTHS = 6  # a line


def target_values(program: p.Program) -> dict[str, Any]:
    """What every template may say of a target; where there is none, that there is none."""
    rules = program.target_rules
    if rules is None:
        return {"writes": False}
    never = sorted(set(rules.never))
    attentions = [op for op in walks.ops_in(_repeat(program)) if isinstance(op, p.Attention)]
    return {
        "writes": True,
        "max_target": rules.max_tokens,
        "attends_to_text": any(op.keys.rows == "tokens" for op in attentions),
        "begin": _ids(rules.begin),
        "begin_count": len(rules.begin),
        "never": _ids(never),
        "never_count": len(never),
        "ends": ", ".join(map(str, rules.ends)),
        "end_count": len(rules.ends),
        "forced_end": "true" if rules.forced_end else "false",
        "empty": -1 if rules.empty is None else rules.empty,
        "all_logits": "true" if rules.all_logits else "false",
        "renormalize": "true" if rules.search.renormalize else "false",
        "least_tokens": rules.least_tokens,
        **_restriction_values(rules.restrictions),
        **_sampling_values(rules.sampling or replace(Sampling(), temperature=0.0)),
        "beams": rules.search.beams,
        **(_search_values(program, rules.search) if rules.search.beams > 1 else {}),
    }


def _restriction_values(restrictions: Restrictions) -> dict[str, Any]:
    """What may be written behind what is there."""
    return {
        "restrictions": bool(restrictions),
        "penalty": float_literal(np.float32(restrictions.repetition_penalty)),
        "no_repeat": restrictions.no_repeat,
        "bad_words": _ids([part for word in restrictions.words for part in (len(word), *word)]),
        "word_count": len(restrictions.words),
        "not_first": _ids(restrictions.not_first),
        "not_first_count": len(restrictions.not_first),
    }


def _sampling_values(sampling: Sampling) -> dict[str, Any]:
    """How tokens are drawn, 0 degrees where they are not."""
    return {
        "temperature": float_literal(np.float32(sampling.temperature)),
        "top_k": sampling.top_k,
        "top_p": float_literal(np.float32(sampling.top_p)),
    }


def _search_values(program: p.Program, search: Search) -> dict[str, Any]:
    """How the model searches."""
    assert program.target_rules is not None
    stopping = "at_once" if search.early_stopping is True else "estimate"
    if search.early_stopping == "never" and search.length_penalty > 0:
        stopping = "longest"
    counted = program.target_rules.counted
    divisors = powers(program.target_rules.max_tokens + counted, search.length_penalty)[counted:]
    lengths = [float_literal(value) for value in divisors]
    return {
        "stopping": stopping,
        "count": f"(count + {counted})" if counted else "count",
        "length_penalty": f"{search.length_penalty:g}",
        "lengths": [", ".join(lengths[i : i + _LENGTHS]) + "," for i in range(0, len(lengths), _LENGTHS)],
        "slot_rows": slot_rows(program),
    }


def pass_values(program: p.Program, environment: Environment) -> dict[str, list[str]]:
    """The lines of read(), choose() and project(); none where nothing is written."""
    if program.target_rules is None:
        return {}
    body = _repeat(program).body
    split = max((i for i, step in enumerate(body, 1) if isinstance(step, p.Loop)), default=0)
    cap = body[-1] if isinstance(body[-1], p.Cap) and body[-1].rows == program.output else None
    end = len(body) - (1 if cap is None else 2)
    read, chosen, product = body[:split], body[split:end], body[end]
    if not isinstance(product, p.Linear) or product.out != program.output or product.residual is not None:
        raise EtchError("generation-not-supported", "render", "the last op of a step is the product with a vocabulary")
    if not read or any(isinstance(op, p.PackKeys | p.PackValues) for step in chosen for op in walks.ops_in(step)):
        raise EtchError("generation-not-supported", "render", "keys and values are made by the layers of a step")
    names, sums = heads_of(program), embedding_names(program)
    beams = program.target_rules.search.beams > 1
    scope = Scope(environment, 1, texts="text", step=True, beams=beams, heads=names, embeddings=sums)
    return {
        "read": annotated([line for step in read for line in _lines(step, scope)]),
        "choose": annotated([line for step in chosen for line in _lines(step, scope)]),
        "project": _projection(product, cap, scope),
        "copy": _copies(program, names) if beams else [],
    }


def _projection(op: p.Linear, cap: p.Cap | None, scope: Scope) -> list[str]:
    """The product with `entries` of the vocabulary alone, and what bounds it."""
    kind, weights, out = op.kind.upper(), scope.weights(op.weights), scope.view(op.out)
    rows, logits = f"rows.count, {scope.view(op.input)}.from(rows.first)", f"{{{out}.data, entries.count}}"
    capped = [] if cap is None else [f"{INDENT}run(Cap{{rows.count, {logits}, {soft_cap(cap.limit)}}});"]
    return [
        f"{INDENT}const {kind}Weights part = outputs_of({weights}, kPacking, entries.first, entries.count);",
        f"{INDENT}run(Linear{kind}{{part, {rows}, {logits}}});",
        *capped,
    ]


def _copies(program: p.Program, heads: dict[str, str]) -> list[str]:
    """The ops that copy rows of the caches from beam to beam."""
    kinds = {"keys": "CopyKeys", "values": "CopyValues"}
    caches = {buffer: None for op in walks.ops_in(_repeat(program)) for buffer in writes(op) if buffer.rows in p.KEPT}
    lines = []
    for cache in caches:
        if cache.storage == "state":
            lines.append(f"{INDENT}run(CopyStates{{kRoom, kBeams, {cache.layers}, copies, a.{cache.name}}});")
            continue
        shape, kind = constant(heads[cache.name]), kinds[cache.storage]
        matrices = f"{shape}.key_heads" if cache.layers == 1 else f"{cache.layers} * {shape}.key_heads"
        lines.append(f"{INDENT}run({kind}{{{shape}, {matrices}, copies, a.{cache.name}}});")
    return lines


def _repeat(program: p.Program) -> p.Repeat:
    (repeat,) = (step for step in program.steps if isinstance(step, p.Repeat))
    return repeat


def _lines(step: p.Step, scope: Scope) -> list[Line]:
    """The statements of a step, for one row."""
    return op_lines(step, scope) if isinstance(step, p.Op) else PASS_LINES(step, scope)


# Those of a step of a pass that holds others.
PASS_LINES: Stage[list[Line]] = Stage("render")


@PASS_LINES.on(p.Loop)
def _layers(loop: p.Loop, scope: Scope) -> list[Line]:
    within = replace(scope, indent=2, layer="layer")
    ops = [line for op in walks.ops_in(loop) for line in op_lines(op, within)]
    return [*layer_lines(loop, scope), *ops, (f"{INDENT}}}", "")]


def _ids(ids: Sequence[int]) -> list[str]:
    """Lines of an array; none of an empty one."""
    return list(number_lines(np.array(ids, np.int32))) if ids else []
