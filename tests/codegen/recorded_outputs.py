# SPDX-License-Identifier: Apache-2.0
"""What this generator makes of recorded checkpoints, text by text beside what the library computed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from recorded.outputs import folder, read_recorded
from rounded_weights import RoundedWeights

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.errors import EtchError
from codegen.ir.text import Text
from codegen.oracle.interpret import Interpreter
from codegen.quantize import choose_recipe
from codegen.report import checkpoint_report

RECIPES = ("fp32", "w8a8", "w4a8")


def of_the_graph(variant: str) -> Iterator[tuple[NDArray, NDArray]]:
    """Outputs of the float64 interpreter, and the recorded ones."""
    interpreter = Interpreter(pipeline.to_graph(pipeline.load(folder(variant)), None))
    for text in read_recorded(variant):
        yield interpreter.output(text.ids, text.segments), text.float64


def of_the_program(variant: str, recipe: str) -> Iterator[tuple[NDArray, NDArray]]:
    """Outputs of the emulator, and the recorded ones."""
    texts = read_recorded(variant)
    program = pipeline.lower(pipeline.load(folder(variant)), recipe, None)
    outputs = emulate_texts(program, [Text(text.ids, text.segments) for text in texts])
    yield from zip(outputs, (text.float64 for text in texts), strict=True)


def of_the_weights(variant: str, recipe: str) -> list[NDArray]:
    """Outputs of float64 where the weights are those that a recipe of integers stores."""
    graph = pipeline.to_graph(pipeline.load(folder(variant)), None)
    oracle = RoundedWeights(graph, choose_recipe(recipe, 8, None))
    return [oracle.output(text.ids, text.segments) for text in read_recorded(variant)]


def assert_graph_means_it(variant: str, shape: tuple[int, ...]) -> None:
    """The graph of a head with one output for a text means what the library computed."""
    for output, expected in of_the_graph(variant):
        assert output.shape == expected.shape == shape
        assert np.abs(output - expected).max() < 1e-12


def assert_program_computes_it(variant: str, recipe: str) -> None:
    """The program of such a head computes it, or what its rounded weights mean."""
    found, recorded = zip(*of_the_program(variant, recipe), strict=True)
    if recipe != "fp32":
        meant = of_the_weights(variant, recipe)
        assert max(np.abs(f - m).max() for f, m in zip(found, meant, strict=True)) < RoundedWeights.bound(meant)
    if recipe != "w4a8":
        bound = {"fp32": 1e-4, "w8a8": 0.5}[recipe]
        assert max(np.abs(f - r).max() for f, r in zip(found, recorded, strict=True)) < bound


def reported_task(variant: str) -> str:
    """What the report says of the task."""
    checkpoint = pipeline.load(folder(variant))
    lines = checkpoint_report(checkpoint, pipeline.to_graph(checkpoint, None))
    (line,) = (line for line in lines if line.startswith("task "))
    return line.removeprefix("task").strip()


def assert_gpus_refuse(variant: str, place: Path) -> None:
    """--gpu ends with a refusal, and nothing is written."""
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(folder(variant), place / "out", gpu=True), lambda _: None)
    assert caught.value.stage == "gpu"
    assert not (place / "out").exists()
