# SPDX-License-Identifier: Apache-2.0
"""Small graphs whose layers attend in each way that there is: masks, distances, turned heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from graph_builder import HEADS, LAYERS, MAX_TOKENS, WIDTH, Builder, Made, graph

from codegen.ir import graph as g


def _with_attention(attention: g.Attention, kv: int = WIDTH, before: tuple[g.Op, ...] = ()) -> g.Graph:
    b = Builder()
    layer = b.inside(LAYERS).pre_layer(attention, kv, "rms")
    at = next(i for i, op in enumerate(layer) if isinstance(op, g.Attention))
    layers = g.Layers("layer", LAYERS, (*layer[:at], *before, *layer[at:]))
    return graph((b.embed("hidden"), layers, g.Pool("first", "hidden", "result")), "result", key=kv, value=kv)


def biased() -> g.Graph:
    values = np.random.default_rng(3).standard_normal((HEADS, 2 * MAX_TOKENS - 1)).astype(np.float32)
    bias = g.Parameter("position_bias", (Made("position_bias", values),), common=True)
    return _with_attention(g.Attention("query", "key", "value", "context", HEADS, bias=bias))


def capped() -> g.Graph:
    """Scores that a tanh bounds under a mask, and rows that one does."""
    made = _with_attention(g.Attention("query", "key", "value", "context", HEADS, mask="causal", cap=0.8))
    *body, pool = made.body
    return replace(made, body=(*body, g.Cap("hidden", 1.5), pool))


def disentangled(keys: bool = True, queries: bool = True) -> g.Graph:
    """Far distances share a row, those of one direction another one."""
    rows = 13
    b = Builder(LAYERS, random=np.random.default_rng(4))
    by_distance = tuple(min(max(d, -5), 7) + 5 for d in range(1 - MAX_TOKENS, MAX_TOKENS))
    attention = g.Attention(
        *("query", "key", "value", "context", HEADS),
        scale=0.2,
        relative_keys=b.parameter("relative_keys", rows, WIDTH) if keys else None,
        relative_queries=b.parameter("relative_queries", rows, WIDTH) if queries else None,
        relative_rows=by_distance,
    )
    return _with_attention(attention)


def turned() -> g.Graph:
    """Rotary positions, queries in groups of two."""
    angles = np.outer(np.arange(MAX_TOKENS), [1.0, 0.1])
    tables = [
        (g.Parameter(name, (Made(name, function(angles).astype(np.float32)),), common=True),)
        for name, function in (("cosines", np.cos), ("sines", np.sin))
    ]
    before = (g.Rotary(*tables, 4, "query"), g.Rotary(*tables, 2, "key"))
    return _with_attention(g.Attention("query", "key", "value", "context", 4, key_heads=2), WIDTH // 2, before)


def alternating() -> g.Graph:
    """Layers that see all keys and layers that see those nearby, turned by other angles."""
    tables = [
        tuple(
            g.Parameter(f"{of}_{name}", (Made(name, function(angles).astype(np.float32)),), common=True)
            for of, angles in (
                ("far", np.outer(np.arange(MAX_TOKENS), [1.0, 0.1])),
                ("near", np.outer(np.arange(MAX_TOKENS), [0.7, 0.3])),
            )
        )
        for name, function in (("cosines", np.cos), ("sines", np.sin))
    ]
    table = g.ByLayer((0, 1, 0))
    turned = tuple(g.Rotary(*tables, HEADS, value, table) for value in ("query", "key"))
    mask, window = g.ByLayer(("none", "window", "none")), g.ByLayer((None, 3, None))
    attention = g.Attention("query", "key", "value", "context", HEADS, mask=mask, window=window)  # type: ignore[arg-type]
    return _with_attention(attention, before=turned)


def sinks() -> g.Graph:
    """A score without a value in each head, in layers that see all keys so far, and in one with a window."""
    values = 2 * np.random.default_rng(5).standard_normal((LAYERS, HEADS)).astype(np.float32)
    sink = g.Parameter("sinks", tuple(Made(f"sinks {i}", of_layer) for i, of_layer in enumerate(values)))
    mask, window = g.ByLayer(("causal", "past", "causal")), g.ByLayer((None, 3, None))
    return _with_attention(
        g.Attention("query", "key", "value", "context", HEADS, mask=mask, window=window, sinks=sink)  # type: ignore[arg-type]
    )


ATTENDING: dict[str, Callable[[], g.Graph]] = {
    "biased scores": biased,
    "capped scores": capped,
    "disentangled scores": disentangled,
    "relative keys": lambda: disentangled(queries=False),
    "relative queries": lambda: disentangled(keys=False),
    "rotary, grouped queries": turned,
    "alternating layers": alternating,
    "sinks": sinks,
    "causal": lambda: _with_attention(g.Attention("query", "key", "value", "context", HEADS, mask="causal")),
    "window": lambda: _with_attention(g.Attention("query", "key", "value", "context", HEADS, mask="window", window=3)),
    "past": lambda: _with_attention(g.Attention("query", "key", "value", "context", HEADS, mask="past", window=3)),
}
