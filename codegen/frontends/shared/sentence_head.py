# SPDX-License-Identifier: Apache-2.0
"""What sentence-transformers does with the rows of an encoder: pooling, linears, and a length of one."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Head, Node, Normalize, Parameter, Pool, Pooling
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
    count = len(sentence.dense)
    values = [f"pooled_{index}" for index in range(count)] + [OUT]
    body: list[Node] = [Pool(_POOLING[sentence.pooling], value, values[0])]
    widths = {values[0]: width}
    for index, dense in enumerate(sentence.dense):
        shape = dense.outputs, dense.inputs
        name = "dense" if count == 1 else f"dense_{index}"
        source, out = values[index : index + 2]
        made = parts.linear(dense.tensors, name, ["linear"], shape, source, out, dense.activation, bias=dense.bias)
        body.append(made if count == 1 else replace(made, weight=_named(made.weight, name)))
        dense.tensors.finish()
        widths[out] = dense.outputs
    if sentence.normalize:
        body.append(Normalize(OUT))
    return tuple(body), widths, Head(Embedding(widths[OUT]), OUT)


def _named(weight: Parameter, name: str) -> Parameter:
    """Every file of a linear has the same names for its tensors, by which reports tell matrices apart."""
    (array,) = weight.arrays
    named = Computed(f"{name}.{array.name}", array.shape, lambda: array.values, array.file)
    return replace(weight, arrays=(named,))
