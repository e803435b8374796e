# SPDX-License-Identifier: Apache-2.0
"""--tokens, special tokens and pairs of the default model's program."""

from __future__ import annotations

from typing import Any

import pytest
from classify_program import ROOT, TITLES, Program, built, most_tokens

TOKENS_KEYS = ["ids", "pieces", "offsets", "truncated", "cut_word"]


@pytest.fixture(scope="module")
def classify() -> Program:
    return built("classify")


@pytest.fixture(scope="module")
def takes_pairs(classify: Program) -> bool:
    return classify("--pair", "a", "b").code == 0


def test_tokens_lines(classify: Program) -> None:
    for outcome in (classify.well("--tokens", *TITLES), classify.well("--tokens", stdin=b"\n".join(TITLES))):
        for title, tokens in zip(TITLES, outcome.objects, strict=True):
            assert list(tokens) == TOKENS_KEYS
            assert len(tokens["ids"]) == len(tokens["pieces"]) == len(tokens["offsets"])
            assert (tokens["pieces"][0], tokens["pieces"][-1]) == ("[CLS]", "[SEP]")
            assert tokens["offsets"][0] == tokens["offsets"][-1] == [0, 0]
            for piece, (begin, end) in zip(tokens["pieces"][1:-1], tokens["offsets"][1:-1], strict=True):
                assert piece in ("[UNK]", title[begin:end].lower().decode(), "##" + title[begin:end].lower().decode())


TOKENIZER_TEXTS = [
    "", " ", "Hello, World!", "naïve café İstanbul ΟΔΟΣ", "한국어 テスト 漢字漢字", "a\u200bb\u00adc \ufeffhi",
    "x\u2028y tab\there", "👩‍👩‍👧 family", "हिन्दी", "[SEP] typed [MASK]by a user[CLS]", "$5+3^2~`",
    "a" * 100, "a" * 101, "unaffordable antidisestablishmentarianism", "e\u0301\u0301 \u1734", "word " * 600,
]  # fmt: skip


def byte_offsets(text: str, offsets: list[tuple[int, int]]) -> list[list[int]]:
    starts = [0]
    for character in text:
        starts.append(starts[-1] + len(character.encode()))
    return [[starts[begin], starts[end]] for begin, end in offsets]


@pytest.fixture(scope="module")
def wheel(classify: Program) -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(ROOT / "tools/train/agnews/checkpoint/tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(most_tokens(classify))
    return tokenizer


def test_tokens_are_those_of_the_tokenizers_wheel(classify: Program, wheel: Any) -> None:
    for text, tokens in zip(TOKENIZER_TEXTS, classify.well("--tokens", "--", *TOKENIZER_TEXTS).objects, strict=True):
        expected = wheel.encode(text)
        assert tokens["ids"] == expected.ids
        assert tokens["pieces"] == expected.tokens
        assert tokens["offsets"] == byte_offsets(text, expected.offsets)
        assert tokens["truncated"] == bool(expected.overflowing)


PAIRS = [
    ("one two", "three"), ("", ""), ("", "b"), ("naïve İ", "ﬁ 漢字"), ("a [SEP] b", "[CLS]"),
    ("word " * 300, "b"), ("a", "word " * 300), ("word " * 300, "many " * 301), ("word " * 301, "many " * 300),
]  # fmt: skip


def test_pairs_of_tokens_are_those_of_the_tokenizers_wheel(classify: Program, takes_pairs: bool, wheel: Any) -> None:
    if not takes_pairs:
        pytest.skip("the default model takes single texts only")
    arguments = [part for first, second in PAIRS for part in ("--pair", first, second)]
    for (first, second), tokens in zip(PAIRS, classify.well("--tokens", *arguments).objects, strict=True):
        expected = wheel.encode(first, second)
        assert tokens["ids"] == expected.ids
        starts = {0: first, 1: second}
        assert tokens["offsets"] == [
            byte_offsets(starts[segment or 0], [offset])[0]
            for segment, offset in zip(expected.sequence_ids, expected.offsets, strict=True)
        ]
        assert tokens["truncated"] == bool(expected.overflowing)


def test_special_tokens_can_be_read_as_plain_text(classify: Program) -> None:
    [recognized] = classify.well("--tokens", "a [SEP] b").objects
    [plain] = classify.well("--tokens", "--plain-text", "a [SEP] b").objects
    assert recognized["pieces"].count("[SEP]") == 2
    assert plain["pieces"].count("[SEP]") == 1
    assert classify.well("--json", "--plain-text", "a [SEP] b").objects[0]["tokens"] == len(plain["ids"])


def test_pairs(classify: Program, takes_pairs: bool) -> None:
    if not takes_pairs:
        for arguments in (["--pair", "a", "b"], ["--pairs"], ["--evaluate", "rows.csv", "--pairs"]):
            assert "takes single texts only" in classify.refused(2, *arguments)
        return
    expected = classify.well("--json", "--pair", TITLES[0], TITLES[1], "--pair", "", "-x").out
    lines = TITLES[0] + b"\t" + TITLES[1] + b"\n\t-x"
    assert classify.well("--json", "--pairs", stdin=lines).out == expected
    [tokens] = classify.well("--tokens", "--pair", "one two", "three").objects
    assert tokens["pieces"].count("[SEP]") == 2
    second = tokens["pieces"].index("[SEP]") + 1
    assert tokens["offsets"][second][0] == 0  # each segment's own offsets


@pytest.mark.parametrize(("line", "found"), [(b"no tab", 0), (b"a\tb\tc", 2), (b"", 0)])
def test_a_line_that_is_no_pair_is_named(classify: Program, takes_pairs: bool, line: bytes, found: int) -> None:
    if not takes_pairs:
        pytest.skip("the default model takes single texts only")
    outcome = classify("--pairs", stdin=b"a\tb\n" + line + b"\nc\td\n")
    assert outcome.code == 1
    assert len(outcome.lines) == 1
    assert outcome.err == (
        f"classify: standard input: line 2: a pair is two texts with exactly one TAB between them, found {found}\n"
    )
