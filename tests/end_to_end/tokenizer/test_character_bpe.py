# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's BPE against the wheel, on random vocabularies: needs no data, takes seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from character_bpe import PREPEND, REPLACE, character_bpe_json, random_model, random_spec
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
from unigram import CUT, METASPACE, RULES, SPECIALS, TRICKY_PARTS, compiled, specials, strip, texts_of_pieces

from codegen.errors import EtchError
from codegen.ir.byte_pieces import BYTE_PIECES
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import read_character_bpe_json

MAP = compiled(RULES)
LLAMA = {"metaspace": False, "after": [PREPEND, REPLACE]}
OPTIONS: list[Any] = [
    pytest.param({}, id="always"),
    pytest.param({"scheme": "first"}, id="first"),
    pytest.param({"scheme": "never"}, id="never"),
    pytest.param({"scheme": "first", "split": False, "model": {"bytes_too": True, "fuse_unk": True}}, id="llama"),
    pytest.param({**LLAMA, "model": {"bytes_too": True, "fuse_unk": True}}, id="llama-old"),
    pytest.param({**LLAMA, "model": {"bytes_too": True, "inner": True}}, id="inner"),
    pytest.param({"metaspace": False, "after": [REPLACE], "model": {"fuse_unk": True}}, id="replace"),
    pytest.param({"after": [REPLACE, PREPEND], "scheme": "first", "model": {"inner": True}}, id="both"),
    pytest.param({"charsmap": MAP, "split_whitespace": True, "model": {"fuse_unk": True}}, id="map"),
    pytest.param({"charsmap": MAP, "before": [strip(True, True)], "after": [PREPEND], "model": {}}, id="strip-prepend"),
    pytest.param({"model": {"ignore_merges": True, "inner": True}}, id="ignore-merges"),
    pytest.param({"split": False, "model": {"ignore_merges": True, "bytes_too": True}}, id="ignore-merges-unsplit"),
    pytest.param({"model": {"bytes_too": True, "unk_token": None}}, id="no-unknown"),
    pytest.param({"model": {"derived": "id", "fuse_unk": True}}, id="derived-by-id"),
    pytest.param({"split": False, "model": {"derived": "size", "inner": True}}, id="derived-by-size"),
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
        texts = [random_text(source, 24, (*TRICKY, *TRICKY_PARTS)).encode() for _ in range(300)]
        texts += [random_text(source, 10, TRICKY_PARTS).encode() for _ in range(700)]
        texts += [random_bytes(source, 12) for _ in range(200)]
        texts += [b"".join(source.choices(pieces, k=source.randint(1, 12))) for _ in range(500)]
        texts += [random_text(source, 30, "abcdefith<s>/ \u00e9").encode() for _ in range(500)]
        assert_same(spec, texts)


@pytest.mark.parametrize("order", ["id", "size"])
def test_merges_that_follow_from_ids_cost_no_table(order: str) -> None:
    values = character_bpe_json(random_model(random_source(), derived=order))

    def stored() -> int:
        arrays = dict(Runtime(read_character_bpe_json(values)).tables.arrays)
        return len(arrays["left_sizes"])

    assert stored() == 1
    merges = values["model"]["merges"]
    left, right = merges.pop(0)
    assert len(left + right) > 1
    merges.append([left, right])
    assert stored() == len(merges)


@pytest.mark.parametrize("options", [{}, LLAMA, {"split": False}])
def test_long_texts(options: dict[str, Any]) -> None:
    """A text may be one word of any length: no merge crosses the beginning of spaces."""
    source = random_source()
    spec = random_spec(source, **options)
    words = [piece.replace(METASPACE.encode(), b" ") for piece in texts_of_pieces(spec) if len(piece) < 9]
    texts = [b"".join(source.choices([b" ", *words], k=3000)) for _ in range(20)]
    assert not any(result.cut_word for result in assert_same(spec, texts))


def test_a_longer_word_is_cut_and_said_so() -> None:
    spec = random_spec(random_source(), scheme="never")
    runtime, wheel = Runtime(spec), Wheel(spec)
    held, longer = b"a" * 1021, b"a" * 1022
    ours = runtime.encode([held, longer, longer + b" a"])
    assert [result.cut_word for result in ours] == [False, True, True]
    assert not differences([held], ours[:1], wheel.encode([held]))
    assert ours[1].offsets[-2].tolist()[1] == 1022


@pytest.mark.parametrize("options", [{}, LLAMA, {"model": {"bytes_too": True}, "scheme": "first"}])
def test_every_truncation(options: dict[str, Any]) -> None:
    spec = random_spec(random_source(), **options)
    assert_same_however_short(spec, CUT, range(2, 16), range(4, 24))


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("options", [{}, LLAMA, {"scheme": "first"}])
def test_added_tokens(name: str, options: dict[str, Any]) -> None:
    source = random_source()
    model = random_model(source)
    added = numbered(ADDED[name], tuple(model["vocab"]))
    added = [replace(one, lstrip=False, rstrip=False) if one.normalized else one for one in added]
    if options is LLAMA:
        added = [replace(one, normalized=False) for one in added]
    values = character_bpe_json(model, added=added, **options)
    spec = read_character_bpe_json(values)
    parts = (*PARTS, *SPECIALS, " <mask>", "ab", METASPACE)
    texts = [random_text(source, 10, parts).encode() for _ in range(300)] + [text.encode() for text in parts]
    assert_same(spec, texts)
    assert_same(spec, texts, 5)


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_special_tokens_are_never_plain_text(ignore_merges: bool) -> None:
    """Merging may make them, or they are a word. So the wheel is asked as if they were no pieces."""
    source = random_source()
    texts = ["<s>", "a</s>b", "<s></s> <mask><pad>", "<s><s>a", "f f", "<s>/<"]
    texts += [random_text(source, 10, ("<", "s", ">", "<s", "s>", "a", " ", "f", "<s>", "</s>")) for _ in range(500)]
    raw = [text.encode() for text in texts]
    for _ in range(5):
        model = random_model(source, ignore_merges=ignore_merges)
        for letter in "<s>/af":
            model["vocab"].setdefault(letter, len(model["vocab"]))
        for text in ("s>", "/s>", "<s", "<s>a"):
            model["vocab"].setdefault(text, len(model["vocab"]))
        ways = [["s", ">"], ["<", "s>"], ["/", "s>"], ["<", "/s>"], ["<", "s"], ["<s", ">"], ["<s>", "a"]]
        model["merges"] = [*model["merges"], *(pair for pair in ways if pair not in model["merges"])]
        added = [*specials(), replace(specials()[0], content="f", id=model["vocab"].get("f", len(model["vocab"])))]
        values = character_bpe_json(model, added=added, template=False)
        assert_same(read_character_bpe_json(values), raw)
        gone = {"<s>", "</s>", "<pad>", "<mask>", "f"}
        hidden = {f"\0{piece}" if piece in gone else piece: i for piece, i in model["vocab"].items()}
        kept = [pair for pair in model["merges"] if not {*pair, "".join(pair)} & gone]
        oracle = character_bpe_json({**model, "vocab": hidden, "merges": kept}, added=[], template=False)
        spec = read_character_bpe_json(oracle)
        ours = Runtime(read_character_bpe_json(values)).encode(raw, plain_text=True)
        assert not differences(raw, ours, Wheel(spec).encode(raw))


def test_a_byte_needs_no_piece_where_its_character_is_one() -> None:
    """As in Gemma's vocabulary."""
    source = random_source()
    model = random_model(source, bytes_too=True)
    model["vocab"]["\t"] = model["vocab"].pop("<0x09>")
    texts = [random_text(source, 8, ("\t", "a", " ", "\n", "\x01", "\u4e2d")).encode() for _ in range(200)]
    assert_same(read_character_bpe_json(character_bpe_json(model)), texts)


def test_text_of_pieces() -> None:
    assert_texts_of_pieces(random_spec(random_source()))


def _changed(model: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**model, **changes}


BYTES = dict.fromkeys(BYTE_PIECES)


@pytest.mark.parametrize(
    ("model", "options", "code"),
    [
        ({"dropout": 0.1}, {}, "tokenizer-setting"),
        ({"end_of_word_suffix": "</w>"}, {}, "tokenizer-setting"),
        ({"byte_fallback": 1}, {}, "tokenizer-setting"),
        ({"unk_token": None}, {}, "missing-special-token"),
        ({"vocab": {"<unk>": 0, "<0x00>": 1}, "merges": [], "byte_fallback": True}, {}, "tokenizer-bytes"),
        ({"vocab": {"<unk>": 0, "a": 1, "<unk>a": 2}, "merges": ["<unk> a"]}, {}, "tokenizer-merges"),
        ({"vocab": {"<unk>": 0, "a": 1}, "merges": ["a a"]}, {}, "tokenizer-merges"),
        ({}, {"metaspace": False}, "tokenizer-pre-tokenizer"),
        ({}, {"after": [REPLACE], "split_whitespace": True}, "tokenizer-pre-tokenizer"),
        ({}, {"after": [{"type": "Prepend", "prepend": "x"}]}, "tokenizer-normalizer"),
        ({}, {"after": [PREPEND, PREPEND]}, "tokenizer-normalizer"),
        ({}, {"after": [PREPEND, strip(True, True)]}, "tokenizer-normalizer"),
        ({}, {"after": [REPLACE], "charsmap": MAP, "before": [PREPEND]}, "tokenizer-normalizer"),
    ],
)
def test_what_is_refused(model: dict[str, Any], options: dict[str, Any], code: str) -> None:
    values = character_bpe_json(
        _changed(random_model(random_source()), **model), **{"added": [], "template": False, **options}
    )
    with pytest.raises(EtchError) as refused:
        read_character_bpe_json(values)
    assert refused.value.code == code


def test_a_normalized_token_is_refused_where_spaces_are_written_before_it_is_found() -> None:
    added = [replace(token, normalized=True) for token in specials()]
    with pytest.raises(EtchError, match="U\\+2581") as refused:
        random_spec(random_source(), added=added, **LLAMA)
    assert refused.value.code == "added-token-unsupported"
