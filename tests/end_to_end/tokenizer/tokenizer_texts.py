# SPDX-License-Identifier: Apache-2.0
"""Texts for the comparison with the wheel: of our own writing, random, and the lines of the data folder."""

from __future__ import annotations

import gzip
import json
import random
import unicodedata
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from sampling import sampled

SCALARS = tuple(c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF)
PLANES_OF_CHARACTERS = (0, 1, 2, 3, 14)  # the others hold nothing yet, or what is for private use


def is_among_characters(scalar: int) -> bool:
    """Whether anything is assigned in its plane."""
    return scalar >> 16 in PLANES_OF_CHARACTERS


def _are_alike(group: Sequence[int]) -> bool:
    """Of one category, and none has a decomposition or a case of its own."""
    characters = [*map(chr, group)]
    if any(unicodedata.decomposition(c) or c.lower() != c or c.upper() != c for c in characters):
        return False
    return len(set(map(unicodedata.category, characters))) == 1


@cache
def swept_scalars(per_group: int = 64) -> tuple[int, ...]:
    """All; of a sample one in sixteen of the groups that are alike: ideographs, syllables, what is for private use,
    what nothing is assigned to."""
    groups = [SCALARS[first : first + per_group] for first in range(0, len(SCALARS), per_group)]
    alike = [group for group in groups if _are_alike(group)]
    left_out = set(alike) - set(sampled(alike, len(alike) // 16, "groups of scalars"))
    return tuple(chain.from_iterable(group for group in groups if group not in left_out))


@cache
def swept_among_characters() -> list[int]:
    """Those of them in whose planes anything is assigned."""
    return [*filter(is_among_characters, swept_scalars())]


# Cases where other implementations went wrong, then what this one could get wrong.
HARD_TEXTS = (
    "İstanbul",
    "ΟΔΟΣ",
    "한국어 각 힣",
    "x\vy x\x85y x\u2028y x\x1cy",
    "a\u200bb a\u00adb \ufeffhi",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\U0002b820x \U0002b920x",
    "\u1734",
    "\u0378 a\u0378b",
    "ẞ \u13a0 ﬁ ｶﾅ",
    "हिन्दी",
    "a\u2e43b a\u0c77b",
    "$5+3^2~`",
    "a" * 100,
    "a" * 101,
    "▁ a▁b",
    "아 ㅋ ㅋㅋ",
    "foo[SEP]bar [sep] [CLS][MASK] [ SEP] [SEP",
    "[[SEP]] [UNK]s un[MASK]",
    "\0a\0b\ufffd",
    "a\u0301\u0323 \u1e69 \u0344 \u0f73\u0f71",
    "\u2000a\u3000b\u00a0c\u1680d\u0085e",
    "\u037e \u1fef \u2126 \u212b \u1ffd",
    "\uf900\ufa0e\U0002f800 中文abc中 文",
    "\U0001d15e\U0001d160\u0323a \U0001d1bf\U0001d166\U0001d16d",
    "a\u302e\u0301\u302f b\U0001e000\u0323\U0001e000\u0316 \u0344\U0001e001\u0334",
    "q\u0301\u1b44\U0001e000\u302a\u302e\u0323\u1bf2 \u1b06\u1b44\u0345",
    "déjà vu naïve Ångström ÀÉÎÕÜ straße ΆΈΉ йё",
    "don't stop-me now... (really?) #1 @you 50% ~tilde~ <tag/>",
    "  leading and trailing  ",
    "",
    " \t\r\n ",
    "e\u0301" * 60 + "\u0301" * 300 + "z",
    "\u1b44\u302e\U0001e000\u0301" * 40,
    "중" * 99 + " " + "중" * 101,
)

INVALID_TEXTS = (
    b"caf\xe9 na\xefve",
    b"a\xc3 b\xe2\x82 c\xf0\x9f\x98 d",
    b"\xed\xa0\x80x\xed\xbf\xbf",
    b"\xc0\x80 \xc1\xbf \xe0\x80\x80 \xf0\x80\x80\x80 \xf5\x80 \xff\xfe",
    b"\xf4\x90\x80\x80 \xf4\x8f\xbf\xbf",
    b"\x80\x80\x80[SEP]\x80",
    b"ab\xcc\x81\xe0\xa4c\xcc",
    b"\xe2\x82",
    b"\xf0\x9f\x98\xc3\xa9",
)

# Every kind of character that some rule treats in its own way; two or three of each.
TRICKY = (
    *"abzAZ09 [](){}.,'\"-_#@$^`~\t\n\r\v\f\0\x1c\x7f\x85\xa0\xad",
    *"éÉßẞİıſKÅΣςσАяЁ",
    *"\u0300\u0301\u0308\u0323\u0327\u0334\u0345\u034f\u0344\u0340\u0f71\u0f72\u0f73\u0f74\u0f81\u093c\u05b7",
    *"\u1b44\u1baa\u302e\u302f\ua953\u08d4\u1dfb\U0001e000\U0001e02a\U0001e944\U0001d165\U0001d16d\U0001d16e",
    *"\U0001d15e\U0001d160\U0001d1bb\u09cb\u0bca\u0cc0\u0ccb\u0dda\u0ddd\u1b06\U0001109a\u0958\ufb1f\u2adc",
    *"가각힣ᄀ\u1161\u11a8",
    *"中\u4e00\u9fff\u3400\uf900\ufa0e\U00020000\U0002b820\U0002f800\U0002f803、。「",
    *"\u200b\u200c\u200d\u2028\u2029\u202e\u2060\ufeff\ufffd\u3000\u2000\u1680\u180e\u205f",
    *"\ue000\U000f0000\U0010fffd\U0010ffff\ufdd0\u0378\U000e0001\U000e0100\ufe0f",
    *"\u037e\u1fef\u2e43\u0c77\u2014‘’“”…€£½²ﬁａＡ\u2581\U0001f600\U0001f1e6",
    "[SEP]",
    "[CLS]",
    "[MASK]",
    "[UNK]",
    "the",
    "ing",
)


def random_text(source: random.Random, longest: int, alphabet: Sequence[str] = TRICKY) -> str:
    return "".join(source.choices(alphabet, k=source.randint(0, longest)))


def random_bytes(source: random.Random, longest: int) -> bytes:
    """Tricky text, some of its bytes changed."""
    text = bytearray(random_text(source, longest).encode())
    for _ in range(source.randint(0, 4) if text else 0):
        text[source.randrange(len(text))] = source.choice(b"\x80\xbf\xc0\xc3\xe0\xe2\xed\xf0\xf4\xff a")
    return bytes(text[: source.randint(0, len(text))]) if source.random() < 0.3 else bytes(text)


def random_texts_of(pieces: Sequence[bytes], source: random.Random, count: int) -> Iterator[list[bytes]]:
    """In parts: nine tenths of up to eight pieces, the rest tricky characters and broken bytes."""
    yield [b"".join(source.choices(pieces, k=source.randint(1, 8))) for _ in range(count * 9 // 10)]
    yield [random_text(source, 40).encode() for _ in range(count // 20)]
    yield [random_bytes(source, 30) for _ in range(count // 20)]


@cache
def scalar_texts(per_text: int = 512) -> list[bytes]:
    """Every scalar alone, between letters, and before a space and a letter; nothing crosses the line ends between."""
    swept = swept_scalars()
    return [
        "\n".join(f"{c}\na{c}b\n{c} a" for c in map(chr, swept[first : first + per_text])).encode()
        for first in range(0, len(swept), per_text)
    ]


def vocabulary(data: Path) -> list[str]:
    text = (data / "vocab" / "bert-base-uncased-vocab.txt").read_bytes().decode()
    return text.removesuffix("\n").split("\n")


@cache
def synthetic_vocabulary() -> tuple[str, ...]:
    """Every scalar a piece, bare and continuing; of a sample those of its texts and of corpora."""
    pieces = [chr(c) for c in sorted({*swept_scalars(), *filter(is_among_characters, SCALARS)})]
    return ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, *("##" + piece for piece in pieces))


_SMALL = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(chr(c) for c in range(0x21, 0x7F)),
    *("##" + chr(c) for c in range(0x61, 0x7B)),
    *(
        "the",
        "hello",
        "world",
        "un",
        "##aff",
        "##able",
        "##ing",
        "##s",
        "play",
        "é",
        "##é",
        "É",
        "##ㅋ",
        "아",
        "중",
        "##중",
    ),
    *(
        "中",
        "##中",
        "文",
        "ß",
        "σ",
        "##σ",
        "ο",
        "##ο",
        "##δ",
        "\u0301",
        "##\u0301",
        "##\u302e",
        "\u1b44",
        "##\U0001e000",
    ),
    *("i̇", "##▁", "▁", "##\u0307", "new", "york", "covid", "##19"),
)
SMALL_VOCABULARY = tuple(dict.fromkeys(_SMALL))

# What a test of all corpora reads: a folder, and which of its files.
CORPORA = ("ag_news", "glue", "imdb", "multi30k", "ner", "qa", "sst2", "trec", "unicode", "wikitext", "tokenizer_text")
_TEXT_SUFFIXES = {".csv", ".tsv", ".txt", ".en", ".de", ".tokens", ".conll", ".annotated", ".jsonl", ".json", ".rs", ""}


def corpus_lines(data: Path, corpus: str) -> Iterator[tuple[str, list[bytes]]]:
    """The lines of each file, undecoded: some are Latin-1, UTF-16 or older than Unicode. A sample has a part, of about
    2 MB at most."""
    for name, lines in _every_line(data, corpus):
        most = 2_000_000 * len(lines) // max(sum(map(len, lines)), 1) + 1
        yield name, sampled(lines, min(most, 20_000), f"lines of {name}")


def _every_line(data: Path, corpus: str) -> Iterator[tuple[str, list[bytes]]]:
    folder = data / corpus
    assert folder.is_dir(), f"ETCH_DATA is set, but has no folder {corpus}"
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(data).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    yield f"{name}/{member}", archive.read(member).split(b"\n")
            continue
        contents = path.read_bytes()
        suffix = path.suffix
        if suffix == ".gz":
            contents = gzip.decompress(contents)
            suffix = path.with_suffix("").suffix
        if suffix not in _TEXT_SUFFIXES:
            continue
        if suffix in {".json", ".jsonl"}:
            yield name, sorted({text.encode() for text in _json_strings(contents, suffix == ".jsonl")})
        else:
            yield name, contents.split(b"\n")


def _json_strings(contents: bytes, by_line: bool) -> Iterator[str]:
    """Each string once at most: SQuAD repeats a paragraph for each of its questions."""
    stack = [json.loads(line) for line in contents.splitlines()] if by_line else [json.loads(contents)]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def joined(lines: list[bytes], size: int = 1 << 15) -> list[bytes]:
    """The lines in texts of about `size` bytes. A line end separates words whatever is beside it, so that this compares
    the same as line by line, with less work for the wheel."""
    texts: list[bytes] = []
    part: list[bytes] = []
    part_size = 0
    for line in lines:
        part.append(line)
        part_size += len(line) + 1
        if part_size >= size:
            texts.append(b"\n".join(part))
            part, part_size = [], 0
    return [*texts, b"\n".join(part)]
