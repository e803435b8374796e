# SPDX-License-Identifier: Apache-2.0
"""Small random graphs whose rows go through some of several experts."""

from __future__ import annotations

from graph_builder import INNER, WIDTH, Builder, graph

from codegen.ir import graph as g

EXPERTS = 5


def experts(b: Builder, softmax: g.ExpertSoftmax, *, gate: bool, top: int = 2, bias: bool = True) -> tuple[g.Op, ...]:
    """Scores of `hidden`, and what the experts make of it."""

    def linear(name: str, outputs: int, inputs: int) -> g.ExpertLinear:
        weight = b.parameter(f"{name}_weight", EXPERTS * outputs, inputs, size=inputs**-0.5)
        return g.ExpertLinear(name, weight, b.parameter(f"{name}_bias", EXPERTS * outputs, size=0.1) if bias else None)

    names = ("expert_gate", "expert_up") if gate else ("expert_intermediate",)
    linears = (*(linear(name, INNER, WIDTH) for name in names), linear("expert_output", WIDTH, INNER))
    router = b.linear("router", "hidden", "scores", WIDTH, EXPERTS, bias=False, exact=True)
    mixture = g.Experts(linears, EXPERTS, top, softmax, "silu" if gate else "gelu", "scores", "hidden", "mixed")
    return (router, mixture)


def mixed(pooling: g.Pooling, softmax: g.ExpertSoftmax, *, gate: bool, top: int = 2, bias: bool = True) -> g.Graph:
    """In each layer, in the place of its feed-forward block."""
    b = Builder()
    inside = b.inside(2)
    layer = inside.post_layer()[:-3]  # attention, and the norm behind it
    body = (*layer, *experts(inside, softmax, gate=gate, top=top, bias=bias), g.Add("hidden", "mixed", "hidden"))
    layers = g.Layers("layer", 2, (*body, inside.norm("output_norm", "hidden")))
    return graph((b.embed("hidden"), layers, g.Pool(pooling, "hidden", "result")), "result", **WIDTHS)


def mixed_alone() -> g.Graph:
    """Behind the layers, of the first row alone."""
    b = Builder()
    layers = g.Layers("layer", 2, b.inside(2).post_layer())
    behind = (*experts(b, "all", gate=True), g.Pool("first", "mixed", "result"))
    return graph((b.embed("hidden"), layers, *behind), "result", **WIDTHS)


WIDTHS = {"scores": EXPERTS, "mixed": WIDTH}
