# SPDX-License-Identifier: Apache-2.0
"""The terms of embedding sums as constants of the generated code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import program as p
from ..ir import walks
from .text import broken, constant, float_literal, named

EMBEDDINGS = "embeddings"  # where there is one sum


def embedding_names(program: p.Program) -> dict[str, str]:
    """By what an embedding sum writes, what its terms are called; of the only one of a text `EMBEDDINGS`."""
    sums = [op for op in walks.ops_of(program) if isinstance(op, p.EmbeddingSum)]
    if program.target_rules is None and len(sums) == 1:
        return {}
    return {op.out.name: f"{op.out.name}_{EMBEDDINGS}" for op in sums}


def embedding_values(program: p.Program) -> list[dict[str, Any]]:
    """Of each embedding sum the terms, in the order in which they are added."""
    names = embedding_names(program)
    return [
        {
            "constant": constant(names.get(op.out.name, EMBEDDINGS)),
            "type": embedding_type(op),
            "lines": [line for term in op.terms for line in _lines(term, any(map(_tied, op.terms)))],
        }
        for op in walks.ops_of(program)
        if isinstance(op, p.EmbeddingSum)
    ]


def embedding_type(op: p.EmbeddingSum | p.EmbeddingMean) -> str:
    """The struct that it is a sum or a mean of."""
    kind = "S8Embedding" if op.kind == "s8" else "F32Embedding"
    return f"Tied{kind}" if any(map(_tied, op.terms)) else kind


def _tied(term: p.EmbeddingTerm) -> bool:
    (stored,) = term.table.stored
    assert isinstance(stored, p.EmbeddingWeights)
    return stored.tied


def _lines(term: p.EmbeddingTerm, among_tied: bool) -> list[str]:
    *before, last = broken(f"    {{{_term(term, among_tied)}}},")
    return [*before, f"{last}{_comment(term)}"]


def _term(term: p.EmbeddingTerm, among_tied: bool) -> str:
    """The values of an EmbeddingTerm; those behind `by` have defaults."""
    by = {"ids": "id", "segments": "segment", "positions": "position", "hashes": "hashes"}[term.by]
    table = constant(term.table.name)
    values = [f"{{{table}}}" if among_tied and not _tied(term) else table, f"EmbeddedBy::{by}"]
    if term.hashes is not None:
        (stored,) = term.table.stored
        assert isinstance(stored, p.EmbeddingWeights)
        functions = f"{named('count', term.hashes)}, {named('buckets', stored.matrix.shape[0] // term.hashes)}"
        usual = {"first": 0, "factor": "1.0f", "shift": 0, "outside": "kNoEntry", "dropped": "kNoEntry"}
        values += [named(field, value) for field, value in usual.items()]
        return ", ".join((*values, named("hashes", f"{{{functions}}}")))
    drops = term.dropped is not None
    if term.first or term.factor is not None or term.shift or drops:
        values.append(named("first", term.first))
    if term.factor is not None or term.shift or drops:
        factor = float_literal(np.float32(1) if term.factor is None else term.factor)
        values.append(named("factor", factor))
    if term.shift or drops:
        values.append(named("shift", term.shift))
    if term.outside is not None:
        values.append(named("outside", term.outside))
    if drops:
        values += [named("outside", "kNoEntry"), named("dropped", term.dropped)]
    return ", ".join(values)


def _comment(term: p.EmbeddingTerm) -> str:
    """Whose id is looked up, where it is not the token's own, or which tokens have no entry."""
    if term.dropped is not None:
        return f"  // of tokens that are not {term.dropped}, larger where some are"
    if not term.shift:
        return ""
    side, nothing = ("before" if term.shift < 0 else "behind"), ("zeros" if term.outside is None else term.outside)
    return f"  // of the token {abs(term.shift)} {side}, {nothing} where there is none"
