# SPDX-License-Identifier: Apache-2.0
"""Offsets of added tokens that swallow white space, where the post-processor trims offsets, against the wheel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from byte_level import small_json
from test_tokenizer import ADDED, PARTS, numbered, token, tricky_pieces
from tokenizer_harness import Runtime, Wheel, assert_same, differences, make_spec, random_source
from tokenizer_texts import random_text

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import AddedToken, TokenizerSpec, Trimming
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.tokenizer import compile_tokenizer

KINDS = ("raw", "normalized", "both", "one character")
# Beside spaces that normalization puts there.
ONE_CHARACTER = [token("x", lstrip=True, rstrip=True), token("\u00df", lstrip=True)]


def word_piece_json(added: list[AddedToken], keeps_first_space: bool) -> dict[str, Any]:
    pieces = tricky_pieces()
    ends = {key: [text, pieces.index(text)] for key, text in (("cls", "[CLS]"), ("sep", "[SEP]"))}
    trims = {"trim_offsets": True, "add_prefix_space": keeps_first_space}
    described = json.loads(make_spec(pieces, numbered(added, pieces)).json)
    processor = {"type": "RobertaProcessing", **ends, **trims}
    return {"truncation": None, "padding": None, "decoder": None, **described, "post_processor": processor}


def read(folder: Path, values: dict[str, Any]) -> TokenizerSpec:
    (folder / "tokenizer.json").write_text(json.dumps(values))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return load_tokenizer(CheckpointFolder(folder), 10_000)


@pytest.mark.parametrize("keeps_first_space", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_word_piece(name: str, keeps_first_space: bool, tmp_path: Path) -> None:
    source = random_source()
    tokens = ADDED.get(name, ONE_CHARACTER)
    added = [one for one in tokens if "\u4e2d" not in one.content or not one.normalized]
    values = word_piece_json(added, keeps_first_space)
    spec = read(tmp_path, values)
    assert spec.trimming == Trimming(keeps_first_space)
    texts = [random_text(source, 10, PARTS).encode() for _ in range(400)]
    texts += [f"{space}{text}{space}".encode() for space in ("", " ", "  ", "\t", "\u4e2d") for text in PARTS]
    assert_same(spec, texts)
    assert_same(spec, texts, 5)
    assert_same(spec, texts, plain_text=True)
    file = Wheel(replace(spec, json=json.dumps(values)))
    pairs = list(zip(texts[:200], texts[200:400], strict=True))
    assert not differences(texts, Runtime(spec).encode(texts), file.encode(texts))
    assert not differences(pairs, Runtime(spec).encode_pairs(pairs), file.encode_pairs(pairs))


@pytest.mark.parametrize("keeps_first_space", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_byte_level_behind_words(normalized: bool, keeps_first_space: bool) -> None:
    source = random_source()
    values = small_json(steps=("Lowercase",), add_prefix_space=keeps_first_space)
    added = [
        token("<L>", normalized=normalized, lstrip=True),
        token("<R>", normalized=normalized, rstrip=True),
        token("<LR>", normalized=normalized, lstrip=True, rstrip=True),
    ]
    first = len(values["model"]["vocab"])
    values["added_tokens"] += [vars(replace(one, id=first + i)) for i, one in enumerate(added)]
    parts = [{"type": "WhitespaceSplit"}, values["pre_tokenizer"]]
    spec = read_byte_level_json(values | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": parts}})
    assert spec.trimming == Trimming(keeps_first_space)
    texts = [random_text(source, 10, (*PARTS, *("<L>", "<R>", "<LR>", " ") * 4)).encode() for _ in range(400)]
    assert_same(spec, texts)
    assert_same(spec, texts, 5)


@pytest.mark.parametrize("content", [" x", "x\t", "\u4e2d"])
def test_white_space_at_the_ends_is_refused(content: str, tmp_path: Path) -> None:
    """BERT's normalizer puts it around Chinese characters."""
    with pytest.raises(EtchError, match="begins or ends with white space") as refused:
        compile_tokenizer(read(tmp_path, word_piece_json([token(content)], False)))
    assert refused.value.code == "added-token-unsupported"


@pytest.mark.parametrize("content", [" x", "\u0120<x>"])
def test_white_space_at_the_ends_is_refused_beside_bytes(content: str) -> None:
    values = small_json(steps=("NFC",))
    new = {"id": len(values["model"]["vocab"]), "content": content, "special": False}
    flags = {"normalized": True, "single_word": False, "lstrip": False, "rstrip": False}
    values["added_tokens"].append(new | flags)
    with pytest.raises(EtchError, match="begins or ends with white space") as refused:
        compile_tokenizer(read_byte_level_json(values))
    assert refused.value.code == "added-token-unsupported"
