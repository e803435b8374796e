# SPDX-License-Identifier: Apache-2.0
"""What a step costs on an emulated board.

As a command, `python steps.py BOARD...`: instructions of the longest step by budget, and of the largest unit of each
op, of a text that fills the firmware's model.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from board_build import build
from programs import run

EVERYTHING = (1 << 64) - 1


@dataclass(frozen=True)
class Steps:
    budget: int
    count: int
    longest: int  # instructions of a step
    all: int  # of begin() and all steps


@dataclass(frozen=True)
class Unit:
    op: str
    largest: int  # instructions
    per_cost: float  # the most instructions of a unit for each 1 that a budget counts for it


@dataclass(frozen=True)
class StepCounts:
    board: str
    kernels: str
    tokens: int
    text_bytes: int
    begin: int
    call: int  # instructions of classify()
    steps: tuple[Steps, ...]  # by budget
    units: tuple[Unit, ...]  # of each op

    def table(self) -> str:
        """As text."""
        lines = [
            f"{self.board}, kernels {self.kernels}, a text of {self.tokens} tokens: instructions (not cycles)",
            f"begin(), {self.text_bytes:,} bytes of text: {self.begin:,}; classify(): {self.call:,}",
            f"{'budget':>12}{'steps':>8}{'longest step':>15}{'begin() and all':>18}{'more':>9}",
        ]
        for row in self.steps:
            budget = "everything" if row.budget == EVERYTHING else f"{row.budget:,}"
            more = f"{100 * (row.all / self.call - 1):.1f} %"
            lines.append(f"{budget:>12}{row.count:>8,}{row.longest:>15,}{row.all:>18,}{more:>9}")
        lines.append(f"{'largest unit of':<20}{'instructions':>15}{'for a budget of 1':>27}")
        for unit in sorted(self.units, key=lambda unit: -unit.largest):
            lines.append(f"{unit.op:<20}{unit.largest:>15,}{unit.per_cost:>27.2f}")
        return "\n".join(lines)


def count_steps(board: str) -> StepCounts:
    """Of the firmware's model, the same in every run."""
    code, text = run(board, build(board, "step-counts"))
    kernels = re.search(r"^kernel (\w+)$", text, re.MULTILINE)
    call = re.search(r"^call (\d+) (\d+) (\d+) (\d+)$", text, re.MULTILINE)
    if code != 0 or kernels is None or call is None:
        raise RuntimeError(f"{board}: exit code {code}: {text}")
    units: dict[str, Unit] = {}
    for largest, cost, op in re.findall(r"^op \d+ (\d+) (\d+) .*T = (?:\w+::)*(\w+)", text, re.MULTILINE):
        before = units.get(op, Unit(op, 0, 0.0))
        most = max(before.per_cost, int(largest) / int(cost))
        units[op] = Unit(op, max(before.largest, int(largest)), most)
    steps = [Steps(*map(int, row)) for row in re.findall(r"^steps (\d+) (\d+) (\d+) (\d+)$", text, re.MULTILINE)]
    tokens, text_bytes, begin, whole = map(int, call.groups())
    return StepCounts(board, kernels[1], tokens, text_bytes, begin, whole, tuple(steps), tuple(units.values()))


def main() -> int:
    """The tables of the boards that are named."""
    print("\n\n".join(count_steps(board).table() for board in sys.argv[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
