# SPDX-License-Identifier: Apache-2.0
"""Counts of the kernel sets that only a microcontroller runs: their checks on an emulated board, with GCC's counters in
them. board_counts.cpp sends the counts over the board's UART."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GCOV = "arm-none-eabi-gcov"
TOOLS = ("arm-none-eabi-g++", GCOV, "qemu-system-arm")
PATIENCE = 900  # seconds for a program, on a machine that is busy with other things


@dataclass(frozen=True)
class BoardSet:
    """A kernel set, the board whose processor has its instructions, and how it is compiled to be counted."""

    name: str
    board: str
    options: tuple[str, ...]


SETS = (
    # As the preset `coverage`: nothing is optimized or inlined.
    BoardSet("dsp", "mps2-an386", ("-O0", "-Dalways_inline=unused")),
    # Its assembly keeps values in registers by name, which a call would change, and needs more than -O0 leaves.
    BoardSet("mve", "mps3-an547", ("-O1",)),
)
_FLAGS = ["-mthumb", "-std=c++17", "-ffp-contract=off", "-fno-math-errno"]
_FLAGS += ["-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
_KERNELS = ROOT / "runtime" / "src" / "kernels"
_COMMON = ROOT / "firmware-demo" / "boards" / "common"
_CHECKS = ROOT / "tests" / "end_to_end" / "firmware" / "kernels"
_END = "_ZN5board6finishEi"  # board::finish(int), which board_counts.cpp stands in front of


def _checks() -> list[str]:
    """The sources of the checks, as the firmware's build names them."""
    named = re.search(
        r"etch_add_firmware\(kernel-checks\s.*?SOURCES ([^\n]+)", (_CHECKS / "CMakeLists.txt").read_text(), re.S
    )
    assert named is not None
    return named[1].split()


def missing_tool() -> str | None:
    """What would have to be installed first."""
    return next((tool for tool in TOOLS if shutil.which(tool) is None), None)


def count(measured: BoardSet, folder: Path) -> bool:
    """Compiles and runs the checks; leaves notes and counts in `folder`/kernels/SET for gcov. False where they fail, or
    where they cannot be built."""
    try:
        return _count(measured, folder)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(error)
        return False


def _count(measured: BoardSet, folder: Path) -> bool:
    board = ROOT / "firmware-demo" / "boards" / measured.board
    cpu = re.search(r'ETCH_CPU_FLAGS "(.*)"', (board / "toolchain.cmake").read_text())
    assert cpu is not None
    machine = [*_FLAGS, *cpu[1].split()]
    includes = [f"-I{path}" for path in (ROOT / "runtime/include", ROOT / "runtime/src", _COMMON, board)]
    own = _KERNELS / measured.name / f"{measured.name}.cpp"
    counted = folder / "kernels" / measured.name / f"{measured.name}.o"
    counted.parent.mkdir(parents=True, exist_ok=True)
    counters = ["--coverage", "-fprofile-info-section=gcov_info"]  # a section, for no constructor would run
    _run(TOOLS[0], *machine, *includes, *measured.options, *counters, "-c", own, "-o", counted)
    sources = [
        *(_KERNELS / f"{name}.cpp" for name in ("panel_sets", "registry", "rows_sets")),
        *(_KERNELS / "scalar").glob("*.cpp"),
        *(path for name in ("plain", "dsp", "mve") if (path := _KERNELS / name / f"{name}.cpp") != own),
        *(ROOT / "runtime/src" / name for name in ("ops/row_ops.cpp", "status.cpp")),
        *(_CHECKS / name for name in _checks()),
        *(_COMMON / f"{name}.cpp" for name in ("board", "clock", "memory", "semihosting", "start")),
        Path(__file__).parent / "board_counts.cpp",
    ]
    sections = ["-ffunction-sections", "-fdata-sections", "-fno-tree-loop-distribute-patterns"]
    objects = []
    for number, source in enumerate(sorted(sources)):
        objects.append(folder / f"{number}-{source.stem}.o")
        options = ["-O2", *sections, "-DBOARD_STACK_BYTES=65536"]
        _run(TOOLS[0], *machine, *includes, *options, "-c", source, "-o", objects[-1])
    elf = folder / "checks.elf"
    link = [
        "-nostdlib",
        "-static",
        f"-L{_COMMON}",
        f"-T{board / 'memory.ld'}",
        "-Wl,--gc-sections",
        f"-Wl,--wrap={_END}",
    ]
    _run(TOOLS[0], *machine, *link, counted, *objects, "-lgcov", "-lgcc", "-o", elf)
    command = ["qemu-system-arm", "-M", measured.board, "-kernel", elf, "-display", "none", "-monitor", "none"]
    command += ["-serial", "stdio", "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    files = re.findall(r"^gcda (\S+)\n((?:[0-9a-f]{2})+)$", done.stdout, re.MULTILINE)
    for path, content in files:
        Path(path).write_bytes(bytes.fromhex(content))
    print("".join(f"{line}\n" for line in done.stdout.splitlines() if re.match("set|differs|fault", line)), end="")
    return done.returncode == 0 and [Path(path) for path, _ in files] == [counted.with_suffix(".gcda")]


def _run(*command: str | Path) -> None:
    subprocess.run(command, cwd=ROOT, check=True)
