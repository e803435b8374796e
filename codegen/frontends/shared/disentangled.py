# SPDX-License-Identifier: Apache-2.0
"""Disentangled attention, by content and by relative position (He et al. 2021, arXiv:2006.03654), as the folders of a
DeBERTa describe it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ...ir.graph import Attention, Linear, Norm, Parameter
from ...load.config import Config
from ...load.refusal import shown
from ...load.safetensors import TensorFile
from . import parts
from .relative import embedding_rows, log_bucket, projected

KEYS, QUERIES = "c2p", "p2c"  # what pos_att_type calls content to position, with relative keys, and the reverse
_TABLES = {KEYS: "relative_keys", QUERIES: "relative_queries"}


@dataclass(frozen=True)
class Relative:
    """How scores depend on distances."""

    kinds: tuple[str, ...]  # of KEYS and QUERIES
    terms: int  # by which scores are scaled, whether these are computed or not
    used: bool  # relative_attention
    buckets: int  # 0: every distance is one
    farthest: int

    @property
    def span(self) -> int:
        """Rows of the embedding for one direction."""
        return self.buckets or self.farthest

    def row(self, distance: int) -> int:
        """Of the embedding, for query position - key position."""
        place = log_bucket(distance, self.buckets, self.farthest) if self.buckets else distance
        return min(max(place + self.span, 0), 2 * self.span - 1)


def read_kinds(config: Config) -> list[str]:
    """All that pos_att_type names; in files of the first years it is one text with bars."""
    value = config.values.get("pos_att_type")
    words = [word.strip() for word in value.lower().split("|")] if isinstance(value, str) else value or []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise parts.refuse("config-type", f"'pos_att_type' must be a list of strings, got {shown(value)}")
    return words


def known_kinds(words: list[str]) -> tuple[str, ...]:
    """Those that have a term."""
    return tuple(kind for kind in _TABLES if kind in words)


def farthest_distance(config: Config) -> int:
    """From which on all distances are one."""
    farthest = config.values.get("max_relative_positions", -1)
    if type(farthest) is not int or farthest < 1:
        farthest = config.positive_int("max_position_embeddings", maximum=parts.MAX_WIDTH)
    return farthest


def disentangled(
    tensors: TensorFile,
    embedding: str,
    norm: Norm | None,
    projection: Callable[[str], Linear],
    plain: Attention,
    hidden: int,
    relative: Relative,
    max_tokens: int,
) -> Attention:
    """`plain` with the terms of positions. `embedding` is what the file calls the rows of distances, which go through
    the `norm`; `projection` makes relative keys or queries of `hidden` values of them."""
    if relative.terms > 1:
        plain = replace(plain, scale=1 / math.sqrt(hidden // plain.heads * relative.terms))
    if not relative.used:
        return plain
    rows_of_file = tensors.take(embedding, (2 * relative.span, hidden))
    if not relative.kinds:
        return plain
    # By distance key - query; only what texts of max_tokens can have.
    by_distance = [relative.row(-distance) for distance in range(1 - max_tokens, max_tokens)]
    used = list(dict.fromkeys(by_distance))
    rows = embedding_rows(rows_of_file, used, norm)
    tables: dict[str, Parameter] = {}
    for kind in relative.kinds:
        made, name = projection(kind), _TABLES[kind]
        tables[name] = projected(name, rows, len(used), made.weight, made.bias)
    places = {row: index for index, row in enumerate(used)}
    return replace(
        plain,
        relative_rows=tuple(places[row] for row in by_distance),
        relative_keys=tables.get("relative_keys"),
        relative_queries=tables.get("relative_queries"),
    )
