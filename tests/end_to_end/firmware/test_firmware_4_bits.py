# SPDX-License-Identifier: Apache-2.0
"""A model of 4-bit weights and tables on a board: the bits of the emulated arithmetic, in less flash."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from board_build import ROOT, build
from boards import Firmware, chosen_boards, parse_answer
from classify_program import tool

from codegen import pipeline
from codegen.emulate import emulate
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("4 bits on boards")]

CHECKPOINT = ROOT / "tools" / "train" / "agnews_small" / "checkpoint"
EVERY = 20  # of the 200 golden texts
MOST_FLASH = 640_000


@pytest.mark.parametrize("board", chosen_boards())
def test_the_bits_of_the_emulator(board: str, tmp_path: Path) -> None:
    for name in ("qemu-system-arm", "arm-none-eabi-g++", "cmake"):
        tool(name)
    options = "-DETCH_FIRMWARE_OPTIONS=RECIPE;w4a8;EMBEDDING_BITS;4"
    firmware = Firmware(board, build(board, f"firmware-{board}", folder=tmp_path, options=(options,)))
    assert sum(section.size for section in firmware.sections if section.loaded and section.in_file) <= MOST_FLASH
    manifest = json.loads((tmp_path / "firmware-demo" / "etch_models" / "agnews_small" / "etch.json").read_bytes())
    assert (manifest["recipe"], manifest["embedding_bits"], manifest["target"]) == ("w4a8", 4, "m-profile")
    checkpoint = pipeline.load(CHECKPOINT)
    program = pipeline.lower(checkpoint, "w4a8", None, 4)
    tokenizer = text_tokenizer(checkpoint.tokenizer, program.max_tokens)
    texts = (ROOT / "tests" / "golden" / "texts.txt").read_bytes().split(b"\n")[:-1][::EVERY]
    with firmware.start() as emulator:
        assert emulator.ask(b"!self") == "self test passed"
        assert emulator.ask(b"!logits on") == "logits on"
        for text in texts:
            encoding = tokenizer.encode(text.decode("utf-8", "replace"))
            wanted = emulate(program, encoding.ids, encoding.type_ids)
            answer = parse_answer(emulator.ask(text))
            assert np.array(answer.logits, np.uint32).tobytes() == wanted.astype(np.float32).tobytes(), text
        assert emulator.exit() == 0
