# SPDX-License-Identifier: Apache-2.0
"""The terms a checkpoint is under, as its folder says them: they hold for the tables that are made of it, too."""

from __future__ import annotations

import re

from .files import CheckpointFolder

_LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "NOTICE")
_CARD = "README.md"
FILES = frozenset((*_LICENCES, _CARD))  # that may say them
_MAX_BYTES = 1 << 20
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^license(?:_name|_link)?:.*\n(?:[ \t]*-[ \t].*\n)*", re.MULTILINE)


def read_terms(folder: CheckpointFolder) -> str | None:
    """What the model card's front matter says of its licence, then every licence file; None where there is neither."""
    parts = []
    if folder.has(_CARD) and (front := _FRONT_MATTER.match(_text(folder, _CARD))):
        entries = "".join(_ENTRY.findall(front[1]))
        parts += [f"Of the model card ({_CARD}):\n{entries}"] if entries else []
    parts += [f"{name}:\n{_text(folder, name).strip()}\n" for name in _LICENCES if folder.has(name)]
    return "\n".join(parts) or None


def _text(folder: CheckpointFolder, name: str) -> str:
    """A text from somebody else: without characters that a terminal would obey."""
    text = folder.read(name, _MAX_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").replace("\u00a0", " ")
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in lines)
