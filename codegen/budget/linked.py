# SPDX-License-Identifier: Apache-2.0
"""Whether a model keeps within its limits: as planned, before it is written, and as linked."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ..building.build import ROOT, build_firmware
from ..errors import EtchError
from ..pack.tables import table_bytes
from ..render.model import Model
from ..sizes import size_text
from .limits import ALLOWANCES, STAGE, Limits, Size

DEFAULT_BOARD = "netduinoplus2"


def check_tools() -> None:
    """EtchError where what is linked could not be looked at; asked before the search, which takes its time."""
    if not (ROOT / "tools" / "reports").is_dir() or not (ROOT / "firmware-demo").is_dir():
        message = "what is linked against a budget is read by tools/report: --build needs the checkout of etch"
        raise EtchError("report-missing", STAGE, message)
    if importlib.util.find_spec("elftools") is None:
        raise EtchError("report-missing", STAGE, "--build needs pyelftools: tools/reports/requirements.txt")


def check_planned(limits: Limits, model: Model) -> str:
    """A line for the report; EtchError where the model that the search chose is larger than it counted."""
    allowance = ALLOWANCES[model.target.name]
    stack = model.stack_budget
    flash = table_bytes(model.tables, model.target) + allowance.code
    return _kept("planned", limits, Size(flash, model.plan.arena_bytes + stack + allowance.static, stack))


def check_linked(
    limits: Limits, model: Model, directory: Path, program: Path, board: str | None, echo: Callable[[str], None]
) -> str:
    """The same of what is linked: for m-profile the firmware of a board, else the program. `directory` is written by
    then, and the error says that it stays."""
    elf = program
    if model.target.name == "m-profile":
        elf = build_firmware(directory, board or DEFAULT_BOARD, echo)
    flash, ram = linked_bytes(elf, directory)
    # A process gets its stack from elsewhere.
    ram += 0 if model.target.name == "m-profile" else model.stack_budget
    left = f"; {directory} holds the model that is too large"
    return _kept(f"linked, {elf.name}:", limits, Size(flash, ram, model.stack_budget), left)


def _kept(what: str, limits: Limits, size: Size, left: str = "") -> str:
    words = f"{what} {size.flash:,} bytes of flash, {size.ram:,} of RAM"
    if not limits.hold(size):
        needed = f"--max-flash {size_text(size.flash)} --max-ram {size_text(size.ram)} --max-stack {size.stack}"
        raise EtchError("budget-passed", STAGE, f"{words}: this needs {needed}{left}")
    return f"within       {words}"


def linked_bytes(elf: Path, directory: Path) -> tuple[int, int]:
    """Flash and static RAM, as tools/report reads them. Its checks of other promises are not asked for here."""
    command = [sys.executable, "-m", "tools.reports", str(elf), "--model", str(directory.absolute()), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, 1):
        raise EtchError("report-failed", STAGE, f"tools/report cannot read {elf.name}", detail=done.stderr.strip())
    content = json.loads(done.stdout)
    return content["flash"]["bytes"], content["ram"]["bytes"]
