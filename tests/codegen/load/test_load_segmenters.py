# SPDX-License-Identifier: Apache-2.0
"""Pre-tokenizers that end in ByteLevel: which are read, and which are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.expressions.syntax import Characters, Repeat, Tree, parse
from codegen.ir.split_spec import CharacterSplit, ExpressionSegmenter
from codegen.ir.tokenizer_spec import (
    ByteLevelSegmenter,
    Cl100kSegmenter,
    ClipSegmenter,
    DigitsSegmenter,
    SplitSegmenter,
    WordSegmenter,
)
from codegen.load.tokenizer_files.tokenizer_json.byte_level_segmenters import read_segmenter

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def byte_level(**changes: object) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True, **changes}


def split(expression: str, **changes: object) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False, **changes}


def digits(individual: object = True) -> dict[str, Any]:
    return {"type": "Digits", "individual_digits": individual}


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
CLIP_PARTS = (CharacterSplit(r'{"Regex": "\\s"}', "removed"), CharacterSplit(r'{"Regex": "\\p{N}"}', "isolated"))
REMOVED = {"behavior": "Removed", "invert": True}
BEHIND_SPLIT = byte_level(use_regex=False)
ISOLATED = (CharacterSplit("Punctuation", "isolated"),)


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        (byte_level(add_prefix_space=True), ByteLevelSegmenter(True)),
        (sequence(split(GPT2), BEHIND_SPLIT), ByteLevelSegmenter(False)),
        (sequence(split(LLAMA3), BEHIND_SPLIT), Cl100kSegmenter(3)),
        (sequence(split(LLAMA3.replace("{1,3}", "")), BEHIND_SPLIT), Cl100kSegmenter(1)),
        (sequence(split(CLIP, **REMOVED), byte_level()), SplitSegmenter(CLIP_PARTS, ByteLevelSegmenter(False))),
        (
            sequence(split(r"<\|startoftext\|>|<\|endoftext\|>|" + CLIP, **REMOVED), byte_level()),
            ClipSegmenter(CLIP_PARTS),
        ),
        (sequence(digits(), byte_level()), DigitsSegmenter(False, True)),
        (sequence(digits(False), byte_level(add_prefix_space=True)), DigitsSegmenter(True, False)),
        (sequence({"type": "Punctuation"}, byte_level()), SplitSegmenter(ISOLATED, ByteLevelSegmenter(False))),
        (
            sequence({"type": "Punctuation"}, split(GPT2), BEHIND_SPLIT),
            SplitSegmenter(ISOLATED, ByteLevelSegmenter(False)),
        ),
        (
            sequence(sequence({"type": "Punctuation"}), byte_level(use_regex=False, add_prefix_space=True)),
            SplitSegmenter(ISOLATED, WordSegmenter(True, False)),
        ),
    ],
)
def test_what_is_read(described: dict[str, Any], expected: object) -> None:
    assert read_segmenter(described) == expected


def levels(segmenter: object) -> list[tuple[Tree, str]]:
    assert isinstance(segmenter, ExpressionSegmenter)
    return [(level.of, level.cut) for level in segmenter.levels]


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        (sequence(split("ab"), BEHIND_SPLIT), [(parse("ab"), "isolated")]),
        (sequence(split("ab", invert=True), BEHIND_SPLIT), [(parse("ab"), "isolated")]),
        (sequence(split("ab"), byte_level()), [(parse("ab"), "isolated"), (parse(GPT2), "isolated")]),
        (sequence(split(GPT2, **REMOVED), BEHIND_SPLIT), [(parse(GPT2), "others_removed")]),
        (sequence(split("a.", pattern={"String": "a."}), BEHIND_SPLIT), [(parse(r"a\."), "isolated")]),
        (
            sequence(digits(), {"type": "WhitespaceSplit"}, split(LLAMA3), BEHIND_SPLIT),
            [
                (Characters("Digits"), "isolated"),
                (Characters("WhitespaceSplit"), "removed"),
                (parse(LLAMA3), "isolated"),
            ],
        ),
        (
            sequence(digits(False), split("ab", behavior="Removed"), BEHIND_SPLIT),
            [(Repeat(Characters("Digits"), 1, None), "isolated"), (parse("ab"), "removed")],
        ),
    ],
)
def test_expressions_that_are_read(described: dict[str, Any], expected: list[tuple[Tree, str]]) -> None:
    assert levels(read_segmenter(described)) == expected


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"type": "Whitespace"}, "as the last pre-tokenizer"),
        (byte_level(use_regex=False), "without its expression"),
        (byte_level(add_prefix_space=1), "add_prefix_space must be true/false"),
        (sequence(split(GPT2)), "as the last pre-tokenizer"),
        (sequence(byte_level(), byte_level()), "and once"),
        (sequence({"type": "UnicodeScripts"}, byte_level()), "UnicodeScripts"),
        (sequence(split(GPT2), byte_level(use_regex=False, add_prefix_space=True)), "add_prefix_space behind a Split"),
        (sequence(split("(?<=a)b"), BEHIND_SPLIT), r"Split by '\(\?<=a\)b' is not supported: '\(\?<' at 0"),
        (sequence(split("ab", behavior="Contiguous"), BEHIND_SPLIT), "Contiguous, only Isolated and Removed"),
        (sequence(split("ab", invert=1), BEHIND_SPLIT), "invert must be true/false"),
        (sequence(split("a" * 5000), BEHIND_SPLIT), "5000 characters"),
        (sequence(split("ab", pattern={"String": ""}), BEHIND_SPLIT), "0 characters"),
        (sequence(split("ab", pattern={"Regex": 1}), BEHIND_SPLIT), "Split by"),
        (sequence(split("ab"), split("a", behavior="MergedWithNext"), BEHIND_SPLIT), "stay with a neighbour"),
        (sequence(digits(None), byte_level()), "individual_digits must be true/false"),
    ],
)
def test_what_is_refused(described: dict[str, Any], message: str) -> None:
    with pytest.raises(EtchError, match=message) as refused:
        read_segmenter(described)
    assert refused.value.stage == "load"
