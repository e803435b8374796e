# SPDX-License-Identifier: Apache-2.0
"""The terms a checkpoint is under, as its folder says them: they hold for the tables that are made of it, too."""

from __future__ import annotations

import re

from .files import CheckpointFolder
from .refusal import refusal

_LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "NOTICE")
_CARD = "README.md"
FILES = frozenset((*_LICENCES, _CARD))  # that may say them
_MAX_BYTES = 1 << 20  # of a licence
_MAX_FRONT_BYTES = 8 << 20  # of a card's front matter, which may list thousands of results; what follows is not read
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_BEGINNING = re.compile(r"---[ \t]*\n")
_ENTRY = re.compile(r"^license(?:_name|_link)?:.*\n(?:[ \t]*-[ \t].*\n)*", re.MULTILINE)


def read_terms(folder: CheckpointFolder) -> str | None:
    """What the model card's front matter says of its licence, then every licence file; None where there is neither.
    What has such a name and is no file, as a folder of licences, says nothing."""
    parts = []
    if folder.has_file(_CARD) and (entries := "".join(_ENTRY.findall(_front_matter(folder)))):
        parts.append(f"Of the model card ({_CARD}):\n{_shown(entries)}")
    for name in filter(folder.has_file, _LICENCES):
        parts.append(f"{name}:\n{_shown(_text(folder.read(name, _MAX_BYTES))).strip()}\n")
    return "\n".join(parts) or None


def _front_matter(folder: CheckpointFolder) -> str:
    """Of the card, empty where it has none."""
    begin = folder.read_begin(_CARD, _MAX_FRONT_BYTES + 1)
    text = _text(begin)
    if front := _FRONT_MATTER.match(text):
        return front[1]
    if len(begin) > _MAX_FRONT_BYTES and _BEGINNING.match(text):
        message = f"its front matter has more than {_MAX_FRONT_BYTES} bytes, the most that are read"
        raise refusal("file-too-large", message, file=_CARD)
    return ""


def _text(content: bytes) -> str:
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\u00a0", " ")


def _shown(text: str) -> str:
    """A text from somebody else: without characters that a terminal would obey."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)
