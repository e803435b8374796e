# SPDX-License-Identifier: Apache-2.0
"""Parts of small graphs with random weights, which tests put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from codegen.ir import graph as g
from codegen.ir.global_rows import Before, Behind, GlobalRows
from codegen.ir.parameter import F32Array
from codegen.tasks.embedding import Embedding

VOCABULARY, SEGMENTS, MAX_TOKENS = 45, 2, 21  # entries, as many as the tiny checkpoints have pieces
WIDTH, HEADS, INNER, LAYERS = 24, 2, 40, 3
MASK = 5  # of which some texts of the tests have several


@dataclass(frozen=True)
class Made:
    """An array that no file holds."""

    name: str
    values: F32Array
    file: str = "made"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape


@dataclass
class Builder:
    """Ops with random weights; a name is used once."""

    layers: int | None = None  # inside Layers: how many arrays a weight has
    of_layer: tuple[int, ...] = ()
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def inside(self, layers: int, of_layer: tuple[int, ...] = ()) -> Builder:
        return replace(self, layers=layers, of_layer=of_layer)

    def parameter(self, name: str, *shape: int, size: float = 1.0, around: float = 0.0) -> g.Parameter:
        arrays = tuple(
            Made(f"{name}.{i}", (around + size * self.random.standard_normal(shape)).astype(np.float32))
            for i in range(self.layers or 1)
        )
        return g.Parameter(name, arrays, self.of_layer)

    def embed(self, out: str, width: int = WIDTH, first: int = 0, factor: float | None = None) -> g.Embed:
        words = self.parameter(f"{out}_words", VOCABULARY, width)
        positions = self.parameter(f"{out}_positions", MAX_TOKENS + first, width)
        segments = self.parameter(f"{out}_segments", SEGMENTS, width)
        return g.Embed(
            (
                g.Term(words, "ids", factor=factor),
                g.Term(segments, "segments"),
                g.Term(positions, "positions", first=first),
            ),
            out,
        )

    def linear(
        self,
        name: str,
        value: str,
        out: str,
        inputs: int = WIDTH,
        outputs: int = WIDTH,
        activation: str = "none",
        residual: str | None = None,
        bias: bool = True,
        exact: bool = False,
    ) -> g.Linear:
        weight = self.parameter(f"{name}_weight", outputs, inputs, size=inputs**-0.5)
        return g.Linear(
            name,
            weight,
            self.parameter(f"{name}_bias", outputs, size=0.1) if bias else None,
            value,
            out,
            activation,
            residual,
            exact,
        )

    def norm(self, name: str, value: str, out: str | None = None, kind: str = "layer", beta: bool = True) -> g.Norm:
        gamma = self.parameter(f"{name}_gamma", WIDTH, size=0.1, around=1.0)
        with_beta = self.parameter(f"{name}_beta", WIDTH, size=0.1) if beta and kind != "rms" else None
        epsilon = None if kind == "affine" else 1e-6
        return g.Norm(name, gamma, with_beta, epsilon, value, out or value, kind)  # type: ignore[arg-type]

    def projections(self, source: str, memory: str | None = None, kv: int = WIDTH) -> tuple[g.Linear, ...]:
        return (
            self.linear("query", source, "query"),
            self.linear("key", memory or source, "key", outputs=kv),
            self.linear("value", memory or source, "value", outputs=kv),
        )

    def feed_forward(self, source: str, out: str) -> tuple[g.Op, ...]:
        return (
            self.linear("intermediate", source, "inner", WIDTH, INNER, "gelu"),
            self.linear("output", "inner", out, INNER, WIDTH, residual=out),
        )

    def post_layer(self) -> tuple[g.Op, ...]:
        """BERT's."""
        return (
            *self.projections("hidden"),
            g.Attention("query", "key", "value", "context", HEADS),
            self.linear("attention_output", "context", "hidden", residual="hidden"),
            self.norm("attention_norm", "hidden"),
            *self.feed_forward("hidden", "hidden"),
            self.norm("output_norm", "hidden"),
        )

    def pre_layer(self, attention: g.Attention | None = None, kv: int = WIDTH, kind: str = "layer") -> tuple[g.Op, ...]:
        """Norms before attention and feed-forward."""
        return (
            self.norm("attention_norm", "hidden", "normed", kind),
            *self.projections("normed", kv=kv),
            attention or g.Attention("query", "key", "value", "context", HEADS),
            self.linear("attention_output", "context", "hidden", residual="hidden"),
            self.norm("output_norm", "hidden", "normed", kind),
            *self.feed_forward("normed", "hidden"),
        )

    def sandwiched_layer(self, mask: g.Mask = "none") -> tuple[g.Op, ...]:
        """Norms before each block and behind it, before what came in is added."""
        return (
            self.norm("attention_norm", "hidden", "normed", "rms"),
            *self.projections("normed"),
            g.Attention("query", "key", "value", "context", HEADS, mask=mask),
            self.linear("attention_output", "context", "block"),
            self.norm("attention_output_norm", "block", kind="rms"),
            g.Add("hidden", "block", "hidden"),
            self.norm("inner_norm", "hidden", "normed", "rms"),
            self.linear("intermediate", "normed", "inner", WIDTH, INNER, "gelu"),
            self.linear("output", "inner", "block", INNER, WIDTH),
            self.norm("output_norm", "block", kind="rms"),
            g.Add("block", "hidden", "hidden"),
        )


def graph(body: tuple[g.Node, ...], *results: str, **widths: int) -> g.Graph:
    """Embeddings of the values named."""
    usual = dict.fromkeys(
        ("hidden", "normed", "query", "key", "value", "context", "block", "memory", "first", *results), WIDTH
    )
    wide = usual | {"inner": INNER} | widths
    heads = tuple(g.Head(Embedding(wide[name]), name) for name in results)
    return g.Graph(wide, body, heads, VOCABULARY, SEGMENTS, MAX_TOKENS)


def seeing_all(rows: GlobalRows, pooling: g.Pooling) -> g.Graph:
    """Rows that all see beside a window, and that see all by projections of their own."""
    b = Builder()
    inside = b.inside(LAYERS)
    names = ("global_query", "global_key", "global_value")
    query, key, value = (inside.linear(name, "hidden", name) for name in names)
    layer = inside.post_layer()
    at = next(i for i, op in enumerate(layer) if isinstance(op, g.Attention))
    window = replace(layer[at], mask="window", window=3, global_rows=rows)
    of_rows = g.Attention(*names, "context", HEADS, only=rows, others="context")
    body = (*layer[:at], window, replace(query, only=rows), key, value, of_rows, *layer[at + 1 :])
    layers = g.Layers("layer", LAYERS, body)
    return graph(
        (b.embed("hidden"), layers, g.Pool(pooling, "hidden", "result")), "result", **dict.fromkeys(names, WIDTH)
    )


# Global rows of each kind.
SEEING_ALL: dict[str, Callable[[], g.Graph]] = {
    "a global row": lambda: seeing_all(1, "first"),
    "global rows": lambda: seeing_all(18, "mean"),
    "global rows before an id": lambda: seeing_all(Before(MASK), "first"),
    "global rows behind an id": lambda: seeing_all(Behind(MASK), "first"),
}
