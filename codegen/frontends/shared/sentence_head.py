# SPDX-License-Identifier: Apache-2.0
"""What sentence-transformers does with the rows of an encoder: pooling, linears, and a length of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.graph import Head, Linear, Node, Normalize, Parameter, Pool, Pooling
from ...load.dense import Dense
from ...load.row_norm import RowNorm
from ...load.sentence import SentenceModules
from ...tasks.classification import Classification
from ...tasks.embedding import Embedding
from . import parts
from .computed import Computed

_POOLING: dict[str, Pooling] = {
    "cls": "first",
    "mean": "mean",
    "max": "max",
    "mean_sqrt": "mean_sqrt",
    "weighted_mean": "weighted_mean",
    "last": "last",
}

OUT = "embedding"
_LOGITS = "logits"
_NORM_EPSILON = 1e-5  # of torch.nn.LayerNorm


def sentence_head(sentence: SentenceModules, value: str, width: int) -> tuple[tuple[Node, ...], dict[str, int], Head]:
    """The ops from `value` to the embedding, or to the logits of the head that reads it, the widths of what they write,
    and the result."""
    beside = tuple(_POOLING[each] for each in sentence.beside)
    pooled = "pooled_0" if any(isinstance(module, Dense) for module in sentence.dense) else OUT
    layers, widths = layers_behind(sentence.dense, pooled, OUT)
    body: list[Node] = [Pool(_POOLING[sentence.pooling], value, pooled, beside=beside), *layers]
    widths = {pooled: (1 + len(beside)) * width} | widths
    head = sentence.classifier
    if sentence.normalize or (head is not None and head.normalize):
        body.append(Normalize(OUT))
    if head is None:
        return tuple(body), widths, Head(Embedding(widths[OUT], sentence.prompts), OUT)
    shape = len(head.labels), widths[OUT]
    body.append(parts.linear(head.tensors, "classifier", ["linear"], shape, OUT, _LOGITS, exact=True))
    head.tensors.finish()
    return (
        tuple(body),
        widths | {_LOGITS: len(head.labels)},
        Head(Classification(head.labels, head.activation), _LOGITS),
    )


def layers_behind(layers: Sequence[Dense | RowNorm], value: str, out: str) -> tuple[tuple[Node, ...], dict[str, int]]:
    """Linears and norms one behind the other, the last linear from `value` or what is between to `out`, and the widths
    of what the linears write."""
    linears = sum(isinstance(module, Dense) for module in layers)
    body: list[Node] = []
    widths: dict[str, int] = {}
    for place, module in enumerate(layers):
        if isinstance(module, RowNorm):
            norm = parts.layer_norm(module.tensors, f"norm_{place}", ["norm"], module.width, _NORM_EPSILON, value)
            body.append(norm)
        else:
            index = len(widths)
            name = "dense" if linears == 1 else f"dense_{index}"
            source, value = value, out if index == linears - 1 else f"pooled_{index + 1}"
            body.append(_linear(module, name, source, value))
            widths[value] = module.outputs
        module.tensors.finish()
    return tuple(body), widths


def _linear(dense: Dense, name: str, source: str, out: str) -> Linear:
    shape = dense.outputs, dense.inputs
    made = parts.linear(dense.tensors, name, ["linear"], shape, source, out, dense.activation, bias=dense.bias)
    return made if name == "dense" else replace(made, weight=_named(made.weight, name))


def _named(weight: Parameter, name: str) -> Parameter:
    """Every file of a linear has the same names for its tensors, by which reports tell matrices apart."""
    (array,) = weight.arrays
    named = Computed(f"{name}.{array.name}", array.shape, lambda: array.values, array.file)
    return replace(weight, arrays=(named,))
