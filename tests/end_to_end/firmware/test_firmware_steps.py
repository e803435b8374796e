# SPDX-License-Identifier: Apache-2.0
"""The firmware in steps: the same bits, a watchdog that is fed in between, bytes that are taken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from boards import ROOT, Firmware, build_firmware, chosen_boards, parse_answer
from emulator import Emulator, Stopped
from test_firmware_bits import assert_same_bits

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("steps on boards")]

TEXT = b"Oil prices climb as storms close refineries in the gulf"
LONG = b"Oil prices climb as storms close refineries, " * 22  # more tokens than the model takes
FAULT_EXIT = 70
WATCHDOG = "fault: exception 00000002, at "
NO_WATCHDOG = {"netduinoplus2": "the emulator has no STM32 watchdog"}
# Instructions that the watchdog waits, 64 ns each: 100 ms.
PATIENCE = 1_562_500


@pytest.fixture(scope="module", params=chosen_boards())
def stepping(request: pytest.FixtureRequest) -> Firmware:
    """The linked firmware in steps of each board."""
    return build_firmware(request.param, "-steps")


def steps_of(emulator: Emulator) -> tuple[int, int, int]:
    """What !steps tells of the last text: count, instructions of the longest, bytes in between."""
    line = emulator.ask(b"!steps")
    told = re.fullmatch(
        r"steps of the last text: (\d+), the longest \d+ ticks, emulated (\d+) instructions \(not cycles\); "
        r"bytes in between: (\d+)",
        line,
    )
    assert told, line
    return int(told[1]), int(told[2]), int(told[3])


def test_golden_texts(stepping: Firmware, tmp_path: Path) -> None:
    texts = (ROOT / "tests" / "golden" / "texts.txt").read_bytes().split(b"\n")[:-1]
    sent = [text for text in texts if 0 < len(text) <= 1024 and not text.startswith(b"!") and b"\r" not in text]
    assert_same_bits(stepping, [*sent[::8], LONG], tmp_path)


def test_every_budget_gives_the_same_answer(stepping: Firmware) -> None:
    with stepping.start() as emulator:
        assert emulator.ask(b"!logits on") == "logits on"
        answer = emulator.ask(LONG)
        assert parse_answer(answer).truncated
        counts = []
        for budget in (1, 10_000, 100_000):
            assert emulator.ask(f"!budget {budget}".encode()) == f"budget {budget}"
            assert emulator.ask(LONG) == answer
            count, longest, _ = steps_of(emulator)
            assert longest < PATIENCE
            counts.append(count)
        assert counts == sorted(counts, reverse=True) and counts[0] > 1000 > counts[-1] > 100
        for wrong in (b"!budget ", b"!budget x", b"!budget 1e6", b"!budget -1", b"!budget 1234567890123456789"):
            assert emulator.ask(wrong) == "error budget: not a number"
        assert emulator.ask(LONG) == answer
        assert emulator.exit() == 0


def test_a_step_that_is_too_long_wakes_the_watchdog(stepping: Firmware) -> None:
    if stepping.board in NO_WATCHDOG:
        pytest.skip(NO_WATCHDOG[stepping.board])
    with stepping.start() as emulator:
        assert emulator.ask(b"!budget 1000000000000") == "budget 1000000000000"
        assert emulator.ask(LONG).startswith(WATCHDOG)
        with pytest.raises(Stopped) as stopped:
            emulator.ask(LONG)
        assert stopped.value.code == FAULT_EXIT


def test_the_next_line_is_taken_between_steps(stepping: Firmware) -> None:
    with stepping.start() as emulator:
        first, second = emulator.ask(LONG), emulator.ask(TEXT)
        assert first != second
        assert emulator.ask(b"!budget 1") == "budget 1"
        assert emulator.ask(LONG + b"\n!steps") == first
        waiting = emulator.ask(TEXT + b"\n" + LONG)  # the line that had come, then what is asked now
        received = re.search(r"bytes in between: (\d+)$", waiting)
        # The emulator brings them as it comes around, on a busy machine not all in time.
        assert received and 1 <= int(received[1]) <= len(b"!steps\n"), waiting
        assert [emulator.line(), emulator.line()] == [second, first]
        assert emulator.exit() == 0


def test_what_takes_longer_than_the_watchdog_waits_is_refused(stepping: Firmware) -> None:
    with stepping.start() as emulator:
        assert emulator.ask(b"!self") == "error self-test: one call, longer than the watchdog waits"
        parse_answer(emulator.ask(TEXT))


def test_nothing_is_copied_from_flash(stepping: Firmware) -> None:
    """The workspace is zeros: one value that is not, beside it, would put it there whole."""
    assert stepping.section(".data").size <= 64


def test_who_does_not_step_does_not_pay(firmware: Firmware) -> None:
    """Nothing of it is linked."""
    names = [symbol.name for symbol in firmware.symbols]
    assert any("agnews_small::classify(" in name for name in names)
    assert not [name for name in names if re.search(r"Step|agnews_small::(begin|step)|watchdog", name)]
