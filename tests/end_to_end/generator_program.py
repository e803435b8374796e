# SPDX-License-Identifier: Apache-2.0
"""Runs `python3 -m codegen` the way a user does, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classify_program import ROOT, Outcome

TIMEOUT = 300  # seconds


def etch(
    *arguments: str | bytes | Path, environment: Mapping[str, str] | None = None, cwd: Path = ROOT, **keywords: Any
) -> Outcome:
    """One command; `environment` adds to this process's."""
    done = subprocess.run(
        [sys.executable, "-m", "codegen", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {}),
        cwd=cwd,
        stdout=keywords.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        timeout=keywords.pop("timeout", TIMEOUT),
        check=False,
        **keywords,
    )
    return Outcome(done.returncode, done.stdout or b"", done.stderr.decode("utf-8", "replace"))


def one_line(outcome: Outcome, code: int) -> str:
    """The message of a command that ended with `code`."""
    assert outcome.code == code, (outcome.code, outcome.err)
    assert outcome.err.startswith("etch"), outcome.err
    assert outcome.err.count("\n") == 1, outcome.err
    assert outcome.err.endswith("\n"), outcome.err
    assert outcome.err[:-1].isprintable()
    assert "Traceback" not in outcome.err
    return outcome.err[:-1]
