# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of byte-level BPE: what is not understood, and what contradicts itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.ir.normalizer_spec import NoNormalizer, NormalFormNormalizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.folders.byte_level import read_byte_level_folder
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.tokenizer import compile_tokenizer
from codegen.tokenizer.byte_level_bpe import MOST_BYTES

BYTE_LEVEL = {"add_prefix_space": False, "trim_offsets": True}


def alphabet() -> list[str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return [*map(chr, printable), *(chr(0x100 + i) for i in range(256 - len(printable)))]


def tiny(merges: tuple[str, ...] = ("t h", "th e", "\u0120 the")) -> dict[str, Any]:
    pieces = ["<s>", "</s>", *alphabet(), *(merge.replace(" ", "") for merge in merges)]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": pieces[i], **flags} for i in range(2)],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", **BYTE_LEVEL, "use_regex": True},
        "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0], **BYTE_LEVEL},
        "decoder": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {piece: i for i, piece in enumerate(pieces)},
            "merges": list(merges),
        },
    }


def model(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda values: values["model"].update(changes)


def top(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda values: values.update(changes)


def template(single: object, pair: object = None, tokens: object = None) -> Callable[[dict[str, Any]], object]:
    known = {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}
    processor = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [sequence("A"), sequence("B")] if pair is None else pair,
        "special_tokens": known if tokens is None else tokens,
    }
    return top(post_processor=processor)


def sequence(name: str, type_id: object = 0) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": type_id}}


def steps(*normalizers: object) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(normalizers)}


def special(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def piece(text: str) -> Callable[[dict[str, Any]], object]:
    return lambda values: values["model"]["vocab"].update({text: len(values["model"]["vocab"])})


CASES = {
    "normalizer": (top(normalizer={"type": "Prepend"}), "tokenizer-normalizer", "'Prepend' is not supported"),
    "normalizer field": (top(normalizer={"type": "NFC", "a": 1}), "tokenizer-field", "'a'"),
    "two normalizers": (
        top(normalizer=steps({"type": "NFC"}, {"type": "NFD"})),
        "tokenizer-normalizer",
        "order are not supported: NFC, NFD",
    ),
    "normalizers no list": (top(normalizer={"type": "Sequence", "normalizers": 1}), "tokenizer-type", "a list"),
    "white space put right where offsets are trimmed": (
        top(normalizer=steps({"type": "NFC"}, {"type": "Strip", "strip_left": True, "strip_right": True})),
        "tokenizer-normalizer",
        "move spaces",
    ),
    "spaces made where offsets are trimmed": (top(normalizer={"type": "NFKC"}), "tokenizer-normalizer", "move spaces"),
    "vanished between spaces": (
        top(normalizer=steps({"type": "NFD"}, {"type": "StripAccents"})),
        "tokenizer-normalizer",
        "move spaces",
    ),
    "other pre-tokenizer": (top(pre_tokenizer={"type": "Whitespace"}), "tokenizer-pre-tokenizer", "as the last"),
    "no expression": (
        top(pre_tokenizer={"type": "ByteLevel", **BYTE_LEVEL, "use_regex": False}),
        "tokenizer-pre-tokenizer",
        "expression",
    ),
    "flag a number": (
        top(pre_tokenizer={"type": "ByteLevel", "add_prefix_space": 1, "trim_offsets": True}),
        "tokenizer-type",
        "add_prefix_space",
    ),
    "dropout": (model(dropout=0.1), "tokenizer-setting", "model.dropout: 0.1"),
    "dropout 0": (model(dropout=0), "tokenizer-setting", "model.dropout"),
    "prefix": (model(continuing_subword_prefix="##"), "tokenizer-setting", "'##'"),
    "suffix": (model(end_of_word_suffix="</w>"), "tokenizer-setting", "'</w>'"),
    "byte fallback": (model(byte_fallback=True), "tokenizer-setting", "byte_fallback"),
    "unknown field": (model(cache=1), "tokenizer-field", "'cache'"),
    "unk_token elsewhere": (model(unk_token="<unk>"), "missing-special-token", "'<unk>'"),
    "merges no list": (model(merges={}), "tokenizer-type", "merges"),
    "merge of three": (model(merges=["t h e"]), "tokenizer-merges", "merge 0"),
    "merge of nothing": (model(merges=["t "]), "tokenizer-merges", "merge 0"),
    "merge of no piece": (model(merges=["t h", "th x"]), "tokenizer-merges", "'thx'"),
    "merge of an unknown half": (model(merges=[["the", "re"]]), "tokenizer-merges", "'re'"),
    "no vocabulary": (model(vocab=None), "tokenizer-type", "model.vocab"),
    "two pieces of the same bytes": (piece("\u4e2d\u0100"), "", ""),
    "post-processor": (top(post_processor={"type": "Other"}), "tokenizer-post-processor", "'Other'"),
    "post-processor's flag": (
        top(post_processor={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": 1}),
        "tokenizer-type",
        "trim_offsets",
    ),
    "post-processor's id": (
        top(post_processor={"type": "RobertaProcessing", "sep": ["</s>", 5], "cls": ["<s>", 0], **BYTE_LEVEL}),
        "special-token-conflict",
        "'</s>'",
    ),
    "post-processor's token a number": (
        top(post_processor={"type": "BertProcessing", "sep": 1, "cls": ["<s>", 0]}),
        "tokenizer-type",
        "pair",
    ),
    "sequence of others": (
        top(post_processor={"type": "Sequence", "processors": [{"type": "ByteLevel"}]}),
        "tokenizer-post-processor",
        "Sequence",
    ),
    "template without A": (template([special("<s>")]), "tokenizer-template", "single"),
    "template with A twice": (template([sequence("A"), sequence("A")]), "tokenizer-template", "single"),
    "template with B before A": (
        template([sequence("A")], [sequence("B"), sequence("A")]),
        "tokenizer-template",
        "A then B",
    ),
    "template with C": (template([sequence("C")]), "tokenizer-template", "not understood"),
    "template a number": (template(1), "tokenizer-template", "not understood"),
    "template's type": (template([sequence("A", 256)]), "tokenizer-template", "256"),
    "template's type true": (template([sequence("A", True)]), "tokenizer-template", "true"),
    "template's token": (template([special("</s>"), sequence("A")]), "tokenizer-template", "'</s>'"),
    "template's tokens": (template([sequence("A")], tokens=[]), "tokenizer-template", "special_tokens"),
    "template's id": (
        template([special("<s>"), sequence("A")], tokens={"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}),
        "special-token-conflict",
        "'<s>'",
    ),
}


@pytest.mark.parametrize("value", [{"type": "NFC"}, steps({"type": "NFC"}), steps(steps({"type": "NFC"}))])
def test_a_normal_form(value: dict[str, Any]) -> None:
    values = tiny()
    values["normalizer"] = value
    assert read_byte_level_json(values).normalizer == NormalFormNormalizer("NFC")
    values["normalizer"] = steps()
    assert read_byte_level_json(values).normalizer == NoNormalizer()


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    change, code, words = CASES[name]
    values = tiny()
    change(values)
    if not code:
        read_byte_level_json(values)
        return
    with pytest.raises(EtchError) as refused:
        read_byte_level_json(values)
    assert refused.value.code == code
    assert words in str(refused.value)


def test_older_merges_and_models_without_a_type() -> None:
    newer = tiny()
    newer["model"]["merges"] = [merge.split(" ") for merge in newer["model"]["merges"]]
    older = tiny()
    for key in ("type", "byte_fallback", "ignore_merges"):
        del older["model"][key]
    assert read_byte_level_json(older).model == read_byte_level_json(newer).model


@pytest.mark.parametrize(
    ("merges", "words"),
    [(("t h", "h e", "th e", "t he"), "two merges, 2 and 3"), (("a" * 256 + " b",), "more than 255 bytes")],
)
def test_tables_refuse(merges: tuple[str, ...], words: str) -> None:
    values = tiny(merges)
    vocab = dict.fromkeys(values["model"]["vocab"])
    for merge in merges:
        vocab.update(dict.fromkeys(merge.split(" ")))
    values["model"]["vocab"] = {text: i for i, text in enumerate(vocab)}
    with pytest.raises(EtchError, match=words) as refused:
        compile_tokenizer(read_byte_level_json(values))
    assert refused.value.code == "tokenizer-merges"


def test_a_missing_byte_is_refused() -> None:
    values = tiny(())
    vocab = values["model"]["vocab"]
    last = max(vocab, key=vocab.__getitem__)
    vocab[last] = vocab.pop("\u0120")
    with pytest.raises(EtchError, match="0x20") as refused:
        compile_tokenizer(read_byte_level_json(values))
    assert refused.value.code == "tokenizer-bytes"


def test_scratch() -> None:
    tables = compile_tokenizer(read_byte_level_json(tiny()))
    assert tables.constants["scratch_bytes"] == 30 * MOST_BYTES + MOST_BYTES // 8
    assert tables.cpp_type == "Tokenizer<NoNormalizer, ByteLevelSegmenter, ByteLevelBpe>"


@pytest.mark.parametrize(
    ("vocab", "merges", "code"),
    [
        ('{"<s>": 0, "</s>": 1}', b"\xff", "vocab-not-utf8"),
        ('{"<s>": 0, "</s>": 1}', b"a b\n", "tokenizer-merges"),
        ('{"<s>": 0, "</s>": 1}', b"a b\n\n", "tokenizer-merges"),
        ('{"<s>": 0, "</s>": 2}', b"", "vocab-gap"),
    ],
)
def test_files_refused(vocab: str, merges: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(vocab)
    (tmp_path / "merges.txt").write_bytes(merges)
    with pytest.raises(EtchError) as refused:
        read_byte_level_folder(CheckpointFolder(tmp_path))
    assert refused.value.code == code
