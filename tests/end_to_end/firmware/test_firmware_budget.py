# SPDX-License-Identifier: Apache-2.0
"""A budget on what is linked: the firmware of a board within it, under the name of its own folder; refused where code
takes more than was allowed for."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from boards import ROOT, parse_answer
from classify_program import tool
from emulator import Emulator

from codegen import pipeline
from codegen.budget import Limits
from codegen.budget.limits import ALLOWANCES, Allowance
from codegen.errors import EtchError
from codegen.request import Evaluate, Prune

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("a board's budget")]

CHECKPOINT = ROOT / "tools" / "train" / "agnews_small" / "checkpoint"
TEXTS = (ROOT / "tests" / "golden" / "texts.txt").read_text(encoding="utf-8").split("\n")[:20]
BOARD = "netduinoplus2"
FLASH, RAM = 560 << 10, 96 << 10


def test_the_linked_firmware_keeps_within_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("elftools", reason="pyelftools is not installed: tools/report installs it")
    for name in ("qemu-system-arm", "arm-none-eabi-g++", "cmake"):
        tool(name)
    table, corpus, out = tmp_path / "rows.csv", tmp_path / "corpus.txt", tmp_path / "smaller"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows((1 + i % 4, text) for i, text in enumerate(TEXTS))
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    lines: list[str] = []
    request = pipeline.Request(
        CHECKPOINT,
        out,
        target="m-profile",
        build=True,
        prune=Prune(corpus, 1, "spelled"),
        evaluate=Evaluate(table),
        limits=Limits(FLASH, RAM),
        board=BOARD,
    )
    pipeline.generate(request, lines.append)
    found = re.search(r"linked, firmware-(\S+)\.elf: ([\d,]+) bytes of flash, ([\d,]+) of RAM", lines[-1])
    assert found
    assert found[1] == BOARD
    flash, ram = (int(size.replace(",", "")) for size in found.groups()[1:])
    planned = re.search(r"planned ([\d,]+) bytes of flash, ([\d,]+) of RAM", "\n".join(lines))
    assert planned
    allowance = ALLOWANCES["m-profile"]
    assert 0 <= int(planned[1].replace(",", "")) - flash < allowance.code // 8
    assert 0 <= int(planned[2].replace(",", "")) - ram < allowance.static // 2
    with Emulator(BOARD, out / "build" / f"firmware-{BOARD}" / "bin" / f"firmware-{BOARD}.elf") as emulator:
        assert emulator.ask(b"!self") == "self test passed"
        assert parse_answer(emulator.ask(TEXTS[0].encode())).tokens > 2

    monkeypatch.setitem(ALLOWANCES, "m-profile", Allowance(code=1 << 10, static=allowance.static))
    tables = flash - allowance.code
    with pytest.raises(EtchError, match=r"linked, .* bytes of flash, .*: this needs --max-flash \d+K") as refused:
        pipeline.generate(pipeline.replace(request, limits=Limits(tables + (20 << 10), RAM)), lines.append)
    assert (refused.value.code, refused.value.stage) == ("budget-passed", "budget")
