# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's Unigram against the wheel, on random vocabularies and maps: needs no data, takes seconds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from sampling import one_in
from test_byte_level import OWN_TEXTS
from test_tokenizer import ADDED, PARTS, numbered
from tokenizer_harness import (
    Runtime,
    Wheel,
    assert_same,
    assert_same_however_short,
    assert_texts_of_pieces,
    differences,
    random_source,
)
from tokenizer_texts import TRICKY, random_bytes, random_text
from unigram import (
    CUT,
    FOLDS,
    METASPACE,
    QUOTES,
    RULES,
    RUNS,
    SPECIALS,
    TRICKY_PARTS,
    compiled,
    random_rules,
    random_spec,
    random_vocabulary,
    specials,
    strip,
    texts_of_pieces,
    unigram_json,
)

from codegen.errors import EtchError
from codegen.load.tokenizer_files.tokenizer_json.unigram import read_unigram_json

MAP = compiled(RULES)
SPACES = {**RUNS, "content": " "}
OPTIONS: list[Any] = [
    pytest.param({}, id="no-map"),
    pytest.param({"charsmap": MAP, "split_whitespace": True}, id="xlm-r"),
    pytest.param({"charsmap": MAP, "after": [strip(False, True), RUNS]}, id="t5"),
    pytest.param({"charsmap": MAP, "before": [strip(True, True)], "after": [{**RUNS, "content": " "}]}, id="deberta"),
    pytest.param({"charsmap": MAP, "before": [*QUOTES, *FOLDS], "split_whitespace": True}, id="albert"),
    pytest.param({"charsmap": MAP, "before": [*QUOTES, SPACES]}, id="rembert"),
    pytest.param({"charsmap": MAP, "before": [*QUOTES, SPACES, *FOLDS]}, id="rembert-uncased"),
    pytest.param({"charsmap": MAP, "before": [SPACES, *FOLDS[:2]], "after": [RUNS]}, id="spaces"),
    pytest.param({"before": [FOLDS[2], strip(True, True)], "after": [{**RUNS, "content": " "}]}, id="lower-strip"),
    pytest.param({"charsmap": MAP, "scheme": "first"}, id="first"),
    pytest.param({"charsmap": MAP, "scheme": "first", "split_whitespace": True}, id="first-word"),
    pytest.param({"charsmap": MAP, "scheme": "never", "split": False}, id="never-unsplit"),
    pytest.param({"charsmap": MAP, "byte_fallback": True}, id="bytes"),
    pytest.param({"after": [strip(True, True), RUNS], "template": False}, id="strip-no-map"),
    *(pytest.param({"before": [{"type": form}]}, id=form) for form in ("NFC", "NFKD")),
    pytest.param({"before": [{"type": "NFKC"}], "split_whitespace": True, "byte_fallback": True}, id="NFKC"),
]


@pytest.mark.parametrize("options", OPTIONS)
def test_own_texts(options: dict[str, Any]) -> None:
    assert_same(random_spec(random_source(), **options), OWN_TEXTS)


@pytest.mark.parametrize("options", one_in(2, OPTIONS))
def test_random_texts(options: dict[str, Any]) -> None:
    source = random_source()
    for _ in range(4):
        spec = random_spec(source, **options)
        pieces = texts_of_pieces(spec)
        texts = [random_text(source, 24, (*TRICKY, *TRICKY_PARTS, "''", "``", "'")).encode() for _ in range(300)]
        texts += [random_text(source, 10, TRICKY_PARTS).encode() for _ in range(700)]
        texts += [random_bytes(source, 12) for _ in range(200)]
        texts += [b"".join(source.choices(pieces, k=source.randint(1, 12))) for _ in range(500)]
        assert_same(spec, texts)


def test_ascii_before_what_was_read_ahead() -> None:
    """Behind ASCII that is read by itself lies what its look ahead has begun: a quote, letters of a syllable, dots."""
    source = random_source()
    spec = random_spec(source, charsmap=MAP, before=[*QUOTES, *FOLDS], split_whitespace=True)
    ends = ("'", "'\u2581", "`", "'`", "\u2026", "\uac00", "\uac01\u0301", "\u0344", "\u0f72z'\u2581", "\u00bd")
    assert_same(
        spec,
        [
            f"{begin}{end}{more}".encode()
            for begin in ("az", "\u200dz")
            for end in ends
            for more in ("", "\u2581", "ab")
        ],
    )


def test_random_maps() -> None:
    source = random_source()
    for _ in range(25):
        spec = random_spec(source, charsmap=compiled(random_rules(source)))
        assert_same(spec, [random_text(source, 8, TRICKY_PARTS).encode() for _ in range(600)])


def test_clusters_about_as_long_as_are_looked_up_whole() -> None:
    """The last and the first characters of each size in UTF-8, with so many marks of two and three bytes."""
    letters, marks = ("a", "\u07ff", "\u0800", "\uffff", "\U00010000", "\U0010ffff"), ("\u0301", "\u20e3")
    runs = ["".join(run) for size in range(4) for run in product(marks, repeat=size)]
    texts = [
        f"{before}{letter}{run}{behind}".encode()
        for before in ("", "x")
        for letter in letters
        for run in runs
        for behind in ("", "z", "\u00e9")
    ]
    for keys in (letters, [letter + mark for letter in letters for mark in marks], runs[1:3]):
        spec = random_spec(random_source(), charsmap=compiled(dict(zip(keys, "bcdefghijklm", strict=False))))
        assert_same(spec, texts)


def test_scores_that_floats_do_not_hold() -> None:
    """One vocabulary has doubles in its table, the other floats; both are as the wheel reads them."""
    source = random_source()
    for score in (1 / 3, 0.25):
        vocab = random_vocabulary(source)
        vocab = [[piece, -score * (1 + i % 7) if i > 4 else 0.0] for i, (piece, _) in enumerate(vocab)]
        spec = read_unigram_json(unigram_json(vocab, added=specials()))
        is_wide = {name: array.size for name, array in Runtime(spec).tables.arrays}["scores"] == 2 * len(vocab)
        assert is_wide == (score == 1 / 3)
        pieces = texts_of_pieces(spec)
        assert_same(spec, [b"".join(source.choices(pieces, k=source.randint(1, 15))) for _ in range(2000)])


@pytest.mark.parametrize("split", [True, False])
def test_long_words_of_which_the_paths_agree(split: bool) -> None:
    source = random_source()
    for fallback in (False, True):
        spec = random_spec(source, split=split, byte_fallback=fallback)
        letters = [piece for piece in texts_of_pieces(spec) if METASPACE.encode() not in piece and len(piece) < 9]
        texts = [b"".join(source.choices(letters, k=source.randint(200, 1500))) for _ in range(40)]
        texts += [b" ".join(source.choices(letters, k=2000)), b"a" * 1270]
        runtime, wheel = Runtime(spec), Wheel(spec)
        ours = runtime.encode(texts)
        certain = [i for i, result in enumerate(ours) if not result.cut_word]
        chosen = [texts[i] for i in certain]
        assert len(chosen) > len(texts) // 2
        assert not differences(chosen, [ours[i] for i in certain], wheel.encode(chosen))


def test_a_longer_word_without_agreement_is_cut_and_said_so() -> None:
    """Of equal letters two are better than one: where the pairs begin shows at the word's end only."""
    vocab = [*([name, 0.0] for name in SPECIALS), ["a", -2.0], ["aa", -3.0], [METASPACE, -1.0]]
    spec = read_unigram_json(unigram_json(vocab, template=False))
    runtime, wheel = Runtime(spec), Wheel(spec)
    held = 1274  # behind U+2581, which is three bytes more
    whole, first, longer = runtime.encode([b"a" * 3001, b"a" * held, b"a" * (held + 1)])
    assert [whole.cut_word, first.cut_word, longer.cut_word] == [True, False, True]
    assert not differences([b"a" * held], [first], wheel.encode([b"a" * held]))
    assert longer.ids.tolist() == [*first.ids.tolist(), 5]
    assert whole.ids.tolist().count(7) == 1
    assert whole.offsets[0].tolist() == [0, 1]
    assert (whole.offsets[2:, 0] == whole.offsets[1:-1, 1]).all()
    assert whole.offsets[-1, 1] == 3001


@pytest.mark.parametrize("options", [{}, {"charsmap": MAP, "split_whitespace": True}, {"byte_fallback": True}])
def test_every_truncation(options: dict[str, Any]) -> None:
    spec = random_spec(random_source(), **options)
    assert_same_however_short(spec, CUT, range(2, 16), range(4, 24))


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("options", [{}, {"charsmap": MAP, "split_whitespace": True}, {"scheme": "first"}])
def test_added_tokens(name: str, options: dict[str, Any]) -> None:
    source = random_source()
    vocab = random_vocabulary(source)
    added = numbered(ADDED[name], tuple(piece for piece, _ in vocab))
    if "split_whitespace" not in options:  # white space that such a token swallowed would be a piece
        added = [replace(one, lstrip=False, rstrip=False) if one.normalized else one for one in added]
    spec = read_unigram_json(unigram_json(vocab, added=added, **options))
    parts = (*PARTS, *SPECIALS, " <mask>", "ab", METASPACE)
    texts = [random_text(source, 10, parts).encode() for _ in range(300)] + [text.encode() for text in parts]
    assert_same(spec, texts)
    assert_same(spec, texts, 5)
    pieces = {piece for piece, _ in vocab}  # of special tokens among them more is promised than the wheel does
    added = [replace(one, special=one.special and one.content not in pieces) for one in added]
    assert_same(read_unigram_json(unigram_json(vocab, added=added, **options)), texts, plain_text=True)


def test_special_tokens_are_never_plain_text() -> None:
    """They are pieces, too, and the wheel would find them as such, where it is told not to look for tokens."""
    source = random_source()
    runtime = Runtime(random_spec(source, charsmap=compiled(RULES | {"\uff1c": "<"})))
    texts = [b"<s>", b"a</s>b", b"<s></s> <mask><pad>", "\uff1cs>".encode()]
    assert any(0 in result.ids[1:-1] for result in runtime.encode(texts))
    for result in runtime.encode(texts, plain_text=True):
        assert not {0, 1, 2, 4} & set(result.ids[1:-1].tolist())


def test_special_tokens_in_normalized_text() -> None:
    """<mask> as CamemBERT has it: found behind the map, with the white space before it."""
    source = random_source()
    added = [replace(token, normalized=True) for token in specials()]
    spec = random_spec(source, charsmap=MAP, added=added, split_whitespace=True)
    parts = (*SPECIALS, "\ufb01", "\x01", "\u00ad", " ", "\u3000", "ab", "<m", "ask>", METASPACE)
    assert_same(spec, [random_text(source, 8, parts).encode() for _ in range(1000)])


def test_a_normalized_token_that_strips_is_refused_where_spaces_are_pieces() -> None:
    added = [replace(token, normalized=True) for token in specials()]
    with pytest.raises(EtchError, match="<mask>") as refused:
        Runtime(random_spec(random_source(), added=added))
    assert refused.value.code == "added-token-unsupported"


def test_text_of_pieces() -> None:
    assert_texts_of_pieces(random_spec(random_source()))
