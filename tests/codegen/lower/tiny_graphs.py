# SPDX-License-Identifier: Apache-2.0
"""Small random graphs of many forms, for whatever comes before a checkpoint has a family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from attending import ATTENDING
from graph_builder import HEADS, INNER, LAYERS, MASK, MAX_TOKENS, SEEING_ALL, VOCABULARY, WIDTH, Builder, Made, graph
from grouped_rows import by_a_token, grouped, spread
from mixtures import chosen_by_bias, mixed, mixed_alone
from mixtures import shared as with_a_shared_expert
from rows_before import convolved, convolved_alone, convolved_around, recurrent, transformed

from codegen.ir import graph as g
from codegen.ir.experts import ExpertShares
from codegen.ir.normed import normed_of, with_factors
from codegen.ir.tokenizer_spec import AddedToken
from codegen.tasks.fill_mask import FillMask


def post(pooling: g.Pooling = "first", tail: Callable[[Builder], tuple[g.Op, ...]] = lambda b: ()) -> g.Graph:
    b = Builder()
    return graph(
        (
            b.embed("hidden"),
            b.norm("embedding_norm", "hidden"),
            g.Layers("layer", LAYERS, b.inside(LAYERS).post_layer()),
            *tail(b),
            g.Pool(pooling, "hidden", "pooled"),
            b.linear("head", "pooled", "result", exact=True),
        ),
        "result",
        pooled=WIDTH,
    )


def with_dense_head() -> g.Graph:
    """One that begins with a linear of the recipe, on the first row."""
    b = Builder()
    body = post("first").body[:-1]
    dense = b.linear("dense", "pooled", "dense", activation="tanh")
    return graph((*body, dense, b.linear("head", "dense", "result", exact=True)), "result", pooled=WIDTH, dense=WIDTH)


def second_norms() -> g.Graph:
    """The same with factors: other rows for linears than for what else reads those of norms."""
    made = with_dense_head()
    random = np.random.default_rng(8)
    channels = [each for normed in normed_of(made) for each in normed.channels]
    powers = [random.integers(-1, 2, WIDTH) for _ in channels]
    exponents = {stored: of for each, of in zip(channels, powers, strict=True) for stored in each}
    return with_factors(made, normed_of(made), exponents)


def pre(pooling: g.Pooling, final_norm: bool = True, kind: str = "layer") -> g.Graph:
    b = Builder()
    norm = (b.norm("final_norm", "hidden", kind=kind),) if final_norm else ()
    layers = g.Layers("layer", LAYERS, b.inside(LAYERS).pre_layer(kind=kind))
    return graph((b.embed("hidden", first=2), layers, *norm, g.Pool(pooling, "hidden", "result")), "result")


def two_heads() -> g.Graph:
    """One wants the first row, the other all of them."""
    b = Builder()
    return graph(
        (
            b.embed("hidden"),
            g.Layers("layer", LAYERS, b.inside(LAYERS).post_layer()),
            g.Pool("first", "hidden", "first"),
            b.linear("head", "first", "classified", activation="tanh"),
            g.Pool("mean", "hidden", "embedded"),
            g.Normalize("embedded"),
        ),
        *("classified", "embedded"),
    )


def cross() -> g.Graph:
    """Keys and values come from rows that the layers do not change."""
    b = Builder()
    inside = b.inside(LAYERS)
    return graph(
        (
            b.embed("memory"),
            b.norm("memory_norm", "memory"),
            b.linear("start", "memory", "hidden"),
            g.Layers(
                "layer",
                LAYERS,
                (
                    *inside.projections("hidden", "memory"),
                    g.Attention("query", "key", "value", "context", HEADS),
                    inside.linear("attention_output", "context", "hidden", residual="hidden"),
                    inside.norm("output_norm", "hidden"),
                ),
            ),
            g.Pool("mean", "hidden", "result"),
        ),
        "result",
    )


def projected() -> g.Graph:
    """A narrow embedding, made wider before the layers; the row of a text is that of its first token of an id."""
    b = Builder()
    return graph(
        (
            b.embed("narrow", width=10, factor=3.5),
            b.linear("projection", "narrow", "hidden", 10),
            b.norm("embedding_norm", "hidden"),
            g.Layers("layer", 2, b.inside(2).post_layer()),
            g.Pool("last", "hidden", "result", end=3),
        ),
        *("result",),
        narrow=10,
    )


def neighbors() -> g.Graph:
    """Rows of the words before and behind a token, once in a sum and once alone."""
    b = Builder()
    words, places = b.parameter("words", VOCABULARY, WIDTH), b.parameter("places", MAX_TOKENS, WIDTH)
    around = (
        g.Term(words, "ids", shift=1),
        g.Term(words, "ids", factor=2.5, shift=-2, outside=7),
        g.Term(places, "positions"),
    )
    return graph(
        (
            g.Embed(around, "hidden"),
            g.Embed((g.Term(words, "ids", factor=-0.5, shift=-1),), "memory"),
            b.linear("start", "memory", "hidden", residual="hidden"),
            g.Layers("layer", 2, b.inside(2).post_layer()),
            g.Pool("mean", "hidden", "result"),
        ),
        "result",
    )


def dropped() -> g.Graph:
    """Words of which some tokens have no entry, and positions of all."""
    b = Builder()
    words, places = b.parameter("words", VOCABULARY, WIDTH), b.parameter("places", MAX_TOKENS, WIDTH)
    terms = (g.Term(words, "ids", factor=0.88, dropped=35), g.Term(places, "positions"))
    layers = g.Layers("layer", 2, b.inside(2).pre_layer())
    return graph((g.Embed(terms, "hidden"), layers, g.Pool("mean", "hidden", "result")), "result")


def read_in_both(pooling: g.Pooling) -> g.Graph:
    """A decoder of other heads behind an encoder, one token behind it in the same text."""
    b = Builder()
    inside = b.inside(LAYERS)
    embed = b.embed("hidden")
    before = g.Embed((g.Term(embed.terms[0].table, "ids", shift=-1, outside=2),), "target")

    def attention(of: str, source: str, mask: g.Mask) -> tuple[g.Op, ...]:
        names = tuple(f"{of}_{what}" for what in ("query", "key", "value", "context"))
        made = zip(names, ("target", source, source), strict=False)
        return (
            *(inside.linear(name, value, name) for name, value in made),
            g.Attention(*names, 3, mask=mask),
            inside.linear(f"{of}_output", names[-1], "target", residual="target"),
            inside.norm(f"{of}_norm", "target"),
        )

    names = (f"{of}_{what}" for of in ("self", "cross") for what in ("query", "key", "value", "context"))
    return graph(
        (
            embed,
            g.Layers("encoder_layer", 2, b.inside(2).post_layer()),
            before,
            b.norm("target_norm", "target"),
            g.Layers(
                "decoder_layer",
                LAYERS,
                (*attention("self", "target", "causal"), *attention("cross", "hidden", "none")),
            ),
            g.Pool(pooling, "target", "result"),
        ),
        "result",
        **dict.fromkeys(("target", *names), WIDTH),
    )


def shared() -> g.Graph:
    """Six layers of two sets of weights."""
    b = Builder()
    layers = g.Layers("layer", 6, b.inside(2, (0, 0, 0, 1, 1, 1)).post_layer())
    return graph((b.embed("hidden"), layers, g.Pool("max", "hidden", "result")), "result")


def gated() -> g.Graph:
    b = Builder()
    inside = b.inside(2)
    return graph(
        (
            b.embed("hidden"),
            g.Layers(
                "layer",
                2,
                (
                    *inside.projections("hidden"),
                    g.Attention("query", "key", "value", "context", HEADS, scale=0.3),
                    inside.linear("attention_output", "context", "hidden", residual="hidden"),
                    inside.norm("norm", "hidden", beta=False),
                    inside.linear("gate", "hidden", "inner", WIDTH, INNER, "silu", bias=False),
                    inside.linear("up", "hidden", "wide", WIDTH, INNER, bias=False),
                    g.Multiply("inner", "wide", "wide"),
                    inside.linear("down", "wide", "hidden", INNER, WIDTH, residual="hidden"),
                ),
            ),
            g.Pool("mean_sqrt", "hidden", "result"),
        ),
        *("result",),
        wide=INNER,
    )


def trained() -> g.Graph:
    """An activation with numbers of each layer."""
    b = Builder()
    inside = b.inside(2)
    numbers = tuple(Made(f"numbers.{i}", np.array([0.8 + i, 1.3, -1e-6, 0.5 - i], np.float32)) for i in range(2))
    return graph(
        (
            b.embed("hidden"),
            g.Layers(
                "layer",
                2,
                (
                    inside.norm("norm", "hidden", "normed"),
                    inside.linear("intermediate", "normed", "wide", WIDTH, 3 * INNER),
                    g.Xielu("xielu", g.Parameter("xielu_numbers", numbers), "wide"),
                    inside.linear("output", "wide", "hidden", 3 * INNER, WIDTH, residual="hidden"),
                ),
            ),
            g.Pool("first", "hidden", "result"),
        ),
        *("result",),
        wide=3 * INNER,
    )


def sandwiched(pooling: g.Pooling) -> g.Graph:
    b = Builder()
    layers = g.Layers("layer", LAYERS, b.inside(LAYERS).sandwiched_layer())
    return graph((b.embed("hidden"), layers, g.Pool(pooling, "hidden", "result")), "result")


def without_layers() -> g.Graph:
    b = Builder()
    return graph(
        (
            b.embed("hidden"),
            *b.projections("hidden"),
            g.Attention("query", "key", "value", "context", HEADS),
            b.linear("attention_output", "context", "mixed", residual="hidden"),
            g.Pool("mean", "mixed", "result"),
        ),
        *("result",),
        mixed=WIDTH,
    )


def words_alone() -> g.Graph:
    """An embedding of words, and nothing that rows go through."""
    terms = Builder().embed("hidden").terms
    words = tuple(term for term in terms if term.by == "ids")
    return graph((g.Embed(words[:1], "hidden"), g.Pool("mean", "hidden", "result"), g.Normalize("result")), "result")


def poolings() -> g.Graph:
    """Several of the same rows, one behind the other."""
    b = Builder()
    layers = g.Layers("layer", LAYERS, b.inside(LAYERS).post_layer())
    pool = g.Pool("first", "hidden", "pooled", beside=("weighted_mean", "max", "ends"))
    mixed = b.linear("mix", "pooled", "result", 4 * WIDTH)
    return graph((b.embed("hidden"), layers, pool, mixed), "result", pooled=4 * WIDTH)


def tied() -> g.Graph:
    """The embedding's words are the weights of the last linear, too."""
    b = Builder()
    embed = b.embed("hidden", factor=2.5)
    return graph(
        (
            embed,
            g.Layers("layer", 2, b.inside(2).post_layer()),
            g.Pool("first", "hidden", "first"),
            g.Linear("head", embed.terms[0].table, b.parameter("head_bias", VOCABULARY), "first", "result"),
        ),
        "result",
        result=VOCABULARY,
    )


def masked() -> g.Graph:
    """The likeliest word for each token of one id, by the embedding's own table."""
    b = Builder()
    embed = b.embed("hidden")
    task = FillMask(AddedToken("[MASK]", MASK, True, False, False, False, False), 1, ("",) * VOCABULARY)
    made = graph(
        (
            embed,
            g.Layers("layer", 2, b.inside(2).post_layer()),
            g.Masked(MASK, "hidden", "masked"),
            b.linear("transform", "masked", "transformed", activation="gelu"),
            b.norm("transform_norm", "transformed"),
            g.Best("decoder", embed.terms[0].table, b.parameter("decoder_bias", VOCABULARY), 1, "transformed", "best"),
        ),
        masked=WIDTH,
        transformed=WIDTH,
        best=2,
    )
    return replace(made, heads=(g.Head(task, "best"),))


def weighing(pooling: g.WordPooling, twice: bool = False) -> g.Graph:
    """What the rows of a text say of each word, by the embedding's own table."""
    b = Builder()
    embed = b.embed("hidden")
    body = (
        embed,
        g.Layers("layer", 2, b.inside(2).post_layer()),
        b.linear("transform", "hidden", "transformed", activation="gelu"),
        b.norm("transform_norm", "transformed"),
        g.WordWeights(
            *("decoder", embed.terms[0].table, b.parameter("decoder_bias", VOCABULARY), pooling, twice),
            *("transformed", "result"),
        ),
    )
    return graph(body, "result", transformed=WIDTH, result=VOCABULARY)


def _final_norm(b: Builder) -> tuple[g.Op, ...]:
    return (b.norm("final_norm", "hidden"),)


GRAPHS: dict[str, Callable[[], g.Graph]] = {
    **{f"post, {pooling}": (lambda pooling=pooling: post(pooling)) for pooling in ("first", "last", "mean", "max")},
    "post, norm of the first row": lambda: post("first", _final_norm),
    **{f"pre, {pooling}": (lambda pooling=pooling: pre(pooling)) for pooling in ("first", "mean")},
    "pre, no final norm": lambda: pre("first", final_norm=False),
    "pre, affine norms": lambda: pre("mean", kind="affine"),
    "second norms": second_norms,
    "two heads": two_heads,
    "experts, first": lambda: mixed("first", "all", gate=False),
    "experts, mean": lambda: mixed("mean", "chosen", gate=True, top=3, bias=False),
    "one of the experts": lambda: mixed("last", "each", gate=True, top=1),
    "experts behind layers": mixed_alone,
    "experts by a bias": lambda: chosen_by_bias("mean", "each", None),
    "experts by a bias, shares": lambda: chosen_by_bias("first", "each", ExpertShares(added=0.25)),
    "experts by a bias, of all": lambda: chosen_by_bias("last", "all", ExpertShares(least=0.9)),
    "experts, one for all": with_a_shared_expert,
    "cross attention": cross,
    "projected embedding": projected,
    "neighbors": neighbors,
    "dropped": dropped,
    **{f"read in both, {pooling}": (lambda pooling=pooling: read_in_both(pooling)) for pooling in ("first", "last")},
    "shared layers": shared,
    **ATTENDING,
    **SEEING_ALL,
    "gates": gated,
    "a trained activation": trained,
    **{f"convolved, {pooling}": (lambda pooling=pooling: convolved(pooling)) for pooling in ("first", "mean")},
    **{
        f"convolved around, {pooling}": (lambda pooling=pooling: convolved_around(pooling))
        for pooling in ("first", "mean")
    },
    "convolved alone": convolved_alone,
    **{f"transformed, {pooling}": (lambda pooling=pooling: transformed(pooling)) for pooling in ("first", "mean")},
    "grouped": grouped,
    "by a token": by_a_token,
    **{f"grouped and spread, {pooling}": (lambda pooling=pooling: spread(pooling)) for pooling in ("first", "mean")},
    **{
        f"norms behind blocks, {pooling}": (lambda pooling=pooling: sandwiched(pooling))
        for pooling in ("first", "mean")
    },
    "recurrent, one layer": lambda: recurrent(1, 1, 19),
    "recurrent, two directions": lambda: recurrent(2, 1, 33, bias=False),
    "recurrent, three layers": lambda: recurrent(2, 3, 13),
    "no layers": without_layers,
    "words alone": words_alone,
    "poolings": poolings,
    "tied words": tied,
    "masked words": masked,
    "weights of words, max": lambda: weighing("max"),
    "weights of words, sum": lambda: weighing("sum", twice=True),
}
