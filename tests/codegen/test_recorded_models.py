# SPDX-License-Identifier: Apache-2.0
"""What is generated for the recorded checkpoints of every family: their graphs mean what the pinned libraries computed,
in float64, and their programs compute it, in the emulator's bits."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from recorded.outputs import HERE, folder, read_recorded, variants
from recorded_outputs import of_the_weights
from rounded_weights import RoundedWeights

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.frontends import FRONT_ENDS, build_graph
from codegen.ir.check_graph import check_graph
from codegen.ir.graph import Graph
from codegen.ir.text import Text
from codegen.oracle.interpret import Interpreter

LARGEST_DIFFERENCE = 1e-4  # of the recipe fp32, as `verify` demands
FAMILIES = sorted(path.name for path in HERE.iterdir() if path.name in {*FRONT_ENDS, "gru"})
VARIANTS = [variant for family in FAMILIES for variant in variants(family)]


@cache
def graph_of(variant: str) -> Graph:
    checkpoint = pipeline.load(folder(variant))
    return build_graph(checkpoint, checkpoint.default_max_tokens)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    check_graph(graph_of(variant))
    interpreter = Interpreter(graph_of(variant))
    for text in read_recorded(variant):
        output = interpreter.output(text.ids, text.segments)
        assert np.abs(output - text.float64).max() < 1e-12 * max(1, np.abs(text.float64).max())


@pytest.mark.parametrize(
    ("variant", "recipe"),
    [
        *((variant, recipe) for variant in VARIANTS for recipe in ("fp32", "w8a8", "w4a8")),
        *((variants(family)[0], "w7a8") for family in FAMILIES),
    ],
)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    texts = read_recorded(variant)
    program = pipeline.lower(pipeline.load(folder(variant)), recipe, None)
    outputs = emulate_texts(program, [Text(text.ids, text.segments) for text in texts])
    expected = np.array([text.float64 for text in texts])
    if recipe != "fp32":
        meant = of_the_weights(variant, recipe)
        assert np.abs(outputs - meant).max() < RoundedWeights.bound(meant)
    if recipe != "w4a8":
        # 7 and 8 bits have no bound, but a tiny random model that is off by its own size is wired up wrongly.
        bound = LARGEST_DIFFERENCE if recipe == "fp32" else np.abs(expected).max() / 2
        assert np.abs(outputs - expected).max() < bound
    assert len(np.unique(outputs, axis=0)) == len(texts)
