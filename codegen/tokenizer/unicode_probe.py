# SPDX-License-Identifier: Apache-2.0
"""What the `tokenizers` wheel does to each Unicode scalar, found by asking it.

The wheel mixes three versions of Unicode (8.0 for categories, 9.0 for decompositions, rustc's for case and white
space), so no other library, Python's `unicodedata` included, can stand in for it.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cmp_to_key

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

HANGUL = range(0xAC00, 0xAC00 + 11172)
SURROGATES = slice(0xD800, 0xE000)  # no text has them

_LOWEST_MARK, _HIGHEST_MARK = chr(0x334), chr(0x345)  # combining classes 1 and 240
_CHUNK = 4096


@cache
def scalars() -> tuple[int, ...]:
    """All Unicode scalars, ascending. A million numbers: made when first asked for, not at every start."""
    return (*range(SURROGATES.start), *range(SURROGATES.stop, 0x110000))


@cache
def assigned() -> tuple[str, ...]:
    """The characters of which Python's Unicode says something: a small part of all."""
    return tuple(c for c in map(chr, scalars()) if unicodedata.category(c) not in ("Cn", "Co"))


@dataclass(frozen=True)
class Probe:
    """Sets and maps over scalars; what is not mentioned maps to itself."""

    control: frozenset[int]  # deleted by clean_text
    cleaned_space: frozenset[int]  # made a space by clean_text
    chinese: frozenset[int]  # surrounded by spaces by handle_chinese_chars
    white_space: frozenset[int]  # dropped by the pre-tokenizer
    punctuation: frozenset[int]  # a word of its own
    word: frozenset[int]  # a neighbour that a single_word token must not have
    lower: dict[int, tuple[int, ...]]
    decomposition: dict[int, tuple[int, ...]]  # full canonical decomposition, Hangul included
    stripped: dict[int, tuple[int, ...]]  # the same without nonspacing marks
    combining_rank: dict[int, int]  # 1, 2, ... in the order of the combining classes; absent: a starter


def probe() -> Probe:
    """Takes about half a minute."""
    clean = _bert(clean_text=True)
    cleaned = _map_each(clean, before="a", after="b")
    chinese = _map_each(_bert(handle_chinese_chars=True), before="a", after="b")
    stripped = _map_each(_bert(strip_accents=True))
    white_space, punctuation = _pre_tokenized()
    return Probe(
        control=frozenset(c for c, text in cleaned.items() if text == "ab"),
        cleaned_space=frozenset(c for c, text in cleaned.items() if text == "a b"),
        chinese=frozenset(c for c, text in chinese.items() if text == f"a {chr(c)} b"),
        white_space=white_space,
        punctuation=punctuation,
        word=_word_characters(),
        lower=_changed(_map_each(_bert(lowercase=True))),
        decomposition=_changed(_map_each(NFD().normalize_str)),
        stripped=_changed(stripped),
        combining_rank=combining_ranks(),
    )


def _bert(**switched_on: bool) -> Callable[[str], str]:
    flags = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return BertNormalizer(**{**flags, **switched_on}).normalize_str


def _map_each(normalize: Callable[[str], str], before: str = "", after: str = "") -> dict[int, str]:
    return {c: normalize(before + chr(c) + after) for c in scalars()}


def _changed(mapping: dict[int, str]) -> dict[int, tuple[int, ...]]:
    return {c: tuple(map(ord, text)) for c, text in mapping.items() if text != chr(c)}


def _pre_tokenized() -> tuple[frozenset[int], frozenset[int]]:
    split = BertPreTokenizer().pre_tokenize_str
    white_space, punctuation = set(), set()
    for c in scalars():
        words = split("a" + chr(c) + "b")
        if len(words) == 2:
            white_space.add(c)
        elif len(words) == 3:
            punctuation.add(c)
    return frozenset(white_space), frozenset(punctuation)


def _word_characters() -> frozenset[int]:
    """A single_word token is found beside every character but a word character."""
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.add_tokens([AddedToken("<>", single_word=True, normalized=False)])
    token = tokenizer.token_to_id("<>")
    assert token is not None
    found = set(scalars())
    for chunk in _chunks():
        encoding = tokenizer.encode("".join("<>" + chr(c) for c in chunk))
        beside = {begin for i, (begin, _) in zip(encoding.ids, encoding.offsets, strict=True) if i == token}
        found -= {c for i, c in enumerate(chunk) if 3 * i in beside}
        # The token before a word character is passed over; so is the one after it. Ask again about those after.
    return frozenset(c for c in found if not _found_before(tokenizer, token, c))


def _chunks() -> Iterator[Sequence[int]]:
    every = scalars()
    return (every[first : first + _CHUNK] for first in range(0, len(every), _CHUNK))


def _found_before(tokenizer: Tokenizer, token: int, c: int) -> bool:
    return token in tokenizer.encode("<>" + chr(c)).ids


def changed_by(decompose: Callable[[str], str], before: str = "", after: str = "") -> list[int]:
    """The scalars that a decomposition changes between two texts. Most are not, and asked for many at once."""
    return [c for chunk in _chunks() for c in _changed_of(chunk, decompose, before, after)]


def _changed_of(these: Sequence[int], decompose: Callable[[str], str], before: str, after: str) -> Iterator[int]:
    text = before + f"{after}x{before}".join(map(chr, these)) + after
    if decompose(text) == text:
        return
    if len(these) == 1:
        yield these[0]
        return
    step = -(-len(these) // 8)
    for first in range(0, len(these), step):
        yield from _changed_of(these[first : first + step], decompose, before, after)


@cache
def decomposed_scalars() -> tuple[int, ...]:
    """The scalars with a canonical decomposition."""
    return tuple(changed_by(NFD().normalize_str))


@cache
def combining_ranks() -> dict[int, int]:
    """Canonical ordering swaps neighbours whose classes descend and are not zero: that gives the order of the classes,
    which is all that ordering needs."""
    order = NFD().normalize_str
    lowest, highest = _LOWEST_MARK, _HIGHEST_MARK
    if order(highest + lowest) != lowest + highest:
        raise AssertionError("the wheel's NFD does not order combining marks")
    decomposed = set(decomposed_scalars())  # those never appear in ordered text
    marks = sorted({*changed_by(order, after=lowest), *changed_by(order, before=highest)} - decomposed)
    # What swaps with neither is a starter, or shares the class of the lowest or highest mark and so would have swapped
    # with the other one; the two marks themselves are covered the same way.

    def compare(a: int, b: int) -> int:
        if order(chr(a) + chr(b)) != chr(a) + chr(b):
            return 1
        return -1 if order(chr(b) + chr(a)) != chr(b) + chr(a) else 0

    representatives: list[int] = []
    key = cmp_to_key(compare)
    for c in marks:
        at = bisect_left(representatives, key(c), key=key)
        if at == len(representatives) or compare(representatives[at], c) != 0:
            representatives.insert(at, c)
    return {c: bisect_left(representatives, key(c), key=key) + 1 for c in marks}
