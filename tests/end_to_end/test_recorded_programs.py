# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded checkpoints on the very token ids that the pinned libraries were asked: in floats within
1e-4 of what these computed, in every recipe the emulator's bits on every kernel."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT
from model_build import build_program, build_test
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
    source = ROOT / "tests" / "end_to_end" / "outputs_of_ids.cpp"
    program = build_test(folder, source, tmp_path / "program", f"-DETCH_OUTPUT={case.program.task.face.field}")
    lines = [" ".join(map(str, (len(text.ids), *text.ids, *text.segments))) for text in texts]
    meant = emulate_texts(case.program, [Text(text.ids, text.segments) for text in texts])
    for kernel in build_program(folder).well("--kernel", "list").lines:
        done = subprocess.run([program, kernel], input="\n".join(lines), capture_output=True, text=True, check=True)
        found = np.array([line.split() for line in done.stdout.splitlines()], np.float32)
        assert found.tobytes() == meant.tobytes(), kernel
    if model.recipe == "fp32":
        assert np.abs(meant - np.array([text.float64 for text in texts])).max() < LARGEST_DIFFERENCE
