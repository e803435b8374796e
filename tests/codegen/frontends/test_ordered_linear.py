# SPDX-License-Identifier: Apache-2.0
"""Linears whose sums have an order: what they give is what a loop gives, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import graph_of

from codegen import pipeline
from codegen.frontends.shared.ordered_linear import F64Array, ordered_linear


def by_a_loop(rows: np.ndarray, weight: np.ndarray, bias: np.ndarray | None) -> F64Array:
    found = np.zeros((len(rows), len(weight)))
    for i, row in enumerate(rows.tolist()):
        for j, column in enumerate(weight.tolist()):
            total = 0.0
            for x, w in zip(row, column, strict=True):
                total += x * w
            found[i, j] = total if bias is None else total + float(bias[j])
    return found


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "with_bias"), [(1, True), (64, False), (131, True)])
def test_sums_are_in_order(rows: int, with_bias: bool, kind: type) -> None:
    random = np.random.default_rng(rows)
    x, weight, bias = (random.standard_normal(shape).astype(kind) for shape in ((rows, 150), (7, 150), 7))
    found = ordered_linear(x, weight, bias if with_bias else None)
    assert np.array_equal(found, by_a_loop(x, weight, bias if with_bias else None))


def test_the_table_of_roc_bert_is_made_of_them() -> None:
    """Words, shapes, pronunciations, each a sum of its own."""
    variant = "roc_bert/softmax"
    graph, tensors = graph_of(folder(variant)), pipeline.load(folder(variant)).tensors
    terms = {parameter.by: parameter for parameter in graph.body[0].terms}

    def tensor(name: str) -> np.ndarray:
        name = f"roc_bert.embeddings.{name}"
        return tensors.take(name, tensors.info(name)[1]).values

    words, weight = tensor("word_embeddings.weight"), tensor("map_inputs_layer.weight")
    made = by_a_loop(words, weight[:, : words.shape[1]], tensor("map_inputs_layer.bias"))
    begin = words.shape[1]
    checkpoint = pipeline.load(folder(variant))
    for file, name in (("word_shape.json", "shape"), ("word_pronunciation.json", "pronunciation")):
        learned = tensor(f"{name}_embed.weight")
        numbers = np.zeros(len(words), int)
        said = checkpoint.word_numbers[file][: len(words)]
        numbers[: len(said)] = said
        end = begin + learned.shape[1]
        made += by_a_loop(learned, weight[:, begin:end], None)[numbers]
        begin = end
    table = terms["ids"].table.arrays[0]
    assert np.array_equal(table.values, made)
    assert table.values is table.values  # made once
