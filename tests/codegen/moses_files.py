# SPDX-License-Identifier: Apache-2.0
"""Folders of BioGptTokenizer, XLMTokenizer, FlaubertTokenizer and FSMTTokenizer for tests, and texts that Moses' rules
are about."""

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
XLM_SPECIAL = ("<s>", "</s>", "<pad>", "<unk>", *(f"<special{i}>" for i in range(10)))
# What is normalized before these rules, and its neighbours.
NORMALIZED_ALPHABET = (
    *"`'\"().,:;%!?-1ab<  ",
    *("\u201c", "\u201d", "\u201e", "\u2013", "\u2014", "\xab", "\xbb", "\xb4", "\u2018", "\u201a", "\u2019"),
    *("\u2026", "\u3002", "\uff0e", "\uff0c", "\u3001", "\uff05", "\uff08", "\uff09", "\uff1a", "\u300a", "\u3009"),
    *("\u2501", "\u2236", "\uff5e", "\uff11", "\uff19", "\u0663", "\xba", "n\xba", "\xbaC", "cm", "\r", "\x85", "\xad"),
    *("\xa0", "\xa0", "\xbb\xa0", "\xa0\xab", '."', ',"', '",', "\"'", "\u1fef", "l'", "M.", "art."),
    *(
        "\u03a3",
        "\u03a3",
        "\u03c3",
        "\u0391\u03a3",
        "\xc0\xc9",
        "e\u0301",
        "\u0130",
        "\xdf",
        "\u01c4",
        "\u0345",
        "\u02b0",
        "\xb7",
    ),
    *("\uac00", "\ud7a3", "\u0958", "\u0915\u094d", "\u093c", "\u0439"),
)


def write_folder(place: Path, pairs: Iterable[tuple[str, str]], pieces: Sequence[str], **settings: Any) -> None:
    """As the class reads it, `pieces` behind its special tokens; FSMTTokenizer has the same in both languages."""
    special = XLM_SPECIAL if settings.get("tokenizer_class") in ("XLMTokenizer", "FlaubertTokenizer") else SPECIAL
    ids = {piece: i for i, piece in enumerate((*special, *pieces))}
    names = ("vocab-src.json", "vocab-tgt.json") if "langs" in settings else ("vocab.json",)
    for name in names:
        (place / name).write_text(json.dumps(ids), encoding="utf-8")
    merges = "".join(f"{left} {right} {100 - rank}\n" for rank, (left, right) in enumerate(pairs))
    (place / "merges.txt").write_text(merges, encoding="utf-8")
    said = {"tokenizer_class": "BioGptTokenizer", **settings}
    (place / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")


def drawn_text(source: random.Random, most: int = 12, alphabet: Sequence[str] = ALPHABET) -> str:
    return "".join(source.choices(alphabet, k=source.randint(0, most)))
