# SPDX-License-Identifier: Apache-2.0
"""What is planned and what is linked against the limits of a budget: by hand, of a model that is made up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from codegen.budget import linked
from codegen.budget.limits import ALLOWANCES, Limits
from codegen.errors import EtchError
from codegen.targets import TARGETS

PROGRAM, DIRECTORY, FIRMWARE = Path("build/classify"), Path("generated"), Path("build/firmware.elf")


def model_for(target: str) -> Any:
    """20,000 bytes of tables, 3,000 of arena, 1,500 of stack."""
    return SimpleNamespace(
        target=TARGETS[target], stack_budget=1500, tables="tables", plan=SimpleNamespace(arena_bytes=3000)
    )


@pytest.mark.parametrize("target", TARGETS)
def test_planned(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linked, "table_bytes", lambda tables, target: 20_000)
    allowed = ALLOWANCES[target]
    flash, ram = 20_000 + allowed.code, 3000 + 1500 + allowed.static
    said = linked.check_planned(Limits(flash, ram, 1500), model_for(target))
    assert said == f"within       planned {flash:,} bytes of flash, {ram:,} of RAM"
    for limits in (Limits(flash - 1), Limits(ram=ram - 1), Limits(stack=1499)):
        with pytest.raises(EtchError, match=r"of RAM: this needs --max-flash \d+K? --max-ram \d+K? --max-stack 1500$"):
            linked.check_planned(limits, model_for(target))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Which files are looked at; 70,000 bytes of flash and 9,000 of RAM are found."""
    calls: list[Any] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        calls.append((command, options["cwd"]))
        found = json.dumps({"flash": {"bytes": 70_000}, "ram": {"bytes": 9000}})
        return subprocess.CompletedProcess(command, 1, found, "")  # 1: another promise is broken

    def firmware(directory: Path, board: str, echo: object) -> Path:
        calls.append((directory, board))
        return FIRMWARE

    monkeypatch.setattr(linked.subprocess, "run", run)
    monkeypatch.setattr(linked, "build_firmware", firmware)
    return calls


def report_of(elf: Path) -> tuple[list[str], Path]:
    arguments = [str(elf), "--model", str(DIRECTORY.absolute()), "--json"]
    return [sys.executable, "-m", "tools.reports", *arguments], linked.ROOT


def test_a_program_gets_its_stack_from_elsewhere(read: list[Any]) -> None:
    limits = Limits(70_000, 10_500, 1500)
    said = linked.check_linked(limits, model_for("host"), DIRECTORY, PROGRAM, None, print)
    assert said == "within       linked, classify: 70,000 bytes of flash, 10,500 of RAM"
    assert read == [report_of(PROGRAM)]
    with pytest.raises(EtchError, match="budget-passed") as refused:
        linked.check_linked(Limits(ram=10_499), model_for("host"), DIRECTORY, PROGRAM, None, print)
    assert str(refused.value).endswith("--max-stack 1500; generated holds the model that is too large")


@pytest.mark.parametrize("board", [None, "mps2-an385"])
def test_a_firmware_holds_its_stack(read: list[Any], board: str | None) -> None:
    limits = Limits(70_000, 9000, 1500)
    said = linked.check_linked(limits, model_for("m-profile"), DIRECTORY, PROGRAM, board, print)
    assert said == "within       linked, firmware.elf: 70,000 bytes of flash, 9,000 of RAM"
    assert read == [(DIRECTORY, board or "netduinoplus2"), report_of(FIRMWARE)]
