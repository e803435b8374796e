# SPDX-License-Identifier: Apache-2.0
"""Runs render.py."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = Path(__file__).resolve().parent / "render.py"
_SECONDS = 20  # also where the machine is busy: the process has less of its own

Conversation = Sequence[Mapping[str, str]]  # each with a role and a content


@dataclass(frozen=True)
class Rendered:
    """Of each conversation its text, None where the template refused it, and why."""

    texts: tuple[str | None, ...]
    refusals: tuple[str | None, ...]
    asks: frozenset[str]  # names that the template does not define itself


def render(template: str, variables: Mapping[str, str], conversations: Sequence[Conversation]) -> Rendered | str:
    """All of them, or why there is none."""
    asked = {"template": template, "variables": variables, "conversations": conversations}
    try:
        done = subprocess.run(
            [sys.executable, str(_PROGRAM)],
            input=json.dumps(asked).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
        answer = json.loads(done.stdout) if done.stdout else {"error": "it takes too much time or memory"}
    except subprocess.TimeoutExpired:
        return "it takes too much time"
    if "error" in answer:
        return str(answer["error"])
    return Rendered(tuple(answer["texts"]), tuple(answer["refusals"]), frozenset(answer["asks"]))
