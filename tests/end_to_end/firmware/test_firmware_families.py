# SPDX-License-Identifier: Apache-2.0
"""Families with other layers or tokenizers than BERT's, each on one of the boards: self test, and the bits of the
emulated arithmetic, the host's, for texts that the board tokenizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_build import build
from boards import Firmware, chosen_boards, parse_answer
from classify_program import tool
from recorded.outputs import folder
from sampling import sampled

from codegen import pipeline
from codegen.emulate import emulate
from codegen.golden import SHORT_TEXTS
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("families on boards")]

FAMILIES = (
    "roberta/softmax",
    "modernbert/softmax",
    "gemma2/softmax",
    "camembert/softmax",
    "albert/two_groups",
    "deberta-v2/v3",
    "mpnet/softmax",
    "bert/xlm_words",
    "mobilebert/softmax",
)
VARIANTS = sampled(FAMILIES, 3, "families on boards")
BOARDS = chosen_boards()


@pytest.mark.parametrize(("board", "variant"), [(BOARDS[i % len(BOARDS)], one) for i, one in enumerate(VARIANTS)])
def test_the_bits_of_the_emulator(board: str, variant: str, tmp_path: Path) -> None:
    for name in ("qemu-system-arm", "arm-none-eabi-g++", "cmake"):
        tool(name)
    options = (f"-DETCH_FIRMWARE_CHECKPOINT={folder(variant)}", "-DETCH_FIRMWARE_STACK=7168")
    firmware = Firmware(board, build(board, f"firmware-{board}", folder=tmp_path, options=options))
    checkpoint = pipeline.load(folder(variant))
    program = pipeline.lower(checkpoint, "w8a8", None)
    tokenizer = text_tokenizer(checkpoint.tokenizer, program.max_tokens)
    with firmware.start() as emulator:
        assert emulator.ask(b"!self") == "self test passed"
        assert emulator.ask(b"!logits on") == "logits on"
        for text in filter(None, SHORT_TEXTS):
            encoding = tokenizer.encode(text)
            wanted = emulate(program, encoding.ids, encoding.type_ids)
            answer = parse_answer(emulator.ask(text.encode()))
            assert np.array(answer.logits, np.uint32).tobytes() == wanted.astype(np.float32).tobytes(), text
        assert emulator.exit() == 0
