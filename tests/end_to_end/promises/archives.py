# SPDX-License-Identifier: Apache-2.0
"""What binutils say about the archives and programs of the build that ETCH_BUILD names."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from classify_program import build_folder, built_file, tool


def run(*command: str | Path, timeout: int = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, check=False)


def archives() -> list[Path]:
    """The runtime and every model that this build has: all that runs inside an inference."""
    found = [built_file("libetch.a"), built_file("libetch_agnews.a")]
    others = build_folder().glob("bin/libetch_*.a")
    helpers = {"libetch_hosted.a", "libetch_agnews_asan.a", "libetch_agnews_tsan.a"}
    helpers |= {"libetch_cuda_on_host.a", "libetch_cuda_stand_in.a"}
    found += sorted(path for path in others if path not in found and path.name not in helpers)
    return found


@dataclass(frozen=True)
class Symbol:
    kind: str  # nm's letter
    name: str


@dataclass(frozen=True)
class Object:
    archive: str
    name: str
    symbols: tuple[Symbol, ...]
    sections: tuple[tuple[str, int], ...]  # name, bytes

    def __str__(self) -> str:
        return f"{self.archive}({self.name})"


def _output(*command: str | Path) -> str:
    done = run(*command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _members(text: str) -> Iterator[tuple[str, list[str]]]:
    """`NAME.o:` and the lines after it, as nm and objdump print archives."""
    name, lines = "", []
    for line in text.splitlines():
        begin = re.fullmatch(r"(\S+\.o(?:bj)?):(?:\s+file format .*)?", line)
        if begin:
            if name:
                yield name, lines
            name, lines = begin[1], []
        else:
            lines.append(line)
    if name:
        yield name, lines


@cache
def objects_of(archive: Path) -> tuple[Object, ...]:
    symbols = dict(_members(_output(tool("nm"), archive)))
    sections = dict(_members(_output(tool("objdump"), "-h", archive)))
    assert symbols.keys() == sections.keys(), "members of one name"
    assert len(symbols) == len(_output(tool("ar"), "t", archive).split())
    found = []
    for name, lines in symbols.items():
        table = [line.split() for line in sections[name]]
        found.append(
            Object(
                archive.name,
                name,
                tuple(Symbol(*re.split(r"\s+", line.strip())[-2:]) for line in lines if line.strip()),
                tuple((row[1], int(row[2], 16)) for row in table if len(row) >= 7 and row[0].isdigit()),
            )
        )
    return tuple(found)


def all_objects() -> list[Object]:
    return [one for archive in archives() for one in objects_of(archive)]


@cache
def instructions_of(archive: Path) -> dict[str, list[tuple[str, str]]]:
    """(mnemonic, operands) of every instruction, by object."""
    text = _output(tool("objdump"), "-d", "--no-show-raw-insn", "-w", archive)
    found = {}
    for name, lines in _members(text):
        split = [re.split(r"\s+", line.split(":", 1)[1].strip(), maxsplit=1) for line in lines if line.startswith(" ")]
        found[name] = [(parts[0], parts[1] if len(parts) > 1 else "") for parts in split]
    return found


@cache
def innermost_loops(archive: Path) -> dict[str, list[list[tuple[str, str]]]]:
    """The instructions of every loop without a jump inside it, by object."""
    text = _output(tool("objdump"), "-d", "--no-show-raw-insn", "-w", archive)
    return {name: list(_loops(lines)) for name, lines in _members(text)}


def _loops(lines: list[str]) -> Iterator[list[tuple[str, str]]]:
    rows: list[tuple[str, str]] = []
    places: dict[str, int] = {}  # of a function, by address
    last_jump = -1
    for line in lines:
        if line.endswith(">:"):
            rows, places, last_jump = [], {}, -1
        if not line.startswith(" "):
            continue
        address, instruction = line.split(":", 1)
        mnemonic, _, operands = re.sub(r"\{\w+\} ", "", instruction.strip()).partition(" ")
        places[address.strip()] = len(rows)
        rows.append((mnemonic, operands.strip()))
        if mnemonic.startswith("j"):
            begin = places.get(operands.split()[0] if operands else "", len(rows))
            if last_jump < begin < len(rows):
                yield rows[begin:]
            last_jump = len(rows) - 1
