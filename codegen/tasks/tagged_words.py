# SPDX-License-Identifier: Apache-2.0
"""A file of tagged words, as CoNLL's: a word a line with its tag in the last column, empty lines between texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from ..errors import EtchError
from ..files.outside_files import NamedFile
from ..files.table_file import MAX_ROWS, STAGE, Row, refused

ENDINGS = (".conll", ".bio", ".iob")
_COLUMNS = re.compile("[ \t]+")

Tag = TypeVar("Tag")  # what a token is given


def read_tagged(path: Path) -> list[Row]:
    """All texts, at least one: their words with a space between, and so their tags."""
    if path.suffix not in ENDINGS:
        message = f"expected a file named {', '.join(ENDINGS)}, got '{path.name}'"
        raise EtchError("table-kind", "arguments", message)
    rows: list[Row] = []
    words: list[str] = []
    tags: list[str] = []
    begin = 0
    text = NamedFile(path, "table", STAGE).text()
    for number, line in enumerate([*text.replace("\r\n", "\n").split("\n"), ""], 1):
        fields = _COLUMNS.split(line.strip(" \t"))
        if fields != [""]:
            if len(fields) < 2:
                raise refused(path, number, "a word and its tag are expected, there is one column")
            begin = begin if words else number
            words.append(fields[0])
            tags.append(fields[-1])
        elif words:
            if len(rows) == MAX_ROWS:
                raise refused(path, number, f"there are more than {MAX_ROWS} texts, the most that are read")
            rows.append(Row(begin, " ".join(tags), (" ".join(words),)))
            words, tags = [], []
    if not rows:
        raise EtchError("table-empty", STAGE, "no texts", file=path.name)
    return rows


def tags_of_words(text: str, offsets: Sequence[tuple[int, int]], tags: Sequence[Tag], outside: Tag) -> list[Tag]:
    """The tag of the first token in each of the words of `text`, `outside` where a word has none: tokens have
    `offsets` in characters, equal ends for special ones. To SentencePiece's kinds and to byte-level BPE that trims
    nothing, a word's first token has the space before the word as well, or is it."""
    found: list[Tag] = []
    token = begin = 0

    def is_passed(first: int, last: int) -> bool:
        return first == last or (first < begin and first + 1 != begin)

    for word in text.split(" "):
        end = begin + len(word)
        while token < len(offsets) and is_passed(*offsets[token]):
            token += 1
        inside = token < len(offsets) and offsets[token][0] < end
        found.append(tags[token] if inside else outside)
        begin = end + 1
    return found
