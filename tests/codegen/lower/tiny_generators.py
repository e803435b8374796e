# SPDX-License-Identifier: Apache-2.0
"""Small random graphs that write: a target that begins with the text, and one that attends to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from graph_builder import HEADS, INNER, MAX_TOKENS, SEGMENTS, VOCABULARY, WIDTH, Builder, Made

from codegen.ir import graph as g
from codegen.ir.program import VOCABULARY_BLOCK
from codegen.tasks.generation import Generation

MAX_TARGET = 9
END = 3
_ATTENTION = ("query", "key", "value", "context")


def _graph(
    body: tuple[g.Node, ...],
    repeat: tuple[g.Node, ...],
    widths: dict[str, int],
    begin: tuple[int, ...],
    vocabulary: int = VOCABULARY,
) -> g.Graph:
    return g.Graph(
        {"hidden": WIDTH, "normed": WIDTH, "inner": INNER, "logits": vocabulary} | widths,
        body,
        (g.Head(Generation(vocabulary, MAX_TARGET), "logits"),),
        VOCABULARY,
        SEGMENTS,
        MAX_TOKENS,
        repeat=repeat,
        target_rules=g.TargetRules(vocabulary, MAX_TARGET, begin, (END,)),
    )


def _step_embedding(b: Builder, out: str, positions: int, vocabulary: int = VOCABULARY) -> g.Embed:
    words, places = b.parameter(f"{out}_words", vocabulary, WIDTH), b.parameter(f"{out}_places", positions, WIDTH)
    return g.Embed((g.Term(words, "ids"), g.Term(places, "positions")), out)


def decoder_only(layers: int = 2) -> g.Graph:
    """GPT-2's shape."""
    b = Builder()
    layer = b.inside(layers).pre_layer(g.Attention(*_ATTENTION, HEADS, mask="causal"))
    return _one_phase(b, layers, layer)


def sandwiched(layers: int = 2) -> g.Graph:
    """Gemma 2's norms, before each block and behind it."""
    b = Builder()
    return _one_phase(b, layers, b.inside(layers).sandwiched_layer("causal"))


def _one_phase(b: Builder, layers: int, layer: tuple[g.Op, ...]) -> g.Graph:
    repeat = (
        _step_embedding(b, "hidden", MAX_TOKENS + MAX_TARGET - 1),
        g.Layers("layer", layers, layer),
        b.norm("final_norm", "hidden"),
        b.linear("logits", "hidden", "logits", WIDTH, VOCABULARY),
    )
    return _graph((), repeat, dict.fromkeys((*_ATTENTION, "block"), WIDTH), ())


def encoder_decoder(layers: int = 3, vocabulary: int = VOCABULARY) -> g.Graph:
    """BART's, with another number of layers in its encoder and `vocabulary` tokens that it may write; the target begins
    with two tokens."""
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
        _step_embedding(b, "target", MAX_TARGET + 1, vocabulary),
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
        b.linear("logits", "target", "logits", WIDTH, vocabulary),
    )
    widths = dict.fromkeys((*_ATTENTION, "target", *names["self"], *names["cross"]), WIDTH) | {"target_inner": INNER}
    return _graph(body, repeat, widths, (7, 1), vocabulary)


def roomier(made: g.Graph, tokens: int) -> g.Graph:
    """The same for texts of so many tokens: rows of positions come again and again."""
    assert made.target_rules is not None

    def longer(term: g.Term, positions: int) -> g.Term:
        if term.by != "positions":
            return term
        (array,) = term.table.arrays
        rows = np.resize(array.values, (positions + term.first, array.shape[1]))
        return replace(term, table=replace(term.table, arrays=(Made(array.name, rows),)))

    def changed(nodes: tuple[g.Node, ...], positions: int) -> tuple[g.Node, ...]:
        return tuple(
            replace(node, terms=tuple(longer(term, positions) for term in node.terms))
            if isinstance(node, g.Embed)
            else node
            for node in nodes
        )

    body, repeat = changed(made.body, tokens), changed(made.repeat, made.target_rules.steps(tokens))
    return replace(made, body=body, repeat=repeat, max_tokens=tokens)


GENERATORS: dict[str, Callable[[], g.Graph]] = {
    "decoder only": decoder_only,
    "decoder only, one layer": lambda: decoder_only(1),
    "decoder only, norms behind blocks": sandwiched,
    "encoder and decoder": encoder_decoder,
    "encoder and decoder, one layer": lambda: encoder_decoder(1),
    "encoder and decoder, many words": lambda: encoder_decoder(1, 2 * VOCABULARY_BLOCK + 77),
}
