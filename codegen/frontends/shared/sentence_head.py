# SPDX-License-Identifier: Apache-2.0
"""What sentence-transformers does with the rows of an encoder: pooling, linears, and a length of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.graph import Head, Node, Normalize, Parameter, Pool, Pooling
from ...load.dense import Dense
from ...load.sentence import SentenceModules
from ...tasks.embedding import Embedding
from . import parts
from .computed import Computed

_POOLING: dict[str, Pooling] = {
    "cls": "first",
    "mean": "mean",
    "max": "max",
    "mean_sqrt": "mean_sqrt",
    "last": "last",
}

OUT = "embedding"


def sentence_head(sentence: SentenceModules, value: str, width: int) -> tuple[tuple[Node, ...], dict[str, int], Head]:
    """The ops from `value` to the embedding, the widths of what they write, and the result."""
    pooled = "pooled_0" if sentence.dense else OUT
    linears, widths = dense_layers(sentence.dense, pooled, OUT)
    body: list[Node] = [Pool(_POOLING[sentence.pooling], value, pooled), *linears]
    widths = {pooled: width} | widths
    if sentence.normalize:
        body.append(Normalize(OUT))
    return tuple(body), widths, Head(Embedding(widths[OUT]), OUT)


def dense_layers(layers: Sequence[Dense], value: str, out: str) -> tuple[tuple[Node, ...], dict[str, int]]:
    """Linears one behind the other, from `value` to `out`, and the widths of what they write."""
    body: list[Node] = []
    widths: dict[str, int] = {}
    for index, dense in enumerate(layers):
        last = index == len(layers) - 1
        name = "dense" if len(layers) == 1 else f"dense_{index}"
        source, value = value, out if last else f"pooled_{index + 1}"
        shape = dense.outputs, dense.inputs
        made = parts.linear(dense.tensors, name, ["linear"], shape, source, value, dense.activation, bias=dense.bias)
        body.append(made if len(layers) == 1 else replace(made, weight=_named(made.weight, name)))
        dense.tensors.finish()
        widths[value] = dense.outputs
    return tuple(body), widths


def _named(weight: Parameter, name: str) -> Parameter:
    """Every file of a linear has the same names for its tensors, by which reports tell matrices apart."""
    (array,) = weight.arrays
    named = Computed(f"{name}.{array.name}", array.shape, lambda: array.values, array.file)
    return replace(weight, arrays=(named,))
