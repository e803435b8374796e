# SPDX-License-Identifier: Apache-2.0
"""The kernel sets of Cortex-M on emulated boards: scalar's bits, no fused multiply-add, how many instructions a model
takes; and the runtime compiled for a Cortex-M0."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import pytest
from board_build import ROOT, build
from boards import BOARDS, chosen_boards
from classify_program import tool
from programs import count_ops, run
from steps import EVERYTHING, count_steps

pytestmark = pytest.mark.sweep

# What the compiler's target macros decide, and the most instructions for each multiplication of the small model: from
# the text to the label, tokenizer included.
KERNELS = {
    "mps2-an385": ("plain", None),
    "mps2-an386": ("dsp", 1.4),
    "mps2-an500": ("dsp", 1.4),
    "mps2-an505": ("dsp", 1.4),
    "mps3-an547": ("mve", 0.25),
    "netduinoplus2": ("dsp", 1.4),
}
LEAST_CHECKS = 8000
# Instructions, at most: the largest unit by kernel set, and what a step adds to its units on its way through the ops.
LARGEST_UNIT = {"plain": 700_000, "dsp": 70_000, "mve": 15_000}
STEP_OVERHEAD = 3_500
FUSED = re.compile(r"vfn?m[as](\.|$)")
CORTEX_M0 = ("-mcpu=cortex-m0", "-mthumb", "-std=c++17", "-O2", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti")


@pytest.fixture(scope="module", params=chosen_boards())
def board(request: pytest.FixtureRequest) -> str:
    for name in ("qemu-system-arm", "arm-none-eabi-g++", "arm-none-eabi-objdump", "arm-none-eabi-nm", "cmake"):
        tool(name)
    return str(request.param)


def test_every_board_has_a_kernel_set() -> None:
    assert list(KERNELS) == BOARDS


def test_each_set_gives_the_bits_of_scalar(board: str) -> None:
    code, text = run(board, build(board, "kernel-checks"))
    checked = re.findall(r"^set (\w+) checked (\d+) wrong (\d+)$", text, re.MULTILINE)
    assert [name for name, _, _ in checked] == [KERNELS[board][0]], text
    assert all(int(count) >= LEAST_CHECKS and wrong == "0" for _, count, wrong in checked), text
    assert code == 0, text


def test_the_small_model_takes_few_instructions(board: str) -> None:
    counts = count_ops(board)
    kernels, most = KERNELS[board]
    assert counts.kernels == kernels
    named = {op.name for op in counts.ops}
    assert {"EmbeddingSum", "LayerNorm", "Quantize", "Attention", "PackKeys", "PackValues"} <= named
    assert sum(op.instructions for op in counts.ops) < counts.call
    assert most is None or counts.call <= most * counts.macs, counts.table()


def test_a_small_budget_bounds_the_longest_step(board: str) -> None:
    counts = count_steps(board)
    assert counts.tokens == 128
    largest = max(unit.largest for unit in counts.units)
    assert largest <= LARGEST_UNIT[counts.kernels], counts.table()
    smallest, *_, everything = counts.steps
    assert smallest.budget == 1
    assert largest < smallest.longest <= largest + STEP_OVERHEAD, counts.table()
    assert (everything.budget, everything.count) == (EVERYTHING, 1)
    assert everything.all <= counts.call * 1.04
    for one, other in itertools.pairwise(counts.steps):
        assert one.count > other.count
        assert one.longest <= other.longest
    # A step spends its budget or one unit: what that is in instructions depends on the op.
    per_cost = max(unit.per_cost for unit in counts.units)
    for row in counts.steps:
        assert row.longest <= max(largest, per_cost * row.budget) + STEP_OVERHEAD, counts.table()


def _disassembled(archive: Path) -> dict[str, list[str]]:
    """Mnemonics by object. Binutils name all of Helium's instructions only where they are told of the architecture."""
    command = ["arm-none-eabi-objdump", "-d", "-m", "armv8.1-m.main", "--no-show-raw-insn", "-w", archive]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        begin = re.fullmatch(r"(\S+\.obj):\s+file format .*", line)
        if begin:
            name = begin[1]
        elif re.match(r" +[0-9a-f]+:\t", line):
            found.setdefault(name, []).append(line.split("\t")[1].split()[0])
    return found


def test_no_fused_multiply_add(board: str) -> None:
    folder = build(board, "op-counts").parent
    for archive in ("libetch.a", "libfirmware_model.a"):
        objects = _disassembled(folder / archive)
        assert sum(map(len, objects.values())) > 1000
        for name, mnemonics in objects.items():
            unnamed = {mnemonic for mnemonic in mnemonics if mnemonic.startswith(("cdp", "ldc", "stc"))}
            fused = {mnemonic for mnemonic in mnemonics if FUSED.match(mnemonic)} | unnamed
            assert not fused, f"{archive}({name}): {fused}"


def test_kernel_objects_export_their_set_only(board: str) -> None:
    archive = build(board, "op-counts").parent / "libetch.a"
    text = subprocess.run(["arm-none-eabi-nm", "-A", archive], capture_output=True, text=True, check=True).stdout
    symbols = re.findall(r":(plain|dsp|mve)\.cpp\.obj:\S* +(\w) (\S+)$", text, re.MULTILINE)
    assert {name for name, kind, _ in symbols if kind == "R"} == {KERNELS[board][0]}
    for name, kind, symbol in symbols:
        assert kind in "UtrdN" or (kind in "RD" and re.search(r"\d+k(Plain|Dsp|Mve)E$", symbol)), (name, kind, symbol)


@pytest.mark.long_case("Cortex-M0")
def test_the_runtime_compiles_for_a_cortex_m0(tmp_path: Path) -> None:
    tool("arm-none-eabi-g++")
    runtime = ROOT / "runtime"
    listed = re.search(r"set\(etch_sources\s+(.*?)\)", (runtime / "CMakeLists.txt").read_text(), re.DOTALL)
    assert listed is not None
    sources = [*listed[1].split(), "src/kernels/dsp/dsp.cpp", "src/kernels/mve/mve.cpp"]
    objects = []
    for source in sources:
        objects.append(tmp_path / (source.replace("/", "-") + ".o"))
        command = ["arm-none-eabi-g++", *CORTEX_M0, "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iinclude", "-Isrc"]
        subprocess.run([*command, "-c", source, "-o", objects[-1]], cwd=runtime, check=True)
    text = subprocess.run(["arm-none-eabi-nm", "-u", *objects], capture_output=True, text=True, check=True).stdout
    foreign = {name for name in re.findall(r"U (\S+)", text) if not name.startswith(("_ZN4etch", "_ZNK4etch"))}
    # Nothing but what the compiler brings: libgcc, and the four functions that any program may have to have.
    assert {name for name in foreign if not name.startswith("__")} <= {"memcpy", "memmove", "memset", "memcmp"}, foreign
