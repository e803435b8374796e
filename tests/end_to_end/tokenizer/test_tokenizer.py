# SPDX-License-Identifier: Apache-2.0
"""The runtime's tokenizer against the wheel, on texts of our own: needs no data, takes seconds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count, product

import pytest
from tokenizer_harness import (
    Runtime,
    Wheel,
    assert_same,
    differences,
    make_spec,
    random_source,
)
from tokenizer_texts import (
    HARD_TEXTS,
    INVALID_TEXTS,
    SMALL_VOCABULARY,
    TRICKY,
    random_bytes,
    random_text,
)
from tokenizers.normalizers import BertNormalizer

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import AddedToken

OWN_TEXTS = [*(text.encode() for text in HARD_TEXTS), *INVALID_TEXTS]
FLAGS = [
    pytest.param({"lowercase": True}, id="uncased"),
    pytest.param({"lowercase": False}, id="cased"),
    pytest.param({"lowercase": True, "strip_accents": False}, id="lowercase-only"),
    pytest.param({"lowercase": False, "strip_accents": True}, id="strip-only"),
    pytest.param({"clean_text": False}, id="unclean"),
    pytest.param({"handle_chinese_chars": False}, id="no-chinese"),
    pytest.param({"clean_text": False, "handle_chinese_chars": False, "lowercase": False}, id="nothing"),
]


@cache
def tricky_pieces() -> tuple[str, ...]:
    """The small vocabulary and every tricky character, as it is, lowered and decomposed, bare and continuing."""
    normalize = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=True)
    strip = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    characters = {
        character
        for text in TRICKY
        if len(text) == 1
        for form in (text, normalize.normalize_str(text), strip.normalize_str(text))
        for character in (*form, *normalize.normalize_str(form))
    }
    pieces = [*SMALL_VOCABULARY, *sorted(characters), *("##" + character for character in sorted(characters))]
    return tuple(dict.fromkeys(pieces))


@pytest.mark.parametrize("flags", FLAGS)
def test_own_texts(flags: dict[str, bool]) -> None:
    assert_same(make_spec(SMALL_VOCABULARY, **flags), OWN_TEXTS)
    assert_same(make_spec(tricky_pieces(), **flags), OWN_TEXTS)


@pytest.mark.parametrize("flags", FLAGS)
def test_random_texts(flags: dict[str, bool]) -> None:
    source = random_source()
    texts = [random_text(source, 24).encode() for _ in range(1500)]
    texts += [random_bytes(source, 12) for _ in range(1000)]
    results = assert_same(make_spec(tricky_pieces(), **flags), texts)
    tokens = sum(len(result.ids) - 2 for result in results)
    unknown = sum(int((result.ids[1:-1] == 1).sum()) for result in results)
    assert unknown < tokens / 4, "so many [UNK] would hide differences"


def test_runs_of_combining_marks() -> None:
    """Marks that survive strip_accents among marks that do not: canonical ordering decides ids and offsets."""
    source = random_source()
    alphabet = [
        *"\u0301\u0323\u0334\u0345\u0344\u0f73\u0f71\u200d",
        *"\u1b44\u302e\u302f\U0001e000\U0001d165\U0001d16e",
    ]
    starters = [*"aé中가\u1b06\U0001d15e\U0001d160 "]
    texts = []
    for _ in range(4000):
        parts = [source.choice(starters) + random_text(source, 9, alphabet) for _ in range(source.randint(1, 3))]
        texts.append("".join(parts)[source.randint(0, 1) :].encode())
    assert_same(make_spec(tricky_pieces()), texts)
    assert_same(make_spec(tricky_pieces(), lowercase=False, strip_accents=True), texts)


def test_long_runs_of_combining_marks() -> None:
    texts = [
        ("a" + "\U0001e000\u0323\u302e\u1b44" * 5000 + "b").encode(),
        ("\u0344\u0301" * 9000 + "\u302e" + "\u0334" * 9000).encode(),
    ]
    assert_same(make_spec(tricky_pieces(), max_word_chars=4096), texts)


def test_every_truncation_of_single_texts() -> None:
    texts = [*OWN_TEXTS, b"the hello [SEP] unaffable world, playing 101 things"]
    spec = make_spec(SMALL_VOCABULARY)
    ours, theirs = Runtime(spec), Wheel(spec)
    for capacity in range(2, 24):
        assert not differences(texts, ours.encode(texts, capacity), theirs.encode(texts, capacity))


def test_every_truncation_of_pairs() -> None:
    spec = make_spec(SMALL_VOCABULARY)
    ours, theirs = Runtime(spec), Wheel(spec)
    words = b"the playing world , unaffable"
    texts = [b"", b"the", b"hello world", words, words + b" [SEP] the the", b"\xff", b"   "]
    pairs = [(a, b) for a in texts for b in texts]
    for capacity in range(3, 32):
        assert not differences(pairs, ours.encode_pairs(pairs, capacity), theirs.encode_pairs(pairs, capacity))
    lengths = [(b"the " * a, b"hello " * b) for a in range(12) for b in range(12)]
    for capacity in range(3, 28):
        assert not differences(lengths, ours.encode_pairs(lengths, capacity), theirs.encode_pairs(lengths, capacity))


def test_plain_text_mode() -> None:
    spec = make_spec(SMALL_VOCABULARY)
    assert_same(spec, OWN_TEXTS, plain_text=True)
    (result,) = Runtime(spec).encode([b"[SEP]"], plain_text=True)
    assert result.ids[1:-1].tolist() != [spec.template.special_ids[1]]


def test_special_tokens_that_are_words() -> None:
    """Without brackets WordPiece finds them in plain text: here, and in the wheel."""
    vocabulary = (*SMALL_VOCABULARY, "PAD", "##ding")
    added = [token(text, special=True, normalized=False) for text in ("PAD", "!")]
    spec = make_spec(vocabulary, numbered(added, vocabulary), lowercase=False)
    texts = [b"PAD", b"PADding", b"a PAD! b", b"[PAD]", b"pad"]
    assert_same(spec, texts, plain_text=True)
    assert vocabulary.index("PAD") in Runtime(spec).encode(texts, plain_text=True)[0].ids


def token(content: str, **flags: bool) -> AddedToken:
    off = {"special": False, "normalized": True, "single_word": False, "lstrip": False, "rstrip": False}
    return AddedToken(content, -1, **{**off, **flags})


def numbered(tokens: list[AddedToken], pieces: tuple[str, ...]) -> list[AddedToken]:
    """With the ids that the wheel gives them: the vocabulary's, or the next free ones."""
    free = count(len(pieces))
    return [replace(one, id=pieces.index(one.content) if one.content in pieces else next(free)) for one in tokens]


ADDED = {
    "raw": [
        token("[E1]", normalized=False),
        token("[E1][E2]", normalized=False),
        token("the", normalized=False, single_word=True),
        token("<l>", normalized=False, lstrip=True),
        token("<r>", normalized=False, rstrip=True, special=True),
        token("<lr>", normalized=False, lstrip=True, rstrip=True, single_word=True),
        token("é中", normalized=False),
        token("a", normalized=False, single_word=True, special=True),
    ],
    "normalized": [
        token("Covid19"),
        token("New York"),
        token("new", single_word=True),
        token("É", single_word=True, lstrip=True),
        token("<L>", lstrip=True),
        token("<R>", rstrip=True),
        token("<LR>", lstrip=True, rstrip=True, special=True),
        token("中文"),
        token("aba", special=True),
        token("abab", single_word=True),
        token("가", lstrip=True),
        token("\u302e", rstrip=True),
    ],
    "both": [
        token("<L>", lstrip=True),
        token("<R>", rstrip=True),
        token("<l>", normalized=False, lstrip=True),
        token("<r>", normalized=False, rstrip=True),
        token("the", single_word=True, lstrip=True, rstrip=True),
        token("b", normalized=False, single_word=True),
    ],
    "spaces": [
        token("  "),
        token(" a", lstrip=True),
        token("b "),
        token("\t", normalized=False),
        token(" z", normalized=False, lstrip=True),
    ],
    "spaces after rstrip": [
        token("<r>", rstrip=True),
        token(" ", single_word=True),
        token("  x"),
        token("<l>", lstrip=True),
        token("\t\t", normalized=False),
        token("<R>", normalized=False, rstrip=True, lstrip=True),
        token("\tz", normalized=False),
    ],
}
PARTS = (
    *(
        "[E1]",
        "[E1][E2]",
        "[E2]",
        "the",
        "The",
        "<l>",
        "<r>",
        "<lr>",
        "<L>",
        "<R>",
        "<LR>",
        "é中",
        "a",
        "b",
        "z",
        "É",
        "é",
    ),
    *(
        "Covid19",
        "covid",
        "New York",
        "new",
        "york",
        "NEW",
        "中文",
        "中",
        "aba",
        "abab",
        "bab",
        "가",
        "\u302e",
        "\u0301",
    ),
    *("ae", "AE", "e\u0301", " ", "  ", "\t", "\u3000", "\x0b", "\u200b", "_", ".", "x", "[SEP]", "\u1e000"),
)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("name", ADDED)
def test_added_tokens(name: str, flags: dict[str, bool]) -> None:
    source = random_source()
    texts = [random_text(source, 10, PARTS).encode() for _ in range(400)]
    texts += [text.encode() for text in PARTS]
    texts += [a.encode() + b"\xe2\x82" + b.encode() + b"\xcc" for a in PARTS[:8] for b in PARTS[:8]]
    spec = make_spec(tricky_pieces(), numbered(ADDED[name], tricky_pieces()), **flags)
    assert_same(spec, texts)
    assert_same(spec, texts, plain_text=True)
    assert_same(spec, texts, 5)


def test_added_tokens_that_only_normalization_makes_equal() -> None:
    """The wheel takes one or the other by the order of a hash map, another one in each run."""
    with pytest.raises(EtchError, match="added-token-ambiguous"):
        Runtime(make_spec(tricky_pieces(), numbered([token("Aé"), token("ae")], tricky_pieces())))


def test_many_added_tokens() -> None:
    """The range of contents that begin alike is narrowed, not walked."""
    source = random_source()
    contents = {random_text(source, 6, [*"<ab>é"]) + "x" for _ in range(400)}
    tokens = [token(text, normalized=False) for text in sorted(contents)]
    texts = [random_text(source, 30, [*"<ab>éx "]).encode() for _ in range(1500)]
    assert_same(make_spec(tricky_pieces(), numbered(tokens, tricky_pieces())), texts)
    tokens = [token(text) for text in sorted(contents)]
    assert_same(make_spec(tricky_pieces(), numbered(tokens, tricky_pieces())), texts)


@pytest.mark.parametrize("spaces", [3, 254, 255, 256, 257, 513, 800])
def test_white_space_around_tokens(spaces: int) -> None:
    """More of it than is searched at a time, swallowed by the token on either side or by none."""
    tokens = [
        token("<l>", normalized=False, lstrip=True),
        token("<r>", normalized=False, rstrip=True),
        token("  x", normalized=False),
    ]
    gap = b" " * spaces
    words = (b"", b"a", b"<l>", b"<r>", b"x", "é".encode())
    texts = [first + gap + second + b"a" for first in words for second in words]
    texts += [b"a" + "\u3000".encode() * spaces + last for last in words]
    assert_same(make_spec(tricky_pieces(), numbered(tokens, tricky_pieces())), texts)
    tokens.append(token("   "))  # matched in ordinary text, but not in what another token swallows
    assert_same(make_spec(tricky_pieces(), numbered(tokens, tricky_pieces())), texts)


def test_tokens_beside_malformed_bytes() -> None:
    """The character before a token decides whether it stands alone, malformed or not."""
    tokens = [
        token("<w>", normalized=False, single_word=True),
        token("<W>", single_word=True),
        token("<l>", normalized=False, lstrip=True),
    ]
    around = ["é".encode(), b"a", b" ", b"", b"\xe2\x82", b"\x80", b"\x80\x80\x80\x80", b"\xf0\x9f\x98", b"\xff"]
    texts = [a + b + one + c for a in around for b in around for one in (b"<w>", b"<W>", b"<l>") for c in around[:5]]
    assert_same(make_spec(tricky_pieces(), numbered(tokens, tricky_pieces())), texts)


def words_of(letters: str, size: int) -> list[str]:
    return ["".join(word) for word in product(letters, repeat=size)]


def test_more_pieces_than_16_bits_number() -> None:
    words = words_of("abcdefghijklmnop", 4)
    pieces = (*SMALL_VOCABULARY[:5], *words, *("##" + word for word in words_of("abcdefgh", 3)))
    assert len(pieces) > 1 << 16
    source = random_source()
    texts = ["".join(source.choices("abcdefghijklmnop ", k=40)).encode() for _ in range(1000)]
    assert_same(make_spec(pieces), texts)


def test_pieces_that_differ_in_the_prefix_only() -> None:
    """What is looked up inside a word has the length of pieces that begin one; only the prefix tells them apart."""
    letters = "abcdefghijklmnop"
    source = random_source()
    words = source.sample(words_of(letters, 5), 6000)
    inner = words_of(letters, 3)
    pieces = (*SMALL_VOCABULARY[:5], *words, *letters, *("##" + word for word in inner[::2]))
    texts = [(letter + word).encode() for letter in "ap" for word in inner]
    assert_same(make_spec(pieces), texts)


@pytest.mark.parametrize("children", [14, 15, 16])
def test_a_byte_that_none_of_many_children_has(children: int) -> None:
    letters = "abcdefghijklmnop"
    inner = [first + second for first in letters[:children] for second in ("", "p", "q")]
    pieces = (*SMALL_VOCABULARY[:5], *letters, "q", "##p", "##q", *("x" + text for text in inner))
    assert_same(make_spec(pieces), [("x" + text).encode() for text in (*letters, "q", *inner)])


@pytest.mark.parametrize("prefix", ["##", "", "▁", "@@", "ab"])
def test_other_prefixes(prefix: str) -> None:
    base = [*(chr(c) for c in range(0x61, 0x66)), "abc", "▁a", "▁ab", "abab", "#", "##a", "@@", "ab", "▁"]
    pieces = tuple(dict.fromkeys([*SMALL_VOCABULARY[:5], *base, *(prefix + text for text in base)]))
    source = random_source()
    texts = [random_text(source, 12, ["a", "b", "c", "ab", "▁", "#", " ", "@"]).encode() for _ in range(2000)]
    assert_same(make_spec(pieces, prefix=prefix), texts)


@pytest.mark.parametrize("limit", [0, 1, 2, 5, 300])
def test_other_word_limits(limit: int) -> None:
    source = random_source()
    texts = [random_text(source, 20).encode() for _ in range(1500)]
    texts += [b"a" * n + b" " + "é".encode() * n for n in (1, 2, 3, 5, 6, 299, 300, 301, 302)]
    spec = make_spec(tricky_pieces(), max_word_chars=limit)
    assert_same(spec, texts)
    for capacity in (2, 3, 4):
        assert_same(spec, texts, capacity)


def test_pieces_of_odd_content() -> None:
    """A vocabulary may hold anything: what cannot match must not match."""
    odd = [
        "",
        "##",
        "a b",
        " ",
        "\0",
        "##\0",
        "\ufffd",
        "##[SEP]",
        "x" * 300,
        "##" + "y" * 399,
        "##" + "é" * 60,
        "*/",
        '"',
    ]
    pieces = tuple(dict.fromkeys([*SMALL_VOCABULARY, *odd]))
    texts = [b'a b \0 \xff ## # */ "', b"x" * 99, b"z" + b"y" * 99, "é".encode() * 61, b"x" * 300]
    for limit in (100, 400):
        assert_same(make_spec(pieces, max_word_chars=limit), texts)
        assert_same(make_spec(pieces, max_word_chars=limit, clean_text=False), texts)


def test_text_of_pieces() -> None:
    """Of every id: pieces of both kinds, such as match nothing, ids without a piece, added tokens behind them."""
    pieces = tuple(
        dict.fromkeys([*SMALL_VOCABULARY, "##", "##" * 300, "é" * 70_000, *(f"z{chr(i)}" for i in range(256, 400))])
    )
    added = AddedToken("<added>", len(pieces), False, True, False, False, False)
    expected = [piece.encode() for piece in (*pieces, added.content)]
    assert Runtime(make_spec(pieces, [added])).pieces() == expected
    assert Runtime(make_spec(pieces, [added], prefix="z")).pieces() == expected
    spec = make_spec(pieces, [added])
    gap = replace(spec, model=replace(spec.model, pieces=(*pieces[:-1], None)))
    assert Runtime(gap).pieces() == [*expected[:-2], b"", expected[-1]]
