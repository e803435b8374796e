# SPDX-License-Identifier: Apache-2.0
"""Small random graphs whose rows take from those before them."""

from __future__ import annotations

from graph_builder import HEADS, WIDTH, Builder, graph

from codegen.ir import graph as g


def convolved(pooling: g.Pooling) -> g.Graph:
    """Queries of layers, which a second convolution writes again where they have been."""
    b = Builder()
    inside = b.inside(2)
    taps, bias = inside.parameter("first_taps", WIDTH, 4), inside.parameter("first_bias", WIDTH, size=0.1)
    layer = (
        *inside.projections("hidden"),
        g.CausalConvolution("first", taps, bias, "query", "convolved"),
        g.CausalConvolution("second", inside.parameter("second_taps", WIDTH, 2), None, "convolved", "query"),
        g.Attention("query", "key", "value", "context", HEADS, mask="causal"),
        inside.linear("attention_output", "context", "hidden", residual="hidden"),
        inside.norm("norm", "hidden"),
    )
    body = (b.embed("hidden"), g.Layers("layer", 2, layer), g.Pool(pooling, "hidden", "result"))
    return graph(body, "result", convolved=WIDTH)


def recurrent(directions: int, layers: int, width: int, bias: bool = True) -> g.Graph:
    """GRUs over the rows of the layers; the last state of each direction."""
    b = Builder()
    body: list[g.Node] = [b.embed("hidden"), g.Layers("layer", 2, b.inside(2).post_layer())]
    widths, value, inputs = {}, "hidden", WIDTH
    for layer in range(layers):
        products, out = f"products_{layer}", f"states_{layer}"
        recurrences = tuple(
            g.Recurrence(
                f"gru_{layer}_{direction}",
                b.parameter(f"gru_{layer}_{direction}_weight", 3 * width, width, size=width**-0.5),
                b.parameter(f"gru_{layer}_{direction}_bias", 3 * width, size=0.3) if bias else None,
            )
            for direction in range(directions)
        )
        body += [
            b.linear(f"gru_{layer}_input", value, products, inputs, 3 * width * directions, bias=bias),
            g.Gru(recurrences, products, out),
        ]
        value, inputs = out, directions * width
        widths |= {products: 3 * inputs, out: inputs}
    body.append(g.Pool("ends" if directions == 2 else "last", value, "result"))
    return graph(tuple(body), "result", **widths, result=inputs)
