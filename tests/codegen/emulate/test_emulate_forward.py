# SPDX-License-Identifier: Apache-2.0
"""Whole programs: against the float64 reference, alone and in batches, whole layers and first rows only."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_program import random_ids, tiny_program

from codegen.emulate import emulate, emulate_texts
from codegen.ir.program import Loop, Program
from codegen.ir.text import Text
from codegen.oracle.bert import Reference

SHAPES: list[dict[str, Any]] = [
    {},
    {"hidden": 36, "heads": 3, "layers": 2, "intermediate": 37, "labels": 2},
    {"hidden": 64, "heads": 4, "layers": 4, "intermediate": 256, "labels": 1000, "hidden_act": "relu"},
    {"type_vocab": 1, "hidden_act": "gelu_new", "dtype": "F16"},
    {"hidden": 32, "layers": 3, "hidden_act": "quick_gelu"},
    {"hidden": 32, "layers": 3, "hidden_act": "silu"},
]
# Largest |difference| of a logit to the reference; logits here are of order one.
BOUND = {"fp32": 1e-5, "w8a8": 0.1}


@pytest.mark.parametrize("recipe", sorted(BOUND))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_close_to_the_reference(tmp_path: Path, recipe: str, shape: dict[str, Any]) -> None:
    program, _ = tiny_program(tmp_path, recipe, **shape)
    reference = Reference(tmp_path)
    for tokens in (1, 2, 16, 17, program.max_tokens):
        ids, segments = random_ids(program, tokens, seed=tokens)
        logits = emulate(program, ids, segments)
        assert logits.dtype == np.float32
        assert logits.shape == (program.task.outputs,)
        assert np.abs(logits - reference.output(ids, segments)).max() < BOUND[recipe]


@pytest.mark.parametrize("recipe", sorted(BOUND))
def test_a_batch_has_the_bits_of_single_texts(tmp_path: Path, recipe: str) -> None:
    program, _ = tiny_program(tmp_path, recipe, layers=2)
    texts = [Text(*random_ids(program, tokens, seed=tokens)) for tokens in (5, 1, 32, 1, 17)]
    alone = np.stack([emulate(program, text.ids, text.segments) for text in texts])
    assert emulate_texts(program, texts).tobytes() == alone.tobytes()


def with_all_rows(program: Program) -> Program:
    """The same program without the short cut for the last layer."""
    steps = []
    for step in program.steps:
        if isinstance(step, Loop):
            body = tuple(dataclasses.replace(blocks, last_layer_first_row=False) for blocks in step.body)
            steps.append(dataclasses.replace(step, body=body))
        else:
            steps.append(step)
    return dataclasses.replace(program, steps=tuple(steps))


@pytest.mark.parametrize("recipe", sorted(BOUND))
@pytest.mark.parametrize("layers", [1, 3])
def test_the_first_row_alone_has_the_bits_of_all_rows(tmp_path: Path, recipe: str, layers: int) -> None:
    program, _ = tiny_program(tmp_path, recipe, layers=layers)
    assert with_all_rows(program) != program
    ids, segments = random_ids(program, 20)
    assert emulate(program, ids, segments).tobytes() == emulate(with_all_rows(program), ids, segments).tobytes()


def test_input_out_of_range_is_refused(tmp_path: Path) -> None:
    program, _ = tiny_program(tmp_path, "w8a8")
    for ids, segments in (
        ([], []),
        ([0] * (program.max_tokens + 1), [0] * (program.max_tokens + 1)),
        ([program.vocabulary], [0]),
        ([-1], [0]),
        ([0], [program.segments]),
        ([0, 0], [0]),
    ):
        with pytest.raises(ValueError, match="segments"):
            emulate(program, ids, segments)
