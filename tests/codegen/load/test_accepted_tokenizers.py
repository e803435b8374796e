# SPDX-License-Identifier: Apache-2.0
"""Tokenizer files that are read: the checked form behaves as the file does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from malformed import (
    CONFIG,
    TOKENIZER,
    TOKENIZER_CONFIG,
    VOCAB,
    both,
    drop,
    put,
    raw,
    remove,
)
from tiny_checkpoint import DEFAULT_VOCAB, write_tiny_checkpoint
from tokenizer_edits import (
    ADDED,
    AS_IN_JSON,
    SIZE,
    SPECIAL_MAP,
    TEXTS,
    added,
    lines,
    part,
    text_only,
    without,
)
from tokenizers import Tokenizer

from codegen.load.folder import load_checkpoint

# `transformers` does not tell the model which segment a token is of.
WITHOUT_SEGMENTS = (
    "PreTrainedTokenizerFast",
    "TokenizersBackend",
    "DistilBertTokenizer",
    "DistilBertTokenizer in config.json",
    "no token types",
    "other settings, json class",
)


def agree(left: Tokenizer, right: Tokenizer, segments: bool) -> None:
    for text in TEXTS:
        for pair in (None, "dog [SEP] plays"):
            a, b = left.encode(text, pair), right.encode(text, pair)
            assert (a.ids, a.offsets) == (b.ids, b.offsets)
            assert a.type_ids == (b.type_ids if segments else [0] * len(b.ids))


ACCEPTED: dict[str, Callable[[Path], object]] = {
    "as written": lambda folder: None,
    "no tokenizer_config.json": remove(TOKENIZER_CONFIG),
    "strip_accents absent": both(without("normalizer", "strip_accents"), drop(TOKENIZER_CONFIG, "strip_accents")),
    "strip_accents spelled out": part("normalizer", strip_accents=True),
    "BertProcessing": put(
        TOKENIZER, post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    ),
    "model without type": without("model", "type"),
    "no decoder": drop(TOKENIZER, "decoder"),
    "vocab.txt with the same pieces": lines(*DEFAULT_VOCAB),
    "added token in the vocabulary": added(id=7, content="cat", special=False, normalized=True, single_word=True),
    "added token with a new id": both(
        put(CONFIG, vocab_size=SIZE + 2), added(id=SIZE, content="Berlin!", special=False)
    ),
    "special tokens as objects": put(
        TOKENIZER_CONFIG, mask_token={"__type": "AddedToken", "content": "[MASK]", "lstrip": False}
    ),
    # Published multi-qa-mpnet-base; tokenizer.json has the flags of its tokens.
    "special tokens with other flags": both(
        put(TOKENIZER_CONFIG, mask_token={"__type": "AddedToken", "content": "[MASK]", "normalized": True}),
        put(SPECIAL_MAP, unk_token={"content": "[UNK]", "normalized": True, "lstrip": True}),
    ),
    "code of its own for something else": put(TOKENIZER_CONFIG, auto_map={"AutoProcessor": "p.Processor"}),
    "special_tokens_map.json": put(SPECIAL_MAP, unk_token="[UNK]", mask_token={"content": "[MASK]"}),
    "added_tokens.json": put(ADDED, **{"[MASK]": 4}),
    "eos_token among the added": put(TOKENIZER_CONFIG, eos_token="[SEP]", bos_token={"content": "[CLS]"}, x_token=1),
    "tokenizer class in config.json": both(
        drop(TOKENIZER_CONFIG, "tokenizer_class"), put(CONFIG, tokenizer_class="BertTokenizerFast")
    ),
    "other class in config.json": put(CONFIG, tokenizer_class="RobertaTokenizer"),
    "segments asked for": both(AS_IN_JSON, put(TOKENIZER_CONFIG, model_input_names=["input_ids", "token_type_ids"])),
    "other settings, json class": both(
        AS_IN_JSON,
        *(drop(TOKENIZER_CONFIG, key) for key in ("do_lower_case", "strip_accents", "tokenize_chinese_chars")),
        part("normalizer", clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False),
        part("model", max_input_chars_per_word=20),
    ),
    # Where there is a tokenizer.json transformers asks its template.
    "eos_token added to all texts": put(TOKENIZER_CONFIG, add_eos_token=True, add_bos_token=True),
    "another name of the class": put(TOKENIZER_CONFIG, tokenizer_class="MobileBertTokenizerFast"),
    "PreTrainedTokenizerFast": AS_IN_JSON,
    "TokenizersBackend": put(TOKENIZER_CONFIG, tokenizer_class="TokenizersBackend"),
    "DistilBertTokenizer": put(TOKENIZER_CONFIG, tokenizer_class="DistilBertTokenizerFast"),
    "DistilBertTokenizer in config.json": both(
        remove(TOKENIZER_CONFIG), put(CONFIG, tokenizer_class="DistilBertTokenizer")
    ),
    "no token types": put(TOKENIZER_CONFIG, model_input_names=["input_ids", "attention_mask"]),
    "keep accents": both(part("normalizer", strip_accents=False), put(TOKENIZER_CONFIG, strip_accents=False)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_checked_form_behaves_as_the_file(name: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    ACCEPTED[name](tmp_path)
    values = json.loads((tmp_path / TOKENIZER).read_text())
    spec = load_checkpoint(tmp_path).tokenizer
    checked, original = Tokenizer.from_str(spec.json), Tokenizer.from_str(json.dumps(values))
    agree(checked, original, name not in WITHOUT_SEGMENTS)
    assert {part.segment for part in spec.template.pair} == ({0} if name in WITHOUT_SEGMENTS else {0, 1})
    for token in spec.added_tokens:
        assert original.token_to_id(token.content) == token.id
    for i, piece in enumerate(spec.model.pieces):
        assert piece is None or original.token_to_id(piece) == i
    assert spec.normalizer.strip_accents is (
        values["normalizer"]["lowercase"]
        if values["normalizer"].get("strip_accents") is None
        else values["normalizer"]["strip_accents"]
    )
    assert original.get_vocab_size() == len(spec.model.pieces)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_vocab_txt_is_the_same_tokenizer(lowercase: bool, newline: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, lowercase=lowercase)
    from_json = load_checkpoint(tmp_path).tokenizer
    both(remove(TOKENIZER), lines(*DEFAULT_VOCAB, newline=newline))(tmp_path)
    from_text = load_checkpoint(tmp_path).tokenizer
    assert from_text == from_json
    assert (from_text.model.unknown_id, from_text.template.special_ids) == (1, (2, 3))


def test_vocab_txt_alone_is_lower_cased_with_a_note(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    both(remove(TOKENIZER_CONFIG), text_only(*DEFAULT_VOCAB))(tmp_path)
    checkpoint = load_checkpoint(tmp_path)
    assert checkpoint.tokenizer.normalizer.lowercase
    assert any("lower-casing assumed" in note for note in checkpoint.notes)


def test_vocab_txt_drops_white_space_behind_a_piece_and_keeps_the_last_of_a_repeated_line(tmp_path: Path) -> None:
    pieces = [*DEFAULT_VOCAB[:-4], "the \u3000", "a\u2028b\u0085 ", "", "\tx\x1c"]
    write_tiny_checkpoint(tmp_path)
    text_only(*pieces)(tmp_path)
    spec = load_checkpoint(tmp_path).tokenizer
    assert spec.model.pieces[pieces.index("the")] is None
    assert spec.model.pieces[-4:] == ("the", "a\u2028b", None, "\tx\x1c")
    assert any("1 of" in note and "repeated" in note for note in spec.notes)
    oracle = Tokenizer.from_str(spec.json)
    assert oracle.token_to_id("the") == len(pieces) - 4
    assert oracle.encode("the cat").ids == [2, len(pieces) - 4, 7, 3]


def test_vocab_txt_without_last_newline(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    both(remove(TOKENIZER), raw(VOCAB, "\n".join(DEFAULT_VOCAB).encode()))(tmp_path)
    assert load_checkpoint(tmp_path).tokenizer.model.pieces == DEFAULT_VOCAB


def test_a_vocabulary_smaller_than_the_embedding_is_a_note(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    put(CONFIG, vocab_size=SIZE + 7)(tmp_path)
    assert any(f"vocab_size is {SIZE + 7}" in note for note in load_checkpoint(tmp_path).notes)


def test_hostile_pieces_are_kept_as_they_are(tmp_path: Path) -> None:
    hostile = ('"', "\\", "*/", "\x00", "\u202e", "{{x}}", "\U0001f600", "##", "#" * 1024)
    write_tiny_checkpoint(tmp_path, vocab=DEFAULT_VOCAB + hostile)
    spec = load_checkpoint(tmp_path).tokenizer
    assert spec.model.pieces == DEFAULT_VOCAB + hostile
    assert json.loads(spec.json)["model"]["vocab"]["\x00"] == SIZE + 3


@pytest.mark.parametrize(("text", "noted"), [("cat", True), ("##ing", True), ("[MASK]", False), ("CAT", False)])
def test_special_tokens_that_words_hold_are_a_note(text: str, noted: bool, tmp_path: Path) -> None:
    pieces = (*DEFAULT_VOCAB, "CAT") if text not in DEFAULT_VOCAB else DEFAULT_VOCAB
    write_tiny_checkpoint(tmp_path, vocab=pieces)
    if text != "[MASK]":
        added(id=pieces.index(text), content=text, special=True, normalized=False)(tmp_path)
    notes = load_checkpoint(tmp_path).notes
    assert any("does not hide" in note and text in note for note in notes) == noted


def test_whose_decoder_counts(tmp_path: Path) -> None:
    """That of the file, where no class of `transformers` builds its own."""
    write_tiny_checkpoint(tmp_path)
    other = {"type": "WordPiece", "prefix": "##", "cleanup": False}
    put(TOKENIZER, decoder=other)(tmp_path)
    decoder = json.loads(load_checkpoint(tmp_path).tokenizer.json)["decoder"]
    assert decoder == {"type": "WordPiece", "prefix": "##", "cleanup": True}
    AS_IN_JSON(tmp_path)
    assert json.loads(load_checkpoint(tmp_path).tokenizer.json)["decoder"] == other
