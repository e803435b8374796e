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
_WINDOWS = ("sliding_window", "attention_chunk_size")
_WITH_WINDOWS = frozenset({"sliding_attention", "chunked_attention"})


def with_checked_keys(config: Config, graph: Graph, harmless: Set[str]) -> Graph:
    """With a note on keys that nothing has read; refuses those with which the library computes another thing."""
    check_is_causal(config, seen_in(graph))
    check_windows(config, graph, harmless)
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


def check_windows(config: Config, graph: Graph, harmless: Set[str] = frozenset()) -> None:
    """Refuses for a writer a window that nothing has read and that is less than all tokens that it sees: no mask of the
    library has it, but the cache that its `generate` makes by the configuration does."""
    rules, kinds = graph.target_rules, config.values.get("layer_types")
    if rules is None or (isinstance(kinds, list) and _WITH_WINDOWS.isdisjoint(map(str, kinds))):
        return
    # Of a text behind which a model does not write, the cache has one token less than the window.
    most = max(rules.steps(graph.max_tokens), graph.max_tokens + 1 if graph.body else 0)
    unread = config.values.not_asked()
    for key in _WINDOWS:
        window = unread.get(key)
        if type(window) is int and window < most and key not in harmless:
            message = f"'{key}': {window}, which only the library's cache knows, is less than {most} tokens"
            raise parts.refuse("config-not-supported", f"{message} that are read and written")


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
