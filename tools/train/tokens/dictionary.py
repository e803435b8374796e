# SPDX-License-Identifier: Apache-2.0
"""What a dictionary finds, to compare a tagger with: each of the most used words is a name or none, as it is more often
in the rows to learn from; a word that is not among them is a name. `python dictionary.py train.conll test.conll`"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[3]))  # codegen, the generator

from codegen.errors import EtchError
from codegen.files.table_file import Row
from codegen.tasks.entities import entity_f1
from codegen.tasks.tagged_words import read_tagged

SIZES = (8000, 20_000, 60_000)


def tags(words: Sequence[str], known: Collection[str], names: Collection[str]) -> list[str]:
    """Neighbours that are names are one."""
    found = [word in names or (word not in known and word[0].isalpha()) for word in words]
    return [
        "O" if not name else "I-name" if i > 0 and found[i - 1] else "B-name"
        for i, name in enumerate(found)
    ]  # fmt: skip


def learned(rows: Sequence[Row]) -> tuple[list[str], set[str]]:
    """Words, the most used ones first, and those that are names at least as often as not."""
    uses: Counter[str] = Counter()
    as_names: Counter[str] = Counter()
    for row in rows:
        words = row.joined.split(" ")
        uses.update(words)
        as_names.update(word for word, tag in zip(words, row.value.split(" "), strict=True) if tag != "O")
    return [word for word, _ in uses.most_common()], {word for word in uses if 2 * as_names[word] >= uses[word]}


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use."""
    parser = argparse.ArgumentParser(prog="dictionary", description=__doc__, allow_abbrev=False)
    parser.add_argument("train", type=Path, help="rows to learn from")
    parser.add_argument("test", type=Path, help="rows to judge by")
    asked = parser.parse_args()
    try:
        train, test = read_tagged(asked.train), read_tagged(asked.test)
    except EtchError as error:
        print(f"dictionary: {error}", file=sys.stderr)
        return 1
    words, names = learned(train)
    truths = [row.value.split(" ") for row in test]
    for size in sorted({min(size, len(words)) for size in (*SIZES, len(words))}):
        known = set(words[:size])
        found = [tags(row.joined.split(" "), known, names & known) for row in test]
        kilobytes = sum(len(word.encode()) + 1 for word in known) / 1024
        print(f"{size} words, {kilobytes:.0f} KB: entity F1 {100 * entity_f1(truths, found):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
