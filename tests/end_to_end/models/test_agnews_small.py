# SPDX-License-Identifier: Apache-2.0
"""agnews_small fits a board with 1 MB of flash and 96 KB for the model, and answers alike on every kernel."""

from __future__ import annotations

import re
from pathlib import Path

from classify_program import ROOT, TITLES, built
from generator_program import etch

CHECKPOINT = ROOT / "tools/train/agnews_small/checkpoint"
MOST_TABLE_BYTES = 920_000  # of 1,048,576: the rest is for code, Unicode tables, the application
MOST_ARENA_BYTES = 86_016  # of 98,304: the rest is for stack and the application's buffers


def test_it_fits_a_board(tmp_path: Path) -> None:
    done = etch("generate", CHECKPOINT, "--target", "m-profile", "--out", tmp_path / "agnews_small")
    assert done.code == 0, done.err
    header = (tmp_path / "agnews_small/agnews_small.hpp").read_text(encoding="ascii")
    constants = {name: int(value) for name, value in re.findall(r"(k\w+Bytes) = (\d+);", header)}
    assert 0 < constants["kTableBytes"] <= MOST_TABLE_BYTES
    assert 0 < constants["kArenaBytes"] <= MOST_ARENA_BYTES


def test_every_kernel_answers_alike() -> None:
    program = built("classify-agnews_small")
    kernels = program.well("--kernel", "list").out.decode().split()
    assert "scalar" in kernels
    answers = {kernel: program.well("--json", *TITLES, "--kernel", kernel).objects for kernel in kernels}
    assert [answer["label"] for answer in answers["scalar"]] == ["Business", "Sports", "Sci/Tech", "World"]
    for kernel, answer in answers.items():
        assert [text["logits"] for text in answer] == [text["logits"] for text in answers["scalar"]], kernel
        program.well("--self-test", "--kernel", kernel)
