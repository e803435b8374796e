# SPDX-License-Identifier: Apache-2.0
"""Folders of PhobertTokenizer and BertweetTokenizer for tests: codes learned of random words, a dictionary without some
of the pieces that merging makes."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from codegen.ir.tokenizer_spec import goes_on

LETTERS = "abcde\u0111\u1ec7@<\u4e2d\U0001f600"
END, GOES_ON = "</w>", "@@"


def learned(source: random.Random, words: Sequence[str], count: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs in their order, and the pieces that spell the words with them."""
    spelled = [[*word[:-1], word[-1] + END] for word in words]
    pairs: list[tuple[str, str]] = []
    for _ in range(count):
        found = Counter(pair for symbols in spelled for pair in pairwise(symbols) if not _reads_as_going_on(*pair))
        if not found:
            break
        pairs.append(source.choice([pair for pair, _ in found.most_common(5)]))
        for symbols in spelled:
            at = 0
            while at + 1 < len(symbols):
                if (symbols[at], symbols[at + 1]) == pairs[-1]:
                    symbols[at : at + 2] = ["".join(pairs[-1])]
                at += 1
    names = (s.removesuffix(END) if s.endswith(END) else s + GOES_ON for symbols in spelled for s in symbols)
    return pairs, list(dict.fromkeys(names))


def _reads_as_going_on(left: str, right: str) -> bool:
    """Whether a word would end in what reads as the mark of a symbol that goes on: such codes are refused."""
    stem = right.removesuffix(END)
    return stem != right and (goes_on(stem) or goes_on(left + stem))


def random_words(source: random.Random, letters: str = LETTERS, count: int = 300) -> list[str]:
    return ["".join(source.choices(letters, k=source.randint(1, 7))) for _ in range(count)]


def write_folder(
    folder: Path, pairs: Sequence[tuple[str, str]], pieces: Sequence[str], name: str = "PhobertTokenizer", **said: Any
) -> None:
    """Its three files."""
    (folder / "vocab.txt").write_text("".join(f"{piece} {i}\n" for i, piece in enumerate(pieces)), encoding="utf-8")
    (folder / "bpe.codes").write_text("".join(f"{a} {b} 7\n" for a, b in pairs), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, **said}), encoding="utf-8")
