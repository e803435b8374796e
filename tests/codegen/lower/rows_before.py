# SPDX-License-Identifier: Apache-2.0
"""Small random graphs whose rows take from those before them, or around them."""

from __future__ import annotations

from graph_builder import HEADS, WIDTH, Builder, graph

from codegen.ir import graph as g
from codegen.ir.fourier_rows import waves_of


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


def convolved_around(pooling: g.Pooling) -> g.Graph:
    """Of rows of layers that the same layer writes again, and of projections with taps of each row's own."""
    b = Builder()
    inside = b.inside(2)
    taps, bias = inside.parameter("first_taps", WIDTH, 5), inside.parameter("first_bias", WIDTH, size=0.1)
    layer = (
        *inside.projections("hidden"),
        inside.linear("spread", "hidden", "spread"),
        g.CenteredConvolution("first", taps, bias, "hidden", "convolved"),
        g.Multiply("convolved", "query", "convolved"),
        inside.linear("own_taps", "convolved", "own_taps", WIDTH, 3 * 7),
        g.Softmax("own_taps", 3),
        g.DynamicConvolution(3, "own_taps", "spread", "convolved"),
        g.Attention("query", "key", "value", "context", HEADS),
        inside.linear("attention_output", "context", "hidden", residual="hidden"),
        inside.linear("convolution_output", "convolved", "hidden", residual="hidden"),
        g.CenteredConvolution("second", inside.parameter("second_taps", WIDTH, 3), None, "hidden", "convolved"),
        inside.norm("norm", "convolved"),
        inside.linear("output", "convolved", "hidden", residual="hidden"),
    )
    body = (b.embed("hidden"), g.Layers("layer", 2, layer), g.Pool(pooling, "hidden", "result"))
    return graph(body, "result", convolved=WIDTH, spread=WIDTH, own_taps=21)


def convolved_alone() -> g.Graph:
    """Without layers, attention or weights of its own."""
    b = Builder()
    own_taps = b.linear("own_taps", "hidden", "own_taps", WIDTH, 5)
    body = (b.embed("hidden"), own_taps, g.DynamicConvolution(1, "own_taps", "hidden", "mixed"))
    return graph((*body, g.Pool("mean", "mixed", "result")), "result", mixed=WIDTH, own_taps=5)


def transformed(pooling: g.Pooling) -> g.Graph:
    """Rows of layers by waves of an odd width and of an even one, of which the second are of rows that are written
    again."""
    b = Builder()
    inside = b.inside(2)
    odd, even = WIDTH - 1 + WIDTH % 2, WIDTH - WIDTH % 2
    layer = (
        inside.linear("odd_waves", "hidden", "odd_waves", WIDTH, waves_of(odd)),
        inside.linear("even_waves", "hidden", "even_waves", WIDTH, waves_of(even), exact=True),
        g.FourierRows(odd, "odd_waves", "odd"),
        inside.linear("output", "odd", "hidden", odd, WIDTH, residual="hidden"),
        g.FourierRows(even, "even_waves", "even"),
        inside.linear("even_output", "even", "hidden", even, WIDTH, residual="hidden"),
        inside.norm("norm", "hidden"),
    )
    widths = {"odd": odd, "even": even, "odd_waves": waves_of(odd), "even_waves": waves_of(even)}
    return graph(
        (b.embed("hidden"), g.Layers("layer", 2, layer), g.Pool(pooling, "hidden", "result")), "result", **widths
    )


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
