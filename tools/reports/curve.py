# SPDX-License-Identifier: Apache-2.0
"""How good a model is in how much flash: generated against each of several limits, linked for a board, measured.

A point is one command of the generator, which finds a form that fits and links the firmware and the host's program.
The program, of the same generated sources, is asked all rows of a test that the search has not seen; flash and RAM are
those of the firmware's ELF.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codegen.building.build import program_path

from .failure import refused, text_of

_ROOT = Path(__file__).resolve().parents[2]
Echo = Callable[[str], None]


@dataclass(frozen=True)
class Point:
    limit: str  # of the flash, as it was asked for
    flash: int
    ram: int
    accuracy: float  # per cent
    rows: int
    pieces: int
    options: str  # what the search chose


@dataclass(frozen=True)
class Curve:
    board: str
    points: tuple[Point, ...]
    refused: tuple[tuple[str, str], ...] = ()  # limits that nothing fits in, and what was said


@dataclass(frozen=True)
class Request:
    """The arguments of tools/curve."""

    checkpoint: Path
    limits: Sequence[str]
    ram: str
    corpus: Path
    judge: Path
    test: Path
    board: str
    out: Path


def measure(request: Request, echo: Echo) -> Curve:
    """EtchError where a command fails for another reason than that nothing fits."""
    points: list[Point] = []
    missed: list[tuple[str, str]] = []
    for limit in request.limits:
        command = generate_command(request, limit)
        echo(" ".join(map(shlex.quote, command)))
        code, printed = _run([sys.executable, "-m", "codegen", *command[1:]])
        if "error[budget-too-small]" in printed:
            missed.append((limit, printed.strip().splitlines()[-1]))
            continue
        if code != 0:
            raise refused("curve-failed", f"{limit}: {printed.strip().splitlines()[-1] if printed.strip() else code}")
        points.append(_point(request, limit, printed))
        echo(f"  {described(points[-1])}")
    return Curve(request.board, tuple(points), tuple(missed))


def generate_command(request: Request, limit: str) -> list[str]:
    """The command that makes a point."""
    out = request.out / f"flash_{limit.lower()}"
    return [
        *("etch", "generate", str(request.checkpoint), "--out", str(out), "--target", "m-profile"),
        *("--max-flash", limit, "--max-ram", request.ram, "--prune-vocabulary", str(request.corpus)),
        *("--evaluate", str(request.judge), "--evaluate-rows", "3000", "--build", "--board", request.board),
    ]


def described(point: Point) -> str:
    """One line."""
    return f"{point.flash:,} bytes of flash, {point.ram:,} of RAM: {point.accuracy:.2f} % of {point.rows:,} rows"


def write_curve(curve: Curve) -> str:
    """JSON, the same for the same curve."""
    return json.dumps(asdict(curve), indent=1) + "\n"


def read_curve(path: Path) -> Curve:
    """What write_curve wrote. EtchError where it is none."""
    try:
        content: dict[str, Any] = json.loads(text_of(path))
        points = tuple(Point(**point) for point in content["points"])
        return Curve(content["board"], points, tuple((limit, said) for limit, said in content["refused"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise refused("not-a-curve", f"{path} is not what tools/curve --json wrote") from error


def _point(request: Request, limit: str, printed: str) -> Point:
    out = request.out / f"flash_{limit.lower()}"
    linked = _found(r"within +linked, \S+ ([\d,]+) bytes of flash, ([\d,]+) of RAM", printed)
    options = _found(r"^  the same +(.*)$", printed)[0]
    pieces = _found(r"^vocabulary +([\d,]+) entries", printed)[0]
    code, answers = _run([str(program_path(out)), "--evaluate", str(request.test)])
    if code != 0:
        raise refused("curve-failed", f"{limit}: the program failed on {request.test.name}")
    accuracy, rows = _found(r"^accuracy: ([\d.]+) %$", answers)[0], _found(r"^rows: (\d+)", answers)[0]
    return Point(limit, _number(linked[0]), _number(linked[1]), float(accuracy), int(rows), _number(pieces), options)


def _found(pattern: str, text: str) -> tuple[str, ...]:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise refused("curve-failed", f"what was printed has no line like {pattern}")
    return found.groups()


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _run(command: list[str]) -> tuple[int, str]:
    done = subprocess.run(
        command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    return done.returncode, done.stdout
