# SPDX-License-Identifier: Apache-2.0
"""The default model over 200 committed texts of our own: needs no data folder, no PyTorch, only the build."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from classify_program import built_file

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
TEXTS = GOLDEN / "texts.txt"
LABEL_MARGIN = 0.5  # logits; closer calls may fall either way after quantization


@pytest.fixture(scope="module")
def program() -> Path:
    """The built classifier of the default model."""
    return built_file("classify")


@pytest.fixture(scope="module")
def golden() -> list[dict[str, list[float]]]:
    """What the texts must give, line by line."""
    return [json.loads(line) for line in (GOLDEN / "golden.jsonl").read_text("ascii").splitlines()]


def answers(program: Path, *options: str) -> list[dict]:
    done = subprocess.run([program, "--file", TEXTS, *options], capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.decode("ascii").splitlines()]


def kernels(program: Path) -> list[str]:
    return subprocess.run([program, "--kernel", "list"], capture_output=True, check=True, text=True).stdout.split()


def test_there_are_200_texts(golden: list[dict]) -> None:
    assert len(golden) == 200
    assert TEXTS.read_bytes().count(b"\n") == 200


def test_ids_are_those_of_the_wheel(program: Path, golden: list[dict]) -> None:
    assert [line["ids"] for line in answers(program, "--tokens")] == [line["ids"] for line in golden]


def test_every_kernel_gives_the_golden_bits(program: Path, golden: list[dict]) -> None:
    wanted = np.array([line["logits"] for line in golden], np.float32)
    names = kernels(program)
    assert "scalar" in names
    for name in names:
        got = np.array([line["logits"] for line in answers(program, "--json", "--kernel", name)], np.float32)
        different = np.flatnonzero((got.view(np.uint32) != wanted.view(np.uint32)).any(axis=1))
        assert different.size == 0, f"kernel {name}: lines {different + 1} of {TEXTS.name}"


def test_labels_follow_the_reference(golden: list[dict]) -> None:
    for number, line in enumerate(golden, start=1):
        reference = np.array(line["reference"])
        second, first = np.sort(reference)[-2:]
        if first - second > LABEL_MARGIN:
            assert int(np.argmax(line["logits"])) == int(np.argmax(reference)), f"line {number}"


@pytest.mark.sweep
def test_golden_file_is_current() -> None:
    specification = importlib.util.spec_from_file_location("make_golden_texts", GOLDEN / "make.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert module.golden_lines() == (GOLDEN / "golden.jsonl").read_text("ascii").splitlines()
