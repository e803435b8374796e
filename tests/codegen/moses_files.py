# SPDX-License-Identifier: Apache-2.0
"""Folders of BioGptTokenizer for tests, and texts that Moses' rules are about."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
# What single rules ask for, and what looks like it; with control characters, spaces, marks and letters of any kind.
ALPHABET = (
    *"''`.,,--\"  ab5sSA&<>[]|@#!?$%:;/_0",
    *("...", "..", "DOT", "MULTI", "DOTMULTI", "DO", "Mr", "No", "pp", "v", "e.g", "i.e", "No. 5", "Mr.", ". ", ", "),
    *("&amp;", "@-@", "http://", "X.", "n't", "'s", "1,000", "``", "''", "\r\n"),
    *("\x01", "\x1f", "\x7f", "\x85", "\xa0", "\n", "\t", "\u2028", "\u3000", "\u200b", "\ufeff", "\u0301", "\u094d"),
    *("\u4e2d", "\u3042", "\ud55c", "\xbd", "\u0663", "\xe9", "\xdf", "\u0130", "\xaa", "\u2026", "\u2019", "\u201c"),
    *("\U0001d7d8", "\U00010400", "\U0001f600", "\x00"),
)


def write_folder(place: Path, pairs: Iterable[tuple[str, str]], pieces: Sequence[str], **settings: Any) -> None:
    """As the class reads it, `pieces` behind SPECIAL."""
    ids = {piece: i for i, piece in enumerate((*SPECIAL, *pieces))}
    (place / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    merges = "".join(f"{left} {right} {100 - rank}\n" for rank, (left, right) in enumerate(pairs))
    (place / "merges.txt").write_text(merges, encoding="utf-8")
    said = {"tokenizer_class": "BioGptTokenizer", **settings}
    (place / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")


def drawn_text(source: random.Random, most: int = 12) -> str:
    return "".join(source.choices(ALPHABET, k=source.randint(0, most)))
