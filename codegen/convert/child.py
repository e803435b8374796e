# SPDX-License-Identifier: Apache-2.0
"""Runs unpickle.py in a process of its own and says what became of each file."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import EtchError, printable

_PROGRAM = Path(__file__).resolve().parent / "unpickle.py"
_SHOWN = 5


@dataclass(frozen=True)
class Job:
    """Pickled files, open, whose tensors become one file."""

    names: list[str]  # inside of the checkpoint, for messages
    descriptors: list[int]
    out: Path


def run_child(jobs: list[Job], python: str) -> Iterator[str]:
    """What to tell of each job. The process gets open files and a folder, and no path of the checkpoint."""
    asked = [{"names": job.names, "files": job.descriptors, "out": str(job.out)} for job in jobs]
    descriptors = [descriptor for job in jobs for descriptor in job.descriptors]
    with tempfile.TemporaryFile() as said:
        try:
            done = subprocess.run(
                [python, str(_PROGRAM)],
                input=json.dumps(asked).encode(),
                stdout=subprocess.PIPE,
                stderr=said,
                pass_fds=descriptors,
                check=False,
            )
        except OSError as error:
            raise EtchError("python-missing", "convert", f"{python} cannot be run: {error.strerror}") from None
        said.seek(0)
        answer = _parsed(done.stdout)
        if answer is None:
            raise EtchError(
                "unpickling-failed",
                "convert",
                f"the process that reads the pickle ended with {done.returncode}",
                detail=printable_lines(said.read()[-2000:]),
            )
    if "error" in answer:
        told = answer["error"]
        raise EtchError(told["code"], "convert", told["message"], file=told["file"])
    for job, result in zip(jobs, answer["done"], strict=True):
        place = job.names[0] if len(job.names) == 1 else f"{len(job.names)} files"
        yield f"unpickled    {printable(place)}: {result['tensors']:,} tensors, {result['bytes']:,} bytes"
        same = result["same"]
        for name, kept in same[:_SHOWN]:
            yield f"  same as    {printable(kept)}: {printable(name)}, left out"
        if len(same) > _SHOWN:
            yield f"  same as    others: {len(same) - _SHOWN} more, left out"


def printable_lines(text: bytes) -> str:
    """What a process said, safe for a terminal."""
    return "\n".join(printable(line) for line in text.decode("utf-8", "replace").splitlines())


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
