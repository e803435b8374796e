# SPDX-License-Identifier: Apache-2.0
"""The firmware of a board: built as its preset says, and what its ELF holds."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from board_build import ROOT, build
from classify_program import tool
from emulator import Emulator
from sampling import sampled

from codegen import pipeline
from codegen.head_folders import HeadFolder

BOARDS = sorted(path.parent.name for path in (ROOT / "firmware-demo" / "boards").glob("*/config.hpp"))
README_BOARD = "netduinoplus2"  # 1 MB of flash: its sizes stand in the firmware's README
DEFAULT_BOARDS = ["mps2-an385", README_BOARD, "mps3-an547"]  # no FPU; 1 MB of flash; Helium
FIELDS = 4  # of an answer without logits


def chosen_boards() -> list[str]:
    """ETCH_BOARDS, separated by blanks; three of them where it is not set, in a sample the README's and one more."""
    others = [board for board in DEFAULT_BOARDS if board != README_BOARD]
    chosen = os.environ.get("ETCH_BOARDS", "").split() or [README_BOARD, *sampled(others, 1, "boards")]
    unknown = set(chosen) - set(BOARDS)
    assert not unknown, f"ETCH_BOARDS: there is no board {unknown}"
    return chosen


def output(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, timeout=600).stdout


@dataclass(frozen=True)
class Section:
    name: str
    address: int
    offset: int  # in the file
    size: int
    in_file: bool  # else it only takes room in RAM
    loaded: bool

    def holds(self, address: int) -> bool:
        return self.address <= address < self.address + self.size


@dataclass(frozen=True)
class Symbol:
    name: str
    address: int
    size: int
    kind: str  # nm's letter


@dataclass(frozen=True)
class Firmware:
    board: str
    elf: Path

    def start(self, elf: Path | None = None) -> Emulator:
        return Emulator(self.board, elf or self.elf)

    @functools.cached_property
    def sections(self) -> list[Section]:
        pattern = r"^ *\[ *\d+\] (\S+) +(\S+) +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) [0-9a-f]+ +([A-Z]*) "
        found = re.findall(pattern, output(tool("arm-none-eabi-readelf"), "-SW", self.elf), re.MULTILINE)
        assert found
        return [
            Section(name, int(address, 16), int(offset, 16), int(size, 16), kind != "NOBITS", "A" in flags)
            for name, kind, address, offset, size, flags in found
        ]

    @functools.cached_property
    def symbols(self) -> list[Symbol]:
        pattern = r"^([0-9a-f]+) (?:([0-9a-f]+) )?(\w) (.+)$"
        found = re.findall(pattern, output(tool("arm-none-eabi-nm"), "-SC", self.elf), re.MULTILINE)
        return [Symbol(name, int(address, 16), int(size or "0", 16), kind) for address, size, kind, name in found]

    @property
    def tables(self) -> list[Symbol]:
        """The model's tables: what the assembler file of the generated model labels."""
        return [symbol for symbol in self.symbols if symbol.name.startswith("etch_agnews_small_") and symbol.size]

    def section(self, name: str) -> Section:
        return next(section for section in self.sections if section.name == name)

    def offset_of(self, address: int) -> int:
        """Where a byte of the board's memory lies in the ELF."""
        section = next(one for one in self.sections if one.loaded and one.in_file and one.holds(address))
        return section.offset + address - section.address

    @functools.cached_property
    def linker_map(self) -> str:
        return self.elf.with_name(f"{self.elf.name}.map").read_text()

    @functools.cached_property
    def regions(self) -> dict[str, tuple[int, int]]:
        """First address and length of each region of the board's memory."""
        listed = self.linker_map.partition("Memory Configuration")[2].partition("Linker script")[0]
        found = re.findall(r"^([A-Z]+) +0x([0-9a-f]+) +0x([0-9a-f]+)", listed, re.MULTILINE)
        return {name: (int(begin, 16), int(length, 16)) for name, begin, length in found}


@functools.cache
def build_firmware(board: str, variant: str = "") -> Firmware:
    """Generates, compiles and links it in the folder of its preset, where users have it, too."""
    for name in ("qemu-system-arm", "arm-none-eabi-g++", "arm-none-eabi-readelf", "arm-none-eabi-nm", "cmake"):
        tool(name)
    return Firmware(board, build(board, f"firmware-{board}", variant))


def firmware_of(
    board: str,
    checkpoint: Path,
    folder: Path,
    variant: str = "",
    *,
    task: str | None = None,
    heads: tuple[HeadFolder, ...] = (),
) -> Firmware:
    """The same of another model, generated in `folder`; `task` is one that the checkpoint does not say.

    Built where those of all such models are, so that the runtime is compiled once.
    """
    for name in ("qemu-system-arm", "arm-none-eabi-g++", "arm-none-eabi-readelf", "arm-none-eabi-nm", "cmake"):
        tool(name)
    model = folder / "board"  # whatever its name: a header of the firmware has the same
    request = pipeline.Request(checkpoint, model, target="m-profile", task=task, heads=heads)
    pipeline.generate(request, lambda _: None)
    target, options = f"firmware-{board}", [f"-DETCH_FIRMWARE_MODEL={model}"]
    if not variant:  # else the preset's
        options.append("-DETCH_FIRMWARE_STEP_BUDGET=0")
    built = ROOT / "build" / f"{target}-models"
    return Firmware(board, build(board, target, variant, built, tuple(options), copied_to=folder / "bin"))


@dataclass(frozen=True)
class Answer:
    label: str
    per_cent: float
    tokens: int
    truncated: bool
    logits: tuple[int, ...]  # bits


def parse_answer(line: str) -> Answer:
    """The line that a text gets back."""
    fields = line.split("\t")
    assert len(fields) in (FIELDS, FIELDS + 1), line
    share = re.fullmatch(r"(\d+\.\d) %", fields[1])
    tokens = re.fullmatch(r"(\d+) tokens", fields[2])
    assert share and tokens, line
    assert fields[3] in ("whole", "truncated"), line
    bits = fields[FIELDS].split() if len(fields) > FIELDS else []
    assert all(re.fullmatch(r"[0-9A-F]{8}", one) for one in bits), line
    logits = tuple(int(one, 16) for one in bits)
    return Answer(fields[0], float(share[1]), int(tokens[1]), fields[3] == "truncated", logits)


def memory_of(emulator: Emulator) -> dict[str, int]:
    """What !mem tells."""
    line = emulator.ask(b"!mem")
    assert line.startswith("memory in bytes: "), line
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)}
