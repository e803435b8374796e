# SPDX-License-Identifier: Apache-2.0
"""Splits by expressions before byte-level BPE, against the wheel: those of published tokenizers, and random ones."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from byte_level import EXPRESSIONS, small_json
from public_data import data_folder
from sampling import sampled
from test_byte_level import OWN_TEXTS
from test_character_splits import row, split
from test_tokenizer_sweep import Comparison
from tokenizer_harness import assert_same, assert_same_unless_cut, random_source
from tokenizer_texts import CORPORA, TRICKY, corpus_lines, joined, random_bytes, random_text, swept_among_characters

from codegen.errors import EtchError
from codegen.ir.split_spec import ExpressionSegmenter
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.tokenizer import compile_tokenizer

_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
_ENDS = r"|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_ONE_OTHER = r"[^\r\n\p{L}\p{N}]?"
_CASES = rf"{_ONE_OTHER}{_UPPER}*{_LOWER}+%s|{_ONE_OTHER}{_UPPER}+{_LOWER}*%s"
# As files of published models have them.
PUBLISHED: dict[str, list[dict[str, Any]]] = {
    "o200k": [split(_CASES % ((_SHORT + "?",) * 2) + _ENDS % "{1,3}")],
    "tekken": [split(_CASES % ("", "") + _ENDS % "")],
    "cl100k of tiktoken": [
        split(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
            r"\s+(?!\S)|\s"
        )
    ],
    "letters with marks": [
        split(
            _SHORT + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    ],
    "three in a row": [
        split(r"\p{N}{1,3}"),
        split("[一-龥\u3040-ゟ゠-ヿ]+"),
        split(
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
            r" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
    ],
    "bloom": [split(r" ?[^(\s|[.,!?…。，、।۔،])]+")],
    "digits, then Qwen 2's": [{"type": "Digits", "individual_digits": True}, split(EXPRESSIONS["qwen2"])],
}
# Of these random expressions are made.
_ATOMS = (
    *(r"\p{L}", r"\p{N}", r"\s", r"\S", "[^\\s\\p{L}]", "[a-c]", ".", "a", "b", "é", " ", r"\.", "'", r"[\r\n]", "1"),
    *("(?i:'s|re)", "(?:ab|a)", "(a|b|)c", r"\p{Lu}", "\\w"),
)
_SIGNS = ("", "", "", "?", "+", "*", "{2}", "{1,3}", "{2,}", "+?", "*?", "??", "++", "?+", "{0,2}+")
_BEHIND = ("", "", "", r"(?!\S)", r"(?=\p{L})", "(?!a)", "$", r"(?!\p{N})", r"\z")
_PARTS = (*TRICKY, *"aabbcc  1122..''éé", "'s", "'RE", "\r\n", "ab", "abc", "a b", "  ", "\n\n")


def _read(parts: list[dict[str, Any]], steps: tuple[str, ...] = (), **options: Any) -> TokenizerSpec:
    return read_byte_level_json(small_json(steps=steps, **options) | {"pre_tokenizer": row(*parts, _BYTES)})


def _spec(parts: list[dict[str, Any]], steps: tuple[str, ...] = (), **options: Any) -> TokenizerSpec:
    spec = _read(parts, steps, **options)
    assert isinstance(spec.segmenter, ExpressionSegmenter)
    return spec


@cache
def _texts() -> list[bytes]:
    source = random_source()
    texts = [random_text(source, 30, _PARTS).encode() for _ in range(600)]
    return [*texts, *(text for text in OWN_TEXTS if len(text) < 800), *(random_bytes(source, 12) for _ in range(100))]


@pytest.mark.parametrize("steps", [(), ("NFC",), ("Lowercase", "NFKD")], ids=str)
@pytest.mark.parametrize("name", PUBLISHED)
def test_published(name: str, steps: tuple[str, ...]) -> None:
    for trims in (False, True):
        spec = _spec(PUBLISHED[name], steps, trim_offsets=trims and "NFKD" not in steps, processor="ByteLevel")
        assert_same(spec, _texts())
    for capacity in (3, 8):
        assert_same(spec, _texts(), capacity)


def _expression(source: random.Random) -> str:
    """A few ways, one of them of everything now and then."""
    ways = []
    for _ in range(source.randint(1, 5)):
        row = "".join(source.choice(_ATOMS) + source.choice(_SIGNS) for _ in range(source.randint(1, 3)))
        ways.append(row + source.choice(_BEHIND))
    return "|".join(ways) + source.choice(("", r"|\s+(?!\S)|\s+", "|.", r"|[\s\S]"))


def test_random_ones() -> None:
    """What is not refused parts a text as the wheel does; most have something that no automaton finds."""
    source = random_source()
    read = drawn = 0
    while read < 10:
        drawn += 1
        assert drawn < 1000, "nearly all are refused"
        parts = [
            split(_expression(source), source.choice(("Isolated",) * 3 + ("Removed",)), invert=source.random() < 0.3)
        ]
        if source.random() < 0.3:
            first = source.choice((r"\p{N}{1,3}", "a+", r"\s", "b", "é{2}|e"))
            parts.insert(0, split(first, source.choice(("Isolated", "Removed")), invert=source.random() < 0.3))
        print(parts)
        try:
            spec = _read(parts)
            compile_tokenizer(spec)
        except EtchError as refused:
            print(refused)
            continue
        read += 1
        assert_same_unless_cut(spec, [random_text(source, 12, _PARTS).encode() for _ in range(60)])


def test_long_words() -> None:
    """One that is longer than the fixed memory is cut, and said to be; what lies before it is not."""
    texts = [one * size for one in ("a", "aB", " ", "é", " \n", "!") for size in (500, 1019, 1024, 1025, 3000)]
    for name in ("o200k", "three in a row"):
        assert_same_unless_cut(_spec(PUBLISHED[name]), [f"so {text}1 a".encode() for text in texts])


def test_a_short_text_at_the_end_of_a_long_one() -> None:
    """Words that are read again, behind one that was found late."""
    spec = _spec([split("a[^b]*b|.")])
    texts = [("a" * 40 + "x" * 300).encode(), ("ab" * 200 + "a" * 100).encode(), b"aaab", b"axxxxb.axx"]
    assert_same(spec, texts)


@pytest.mark.sweep
def test_scalars() -> None:
    swept = swept_among_characters()
    for name in ("o200k", "three in a row"):
        comparison = Comparison(_spec(PUBLISHED[name]))
        chunks = (map(chr, swept[first : first + 64]) for first in range(0, len(swept), 64))
        comparison.compare(["".join(f"a{c} {c}B.{c}1" for c in chunk).encode() for chunk in chunks])
        comparison.finish(f"scalars, {name}")


@pytest.mark.sweep
@pytest.mark.parametrize("corpus", sampled(CORPORA, 1, "corpora behind expressions"))
def test_corpus(corpus: str) -> None:
    comparison = Comparison(_spec(PUBLISHED["o200k"]))
    for _, lines in corpus_lines(data_folder(), corpus):
        comparison.compare(joined(lines))
    comparison.finish(f"{corpus}, o200k")
