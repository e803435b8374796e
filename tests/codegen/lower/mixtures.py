# SPDX-License-Identifier: Apache-2.0
"""Small random graphs whose rows go through some of several experts."""

from __future__ import annotations

from dataclasses import replace

from graph_builder import INNER, WIDTH, Builder, graph

from codegen.ir import graph as g
from codegen.ir.clamped_gate import ClampedGate
from codegen.ir.experts import ExpertLinear, ExpertShares, ExpertWeighing

EXPERTS = 5


def experts(b: Builder, weighing: ExpertWeighing, *, gate: bool, top: int = 2, bias: bool = True) -> tuple[g.Op, ...]:
    """Scores of `hidden`, and what the experts make of it."""

    def linear(name: str, outputs: int, inputs: int) -> ExpertLinear:
        weight = b.parameter(f"{name}_weight", EXPERTS * outputs, inputs, size=inputs**-0.5)
        return ExpertLinear(name, weight, b.parameter(f"{name}_bias", EXPERTS * outputs, size=0.1) if bias else None)

    names = ("expert_gate", "expert_up") if gate else ("expert_intermediate",)
    linears = (*(linear(name, INNER, WIDTH) for name in names), linear("expert_output", WIDTH, INNER))
    router = b.linear("router", "hidden", "scores", WIDTH, EXPERTS, bias=False, exact=True)
    mixture = g.Experts(linears, EXPERTS, top, weighing, "silu" if gate else "gelu", "scores", "hidden", "mixed")
    return (router, mixture)


def mixed(pooling: g.Pooling, weighing: ExpertWeighing, *, gate: bool, top: int = 2, bias: bool = True) -> g.Graph:
    """In each layer, in the place of its feed-forward block."""
    b = Builder()
    inside = b.inside(2)
    layer = inside.post_layer()[:-3]  # attention, and the norm behind it
    body = (*layer, *experts(inside, weighing, gate=gate, top=top, bias=bias), g.Add("hidden", "mixed", "hidden"))
    layers = g.Layers("layer", 2, (*body, inside.norm("output_norm", "hidden")))
    return graph((b.embed("hidden"), layers, g.Pool(pooling, "hidden", "result")), "result", **WIDTHS)


def chosen_by_bias(pooling: g.Pooling, weighing: ExpertWeighing, shares: ExpertShares | None) -> g.Graph:
    """The same by a bias of each layer, which is as large as what it is added to."""
    found = mixed(pooling, weighing, gate=True, top=3, bias=False)
    embed, layers, pool = found.body
    assert isinstance(layers, g.Layers)
    bias = Builder().inside(2).parameter("expert_bias", EXPERTS, size=0.5)
    ops = tuple(replace(op, bias=bias, shares=shares) if isinstance(op, g.Experts) else op for op in layers.body)
    return replace(found, body=(embed, replace(layers, body=ops), pool))


def mixed_alone() -> g.Graph:
    """Behind the layers, of the first row alone, with a gate between bounds, and chosen by a bias."""
    b = Builder()
    layers = g.Layers("layer", 2, b.inside(2).post_layer())
    router, mixture = experts(b, "all", gate=True)
    assert isinstance(mixture, g.Experts)
    chosen = {"bias": b.parameter("expert_bias", EXPERTS, size=0.5), "shares": ExpertShares(added=0.125)}
    clamped = replace(mixture, activation="none", clamped=ClampedGate(1.3, 0.7), **chosen)
    behind = (router, clamped, g.Pool("first", "mixed", "result"))
    return graph((b.embed("hidden"), layers, *behind), "result", **WIDTHS)


def shared() -> g.Graph:
    """Beside those that are chosen one that all rows go through, whose outputs fill no panel."""
    b = Builder()
    inside = b.inside(2)
    layer = inside.post_layer()[:-3]
    weights = [("shared_gate", INNER, WIDTH), ("shared_up", INNER, WIDTH), ("shared_output", WIDTH, INNER)]
    linears = tuple(
        ExpertLinear(name, inside.parameter(f"{name}_weight", outputs, inputs, size=inputs**-0.5))
        for name, outputs, inputs in weights
    )
    body = (
        *layer,
        *experts(inside, "chosen", gate=True),
        inside.linear("shared_router", "hidden", "shared_score", WIDTH, 1, bias=False, exact=True),
        g.Experts(linears, 1, 1, "each", "silu", "shared_score", "hidden", "shared"),
        g.Add("hidden", "mixed", "hidden"),
        g.Add("hidden", "shared", "hidden"),
    )
    layers = g.Layers("layer", 2, (*body, inside.norm("output_norm", "hidden")))
    widths = WIDTHS | {"shared_score": 1, "shared": WIDTH}
    return graph((b.embed("hidden"), layers, g.Pool("mean", "hidden", "result")), "result", **widths)


WIDTHS = {"scores": EXPERTS, "mixed": WIDTH}
