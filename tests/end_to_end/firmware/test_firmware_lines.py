# SPDX-License-Identifier: Apache-2.0
"""Bad lines, commands and faults: each gets a named line back, and the next text its answer."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from boards import Firmware, memory_of, parse_answer
from emulator import Emulator, Stopped

pytestmark = pytest.mark.sweep

TEXT = b"Oil prices climb as storms close refineries in the gulf"
LONGEST = 1024  # LineReader::kLineBytes
FAULT_EXIT = 70
LITTLE_STACK = 384  # enough to say "ready", not for a text
UNDEFINED = 0xDE00  # Thumb: always an undefined instruction


@pytest.fixture(scope="module")
def emulator(firmware: Firmware) -> Iterator[Emulator]:
    with firmware.start() as started:
        yield started
        assert started.exit() == 0


@pytest.fixture(scope="module")
def good(emulator: Emulator) -> str:
    """The answer to TEXT before anything went wrong."""
    line = emulator.ask(TEXT)
    parse_answer(line)
    return line


def test_it_says_that_it_is_ready(firmware: Firmware, emulator: Emulator) -> None:
    pattern = rf"ready: agnews_small w8a8, kernels \w+, on {firmware.board}; !help"
    assert re.fullmatch(pattern, emulator.ready)


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        (b"", "error empty-line"),
        (b"x" * (LONGEST + 1), "error line-too-long: more than 1024 bytes"),
        (b"x" * 20_000, "error line-too-long: more than 1024 bytes"),
        (b"\xff", "error invalid-utf8: at byte 0"),
        (b"caf\xc3", "error invalid-utf8: at byte 3"),
        (b"surrogate \xed\xa0\x80", "error invalid-utf8: at byte 10"),
        (b"!", "error unknown-command: !"),
        (b"!logits", "error unknown-command: !logits"),
        (b"!MEM", "error unknown-command: !MEM"),
        (b"!kernel nonsense", "error kernel: no kernel of that name exists for this model's packing"),
    ],
)
def test_a_bad_line_is_named(emulator: Emulator, good: str, line: bytes, reply: str) -> None:
    assert emulator.ask(line) == reply
    assert emulator.ask(TEXT) == good


@pytest.mark.parametrize(
    "text",
    [
        b"x" * LONGEST,
        b"a " * (LONGEST // 2),
        "中".encode() * (LONGEST // 3),
        "e\u0301".encode() * (LONGEST // 3),
        b"\x00\x01\x7f",
        b"[SEP] [CLS] [MASK]",
        b" ",
        "\ufffd\U0010ffff".encode(),
    ],
)
def test_any_other_line_is_a_text(emulator: Emulator, good: str, text: bytes) -> None:
    parse_answer(emulator.ask(text))
    assert emulator.ask(TEXT) == good


def test_carriage_returns_end_lines_too(emulator: Emulator, good: str) -> None:
    assert emulator.ask(TEXT + b"\r") == good
    assert emulator.ask(TEXT) == good


def test_a_long_text_is_cut(emulator: Emulator) -> None:
    assert parse_answer(emulator.ask(b"a " * (LONGEST // 2))).truncated
    assert not parse_answer(emulator.ask(TEXT)).truncated


def test_logits_are_switched(emulator: Emulator, good: str) -> None:
    assert emulator.ask(b"!logits on") == "logits on"
    assert len(parse_answer(emulator.ask(TEXT)).logits) == 4
    assert emulator.ask(b"!logits off") == "logits off"
    assert emulator.ask(TEXT) == good


def test_every_kernel_answers_the_same(emulator: Emulator) -> None:
    kernels = emulator.ask(b"!kernels").split()[1:]
    assert kernels
    assert emulator.ready.split(", ")[1] == f"kernels {kernels[0]}"
    emulator.ask(b"!logits on")
    answers = set()
    for kernel in kernels:
        assert emulator.ask(f"!kernel {kernel}".encode()) == f"kernels {kernel}"
        answers.add(emulator.ask(TEXT))
    emulator.ask(b"!logits off")
    emulator.ask(f"!kernel {kernels[0]}".encode())
    assert len(answers) == 1


def test_the_stack_stays_within_its_budget(emulator: Emulator) -> None:
    """After everything above, and with what goes deepest."""
    assert emulator.ask(b"!self") == "self test passed"
    parse_answer(emulator.ask("e\u0301 中 x".encode() * 100))
    memory = memory_of(emulator)
    print(memory)
    assert 512 < memory["stack_painted"] <= memory["stack_budget"] < memory["stack"]
    assert memory["arena"] <= memory["static"]


def test_a_stack_that_runs_over_is_told(firmware: Firmware, tmp_path: Path) -> None:
    """The first vector is where the stack begins: here nearly at its end."""
    patched = bytearray(firmware.elf.read_bytes())
    low = firmware.section(".stack").address + LITTLE_STACK
    struct.pack_into("<I", patched, firmware.section(".vectors").offset, low)
    path = tmp_path / "overflow.elf"
    path.write_bytes(patched)
    with firmware.start(path) as emulator:
        assert re.fullmatch(
            r"fault: exception \d{8}, stack overflow, status [0-9A-F]{8} [0-9A-F]{8}", emulator.ask(TEXT)
        )
        with pytest.raises(Stopped) as stopped:
            emulator.ask(TEXT)
        assert stopped.value.code == FAULT_EXIT


def test_a_fault_is_told_and_ends_with_an_exit_code(firmware: Firmware, tmp_path: Path) -> None:
    classify = next(symbol for symbol in firmware.symbols if symbol.name.startswith("etch::agnews_small::classify("))
    address = classify.address & ~1
    patched = bytearray(firmware.elf.read_bytes())
    struct.pack_into("<H", patched, firmware.offset_of(address), UNDEFINED)
    path = tmp_path / "faulty.elf"
    path.write_bytes(patched)
    with firmware.start(path) as emulator:
        where = rf"at {address:08X}, called from [0-9A-F]{{8}}"
        pattern = rf"fault: exception \d{{8}}, {where}, status [0-9A-F]{{8}} [0-9A-F]{{8}}"
        assert re.fullmatch(pattern, emulator.ask(TEXT))
        with pytest.raises(Stopped) as stopped:
            emulator.ask(TEXT)
        assert stopped.value.code == FAULT_EXIT
