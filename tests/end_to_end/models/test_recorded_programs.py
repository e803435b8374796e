# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded checkpoints on the very token ids that the pinned libraries were asked: in floats within
1e-4 of what these computed, in every recipe the emulator's bits on every kernel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kernel_outputs import IdsProgram
from recorded.outputs import read_recorded
from shape_models import SHAPES, TESTED, Model, case_of, each, generated

from codegen.emulate import emulate_texts
from codegen.ir.text import Text

pytestmark = pytest.mark.minutes(3)

LARGEST_DIFFERENCE = 1e-4  # of the recipe fp32, as `verify` demands
RECORDED = [model for model in TESTED if model.shape not in SHAPES]


@each(RECORDED)
def test_outputs_of_token_ids(model: Model, shared: Path, tmp_path: Path) -> None:
    folder, case, texts = generated(model, shared), case_of(model, shared), read_recorded(model.shape)
    program = IdsProgram.of(folder, case.program.task.face.field, tmp_path / "program")
    asked = [Text(text.ids, text.segments) for text in texts]
    meant = emulate_texts(case.program, asked)
    for kernel, found in program.on_every_kernel(asked):
        assert found.tobytes() == meant.tobytes(), kernel
    if model.recipe == "fp32":
        assert np.abs(meant - np.array([text.float64 for text in texts])).max() < LARGEST_DIFFERENCE
