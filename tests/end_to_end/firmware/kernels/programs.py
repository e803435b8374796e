# SPDX-License-Identifier: Apache-2.0
"""The programs of this folder on an emulated board: kernel checks, and instructions by op.

As a command, `python programs.py BOARD`: the table of instructions by op of the firmware's model.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from board_build import build
from emulator import qemu

PATIENCE = 600  # seconds for a program, on a machine that is busy with other things


def run(board: str, program: Path) -> tuple[int, str]:
    """Exit code and text of a program on an emulated board, whose clock counts instructions."""
    done = subprocess.run(
        qemu(board, program), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout


@dataclass(frozen=True)
class Op:
    name: str
    calls: int
    macs: int
    instructions: int


@dataclass(frozen=True)
class Counts:
    board: str
    kernels: str
    tokens: int
    ops: tuple[Op, ...]  # those of one type and shape together
    call: int  # instructions of classify(), from the text to the label

    @property
    def macs(self) -> int:
        """Multiplications of activations by weights, keys and values."""
        return sum(op.macs for op in self.ops)

    def table(self) -> str:
        """As text, what costs most first."""
        lines = [
            f"{self.board}, kernels {self.kernels}, a text of {self.tokens} tokens: instructions (not cycles) by op",
            f"{'op':<22}{'calls':>7}{'MACs':>13}{'instructions':>15}{'per MAC':>10}{'share':>9}",
        ]
        for op in sorted(self.ops, key=lambda op: -op.instructions):
            lines.append(self._line(op.name, str(op.calls), op.macs, op.instructions))
        rest = self.call - sum(op.instructions for op in self.ops)
        lines.append(self._line("tokenizer and the rest", "", 0, rest))
        lines.append(self._line("classify(text)", "1", self.macs, self.call))
        return "\n".join(lines)

    def _line(self, name: str, calls: str, macs: int, instructions: int) -> str:
        per_mac = f"{instructions / macs:.3f}" if macs else "-"
        share = f"{100 * instructions / self.call:.1f} %"
        return f"{name:<22}{calls:>7}{f'{macs:,}' if macs else '-':>13}{instructions:>15,}{per_mac:>10}{share:>9}"


def count_ops(board: str) -> Counts:
    """Instructions by op of one call of the firmware's model, the same in every run."""
    code, text = run(board, build(board, "op-counts"))
    if code != 0:
        raise RuntimeError(f"{board}: exit code {code}: {text}")
    ops: dict[str, Op] = {}
    for *numbers, kind in re.findall(r"^op (\d+) (\d+) (\d+) (\d+) .*T = (?:\w+::)*(\w+)", text, re.MULTILINE):
        instructions, inputs, outputs, macs = map(int, numbers)
        name = f"{kind} {inputs}x{outputs}" if inputs else kind
        before = ops.get(name, Op(name, 0, 0, 0))
        ops[name] = Op(name, before.calls + 1, before.macs + macs, before.instructions + instructions)
    kernels = re.search(r"^kernel (\w+)$", text, re.MULTILINE)
    call = re.search(r"^call (\d+) (\d+)$", text, re.MULTILINE)
    if kernels is None or call is None:
        raise RuntimeError(f"{board}: {text}")
    return Counts(board, kernels[1], int(call[1]), tuple(ops.values()), int(call[2]))


def main() -> int:
    """The table of one board."""
    print(count_ops(sys.argv[1]).table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
