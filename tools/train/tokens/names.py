# SPDX-License-Identifier: Apache-2.0
"""Sentences of passages in which names are tagged by their capitals, for a tagger that finds names in texts without
capitals: `python names.py PASSAGES.jsonl --out rows.conll`, and README.md beside this file."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tools/train: common
sys.path.insert(1, str(Path(__file__).resolve().parents[3]))  # codegen, the generator

from common.program import ended
from common.refusal import Refused

_SENTENCE = re.compile(r"(?<=[a-z0-9)\"'%][.?!]) +(?=[A-Z\"'(])")
_WORD = re.compile(r"\w+(?:[.'\u2019-]\w+)*|[^\w\s]")
_LEAST, _MOST = 5, 60  # words of a sentence that is kept


def passages(path: Path) -> Iterator[str]:
    """The different contexts of a file of SQuAD's rows, in their order; Refused where it is another."""
    seen = set()
    unpacked = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with unpacked(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                context = row.get("context") if isinstance(row, dict) else None
                if not isinstance(context, str):
                    raise Refused(f"{path.name}: line {number} is no object with a text as its context")
                if context not in seen:
                    seen.add(context)
                    yield context
    except UnicodeDecodeError:
        raise Refused(f"{path.name}: behind line {number} it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise Refused(f"{path.name}: line {number} is not JSON") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise Refused(f"{path.name} is not what gzip writes, or not all of it") from None


def sentences(texts: Iterable[str]) -> Iterator[list[str]]:
    """Their words; marks are words of their own."""
    for text in texts:
        for sentence in _SENTENCE.split(text.replace("\n", " ")):
            words = _WORD.findall(sentence)
            if _LEAST <= len(words) <= _MOST:
                yield words


def is_capital(word: str) -> bool:
    """`Paris`, `McDonald`, `UK`; `I` is none."""
    return word[0].isupper() and word != "I"


def tagged(found: list[list[str]]) -> Iterator[list[tuple[str, str]]]:
    """Words in lower case with their tags. The first word of a sentence has a capital whatever it is: it is a name
    where it is one within sentences at least as often as not."""
    inside = Counter(word for words in found for word in words[1:])
    for words in found:
        names = [is_capital(word) for word in words]
        first = words[0]
        names[0] = names[0] and inside[first] > 0 and inside[first] >= inside[first.lower()]
        row = []
        for i, (word, name) in enumerate(zip(words, names, strict=True)):
            tag = "O" if not name else "I-name" if i > 0 and names[i - 1] else "B-name"
            row.append((word.lower(), tag))
        yield row


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and text.strip("0") and len(text) < 10):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to below 10^9")
    return int(text)


def main() -> int:
    """Exit codes: 0 done, 1 a file without passages, 2 wrong use."""
    parser = argparse.ArgumentParser(prog="names", description=__doc__, allow_abbrev=False)
    parser.add_argument("passages", type=Path, help="SQuAD's rows, one JSON object a line, maybe .gz")
    parser.add_argument(
        "--every", type=_positive, default=1, metavar="N", help="keep one sentence of so many (default: all)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a word and its tag a line")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="the same sentences, one a line")
    asked = parser.parse_args()
    return ended("names", lambda: _write(asked))


def _write(asked: argparse.Namespace) -> str:
    """The files; what they hold."""
    rows = list(tagged(list(sentences(passages(asked.passages)))))[:: asked.every]
    if not rows:
        raise Refused(f"{asked.passages.name}: no sentences")
    asked.out.write_text("".join("".join(f"{word}\t{tag}\n" for word, tag in row) + "\n" for row in rows), "utf-8")
    if asked.texts:
        asked.texts.write_text("".join(" ".join(word for word, _ in row) + "\n" for row in rows), "utf-8")
    count = sum(tag == "B-name" for row in rows for _, tag in row)
    return f"{len(rows)} sentences, {sum(map(len, rows))} words, {count} names"


if __name__ == "__main__":
    sys.exit(main())
