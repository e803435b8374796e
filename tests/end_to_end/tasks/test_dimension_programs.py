# SPDX-License-Identifier: Apache-2.0
"""Programs of models whose embeddings have fewer values than their checkpoints': the emulator's bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT
from model_build import build_program

from codegen import pipeline
from codegen.verification.verify import verify

RECORDED = ROOT / "tests" / "codegen" / "recorded"


@pytest.mark.parametrize("recipe", ["fp32", "w8a8"])
@pytest.mark.parametrize("variant", ["bert/jina_mean", "bert/dense_tanh", "static_embedding/mean"])
def test_the_bits_are_the_emulators(variant: str, recipe: str, tmp_path: Path) -> None:
    out, checkpoint = tmp_path / "narrow", RECORDED / variant
    pipeline.generate(pipeline.Request(checkpoint, out, recipe=recipe, dimensions=5), lambda _: None)
    program = build_program(out)
    program.well("--self-test")
    found = program.well("--json", "the cat").objects[0]["embedding"]
    assert len(found) == 5
    said: list[str] = []
    assert verify(out, checkpoint, None, said.append, lambda *_: program.path) == 0, said
    whole = tmp_path / "whole"
    pipeline.generate(pipeline.Request(checkpoint, whole, recipe=recipe), lambda _: None)
    first = np.array(build_program(whole).well("--json", "the cat").objects[0]["embedding"], np.float64)[:5]
    cosine = float(first @ np.array(found)) / float(np.linalg.norm(first) * np.linalg.norm(found))
    assert cosine > (1 - 1e-6 if recipe == "fp32" else 0.99)
