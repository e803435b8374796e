# SPDX-License-Identifier: Apache-2.0
"""Small random graphs that write: a target that begins with the text, and one that attends to it."""

from __future__ import annotations

from collections.abc import Callable

from graph_builder import HEADS, INNER, MAX_TOKENS, SEGMENTS, VOCABULARY, WIDTH, Builder

from codegen.ir import graph as g
from codegen.tasks.generation import Generation

MAX_TARGET = 9
END = 3
_ATTENTION = ("query", "key", "value", "context")


def _graph(
    body: tuple[g.Node, ...], repeat: tuple[g.Node, ...], widths: dict[str, int], begin: tuple[int, ...]
) -> g.Graph:
    return g.Graph(
        {"hidden": WIDTH, "normed": WIDTH, "inner": INNER, "logits": VOCABULARY} | widths,
        body,
        (g.Head(Generation(VOCABULARY, MAX_TARGET), "logits"),),
        VOCABULARY,
        SEGMENTS,
        MAX_TOKENS,
        repeat=repeat,
        target=g.Target(VOCABULARY, MAX_TARGET, begin, END),
    )


def _step_embedding(b: Builder, out: str, positions: int) -> g.Embed:
    words, places = b.parameter(f"{out}_words", VOCABULARY, WIDTH), b.parameter(f"{out}_places", positions, WIDTH)
    return g.Embed((g.Term(words, "ids"), g.Term(places, "positions")), out)


def decoder_only(layers: int = 2) -> g.Graph:
    """GPT-2's shape."""
    b = Builder()
    layer = b.inside(layers).pre_layer(g.Attention(*_ATTENTION, HEADS, mask="causal"))
    repeat = (
        _step_embedding(b, "hidden", MAX_TOKENS + MAX_TARGET - 1),
        g.Layers("layer", layers, layer),
        b.norm("final_norm", "hidden"),
        b.linear("logits", "hidden", "logits", WIDTH, VOCABULARY),
    )
    return _graph((), repeat, dict.fromkeys(_ATTENTION, WIDTH), ())


def encoder_decoder(layers: int = 3) -> g.Graph:
    """BART's, with another number of layers in its encoder; the target begins with two tokens."""
    b = Builder()
    inside = b.inside(layers)
    names = {of: tuple(f"{of}_{what}" for what in _ATTENTION) for of in ("self", "cross")}

    def attention(of: str, source: str, mask: g.Mask) -> tuple[g.Op, ...]:
        query, key, value, context = names[of]
        return (
            inside.linear(query, "target", query),
            inside.linear(key, source, key),
            inside.linear(value, source, value),
            g.Attention(query, key, value, context, HEADS, mask=mask),
            inside.linear(f"{of}_output", context, "target", residual="target"),
            inside.norm(f"{of}_norm", "target"),
        )

    body = (b.embed("hidden"), g.Layers("encoder_layer", 2, b.inside(2).post_layer()))
    repeat = (
        _step_embedding(b, "target", MAX_TARGET + 1),
        g.Layers(
            "decoder_layer",
            layers,
            (
                *attention("self", "target", "causal"),
                *attention("cross", "hidden", "none"),
                inside.linear("target_inner", "target", "target_inner", WIDTH, INNER, "relu"),
                inside.linear("target_output", "target_inner", "target", INNER, WIDTH, residual="target"),
            ),
        ),
        b.linear("logits", "target", "logits", WIDTH, VOCABULARY),
    )
    widths = dict.fromkeys((*_ATTENTION, "target", *names["self"], *names["cross"]), WIDTH) | {"target_inner": INNER}
    return _graph(body, repeat, widths, (7, 1))


GENERATORS: dict[str, Callable[[], g.Graph]] = {
    "decoder only": decoder_only,
    "decoder only, one layer": lambda: decoder_only(1),
    "encoder and decoder": encoder_decoder,
    "encoder and decoder, one layer": lambda: encoder_decoder(1),
}
