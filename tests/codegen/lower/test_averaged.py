# SPDX-License-Identifier: Apache-2.0
"""An embedding of which only the mean is read has no rows; any other has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tiny_graphs import GRAPHS

from codegen.emulate import emulate
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.lower import lower
from codegen.memory.plan import plan_memory
from codegen.quantize import RECIPES
from codegen.targets import TARGETS


def words_alone(
    term: Callable[[g.Term], g.Term] = lambda term: term, pool: Callable[[g.Pool], g.Pool] = lambda pool: pool
) -> g.Graph:
    made = GRAPHS["words alone"]()
    embed, pooled, normalize = made.body
    assert isinstance(embed, g.Embed) and isinstance(pooled, g.Pool)
    embed = replace(embed, terms=tuple(map(term, embed.terms)))
    return replace(made, body=(embed, pool(pooled), normalize))


def ops_of(graph: g.Graph, recipe: str = "w8a8") -> list[str]:
    return [type(op).__name__ for op in walks.ops_of(lower(graph, RECIPES[recipe]))]


@pytest.mark.parametrize("recipe", ["w8a8", "w4a8", "fp32"])
def test_the_mean_alone(recipe: str) -> None:
    """The same bits as of rows that are stored, in less memory."""
    made = words_alone()
    assert ops_of(made, recipe) == ["EmbeddingMean", "Normalize"]
    stored = words_alone(lambda term: replace(term, factor=1.0))  # which changes no value
    assert ops_of(stored, recipe) == ["EmbeddingSum", "Pool", "Normalize"]
    programs = [lower(each, RECIPES[recipe]) for each in (made, stored)]
    assert [{buffer.name for buffer in walks.buffers_of(each)} for each in programs] == [
        {"result"},
        {"hidden", "result"},
    ]
    for ids in ([3], [5, 5, 1], list(range(8))):
        mean, pooled = (emulate(each, ids, [0] * len(ids)) for each in programs)
        assert mean.astype(np.float32).tobytes() == pooled.astype(np.float32).tobytes()


@pytest.mark.parametrize(
    "graph",
    [
        words_alone(lambda term: replace(term, factor=2.5)),
        words_alone(lambda term: replace(term, shift=1)),
        words_alone(lambda term: replace(term, dropped=3)),
        words_alone(lambda term: replace(term, by="positions")),
        words_alone(pool=lambda pool: replace(pool, kind="max")),
        words_alone(pool=lambda pool: replace(pool, kind="weighted_mean")),
        words_alone(pool=lambda pool: replace(pool, kind="last", end=2)),
        GRAPHS["no layers"](),
    ],
)
def test_others_have_rows(graph: g.Graph) -> None:
    assert "EmbeddingSum" in ops_of(graph) and "EmbeddingMean" not in ops_of(graph)


def test_ids_stay_until_the_last_text_is_done() -> None:
    """The head of a text may write where the next one's ids would lie."""
    made = words_alone()
    embed, pool, normalize = made.body
    made = replace(made, body=(embed, pool, normalize, normalize))
    program = lower(made, RECIPES["w8a8"])
    placement = plan_memory(program, TARGETS["host"], 64).placement("ids")
    assert isinstance(walks.ops_of(program)[0], p.EmbeddingMean)
    assert placement.last == len(walks.ops_of(program))
