# SPDX-License-Identifier: Apache-2.0
"""Programs of SetFit's classifiers: in floats the probabilities that SetFit computes, in w8a8 the emulator's bits on
every kernel."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import ROOT
from model_build import build_program

from codegen import cli, pipeline
from codegen.emulate import emulate_texts
from codegen.ir.text import Text

RECORDED = ROOT / "tests" / "codegen"
NAMES = ("several", "two")  # each by itself; one of two, of an embedding with a length of one


def made(name: str, to: Path, recipe: str) -> tuple[dict[str, Any], Path]:
    """What was recorded, and the generated folder."""
    head = RECORDED / "convert" / "setfit" / name
    recorded = json.loads((head / "recorded.json").read_text(encoding="utf-8"))
    shutil.copytree(RECORDED / "recorded" / recorded["base"], to / "model")
    for file in ("model_head.pkl", "config_setfit.json"):
        shutil.copy(head / file, to / "model")
    assert cli.main(["convert", str(to / "model"), "--out", str(to / "checkpoint")]) == 0
    out = to / "classifier"
    assert cli.main(["generate", str(to / "checkpoint"), "--out", str(out), "--recipe", recipe]) == 0
    return recorded, out


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_are_those_of_setfit(name: str, tmp_path: Path) -> None:
    recorded, out = made(name, tmp_path, "fp32")
    texts = [text["text"] for text in recorded["texts"]]
    answers = build_program(out).well("--json", *texts).objects
    told = json.loads((tmp_path / "checkpoint" / "head.json").read_text(encoding="utf-8"))
    for answer, text in zip(answers, recorded["texts"], strict=True):
        weights = np.exp(np.array(answer["logits"]))
        shares = weights / weights.sum() if told["activation"] == "softmax" else weights / (1 + weights)
        assert np.abs(shares - text["probabilities"]).max() < 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_bits_on_every_kernel(name: str, tmp_path: Path) -> None:
    recorded, out = made(name, tmp_path, "w8a8")
    checkpoint = pipeline.load(tmp_path / "checkpoint")
    texts = recorded["texts"]
    meant = emulate_texts(
        pipeline.lower(checkpoint, "w8a8", None), [Text(text["ids"], [0] * len(text["ids"])) for text in texts]
    )
    program = build_program(out)
    for kernel in program.well("--kernel", "list").lines:
        answers = program.well("--json", "--kernel", kernel, *[text["text"] for text in texts]).objects
        found = np.array([answer["logits"] for answer in answers], np.float32)
        assert found.tobytes() == np.array(meant).tobytes(), kernel
