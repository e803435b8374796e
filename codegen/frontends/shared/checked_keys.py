# SPDX-License-Identifier: Apache-2.0
"""Keys of config.json that the library reads whatever the family, held against the graph that a family has built."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from ...ir.graph import Attention, ByLayer, Graph, Layers, Node, Op, ops_of
from ...load.config import Config
from ...load.config_keys import unused_keys
from ...load.refusal import shown
from . import parts

IS_CAUSAL = "is_causal"
PAST, ALL = "those so far", "all tokens"  # what the rows of attention see
_OF_THE_PAST = ("causal", "past")


def with_checked_keys(config: Config, graph: Graph, harmless: Set[str]) -> Graph:
    """With a note on keys that nothing has read; refuses those with which the library computes another thing."""
    check_is_causal(config, seen_in(graph))
    return replace(graph, notes=graph.notes + unused_keys(config, harmless))


def seen_in(graph: Graph) -> Set[str]:
    """Of `PAST` and `ALL` those that there are."""
    found: set[str] = set()
    for op, _ in ops_of(graph):
        if isinstance(op, Attention):
            masks = op.mask.values if isinstance(op.mask, ByLayer) else (op.mask,)
            found.update(PAST if mask in _OF_THE_PAST else ALL for mask in masks)
    return found


def check_is_causal(config: Config, seen: Set[str], part: str = "") -> None:
    """Refuses what makes the masks of the library other ones than `seen`; `part` is that of a configuration. Null makes
    no encoder causal, and of a decoder some masks, by how it computes attention."""
    value = config.values.get(IS_CAUSAL, PAST not in seen)
    neutral = seen <= {PAST} if value is True else PAST not in seen and (value is None or value is False)
    if IS_CAUSAL in config and not neutral:
        rows = " or ".join(sorted(seen)) or "nothing"
        message = f"'{part}{IS_CAUSAL}': {shown(value)} is not supported: rows of this model see {rows}"
        raise parts.refuse("config-not-supported", message)


def seeing_all(body: tuple[Node, ...]) -> tuple[Node, ...]:
    """With rows that see all tokens, where they saw those so far: as the library has a decoder that is not causal. What
    has windows, or adds something by distance, stays."""
    return tuple(
        replace(node, body=tuple(map(_seeing_all, node.body))) if isinstance(node, Layers) else _seeing_all(node)
        for node in body
    )


def _seeing_all(op: Op) -> Op:
    if isinstance(op, Attention) and op.mask == "causal" and op.bias is None:
        return replace(op, mask="none")
    return op
