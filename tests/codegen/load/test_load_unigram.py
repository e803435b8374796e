# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of SentencePiece's Unigram, and SentencePiece's own files: what is not understood or malformed."""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentencepiece_files import field, piece, varint
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.sentencepiece_model import read_sentencepiece_model
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.unigram import read_unigram_json
from codegen.tokenizer import compile_tokenizer
from codegen.tokenizer.charsmap import read_charsmap
from codegen.vocabulary.prunable import keep_pieces
from codegen.vocabulary.pruning import Bound, prune

METASPACE = "\u2581"
RUNS = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
STRIP = {"type": "Strip", "strip_left": False, "strip_right": True}


def charsmap(units: int = 512, texts: bytes = b"") -> bytes:
    """Without keys."""
    return struct.pack(f"<I{units}I", 4 * units, 256 << 10, *[0] * (units - 1)) + texts


def precompiled(blob: bytes) -> dict[str, Any]:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}


def tiny() -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": 0, "content": "<s>", **flags}],
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": METASPACE, "add_prefix_space": True},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "Unigram",
            "unk_id": 1,
            "vocab": [["<s>", 0.0], ["<unk>", 0.0], ["a", -1], [METASPACE, -2.5]],
        },
    }


def model(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda values: values["model"].update(changes)


def top(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda values: values.update(changes)


def metaspace(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda values: values["pre_tokenizer"].update(changes)


def steps(*some: dict[str, Any]) -> Callable[[dict[str, Any]], object]:
    return top(normalizer={"type": "Sequence", "normalizers": list(some)})


def test_what_is_read() -> None:
    values = tiny()
    inner = {"type": "Sequence", "normalizers": [precompiled(charsmap()), STRIP]}
    steps(STRIP, inner, RUNS)(values)
    spec = read_unigram_json(values)
    assert spec.normalizer == type(spec.normalizer)((False, True), charsmap(), (False, True), " ")
    assert spec.segmenter == type(spec.segmenter)("always", True, False)
    assert spec.model == type(spec.model)(("<s>", "<unk>", "a", METASPACE), (0.0, 0.0, -1.0, -2.5), 1, False)
    assert spec.summary == "SentencePiece Unigram"
    compile_tokenizer(spec)


REFUSED = [
    (model(unk_id=None), "missing-special-token", "unk_id"),
    (model(unk_id=4), "missing-special-token", "4 ids"),
    (model(vocab={}), "tokenizer-type", "list"),
    (model(vocab=[["a", "b"]]), "tokenizer-type", "vocab\\[0\\]"),
    (model(vocab=[["a", 1.0], ["a", 2.0]]), "vocab-duplicate-piece", "'a'"),
    (model(vocab=[["a", float("inf")]]), "tokenizer-type", "finite"),
    (model(byte_fallback=1), "tokenizer-type", "byte_fallback"),
    (model(nbest_size=3), "tokenizer-field", "nbest_size"),
    (metaspace(replacement="_"), "tokenizer-pre-tokenizer", "_"),
    (metaspace(prepend_scheme="last"), "tokenizer-type", "last"),
    (metaspace(add_prefix_space=False), "tokenizer-setting", "add_prefix_space"),
    (metaspace(split=0), "tokenizer-type", "split"),
    (metaspace(drop=True), "tokenizer-field", "drop"),
    (top(pre_tokenizer={"type": "UnicodeScripts"}), "tokenizer-pre-tokenizer", "UnicodeScripts"),
    (top(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Digits"}]}), "tokenizer-field", "individual"),
    (
        top(normalizer={"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "NFC"}]}),
        "tokenizer-normalizer",
        "NFKC",
    ),
    (steps({**RUNS, "content": "xy"}), "tokenizer-normalizer", "Replace"),
    (steps({**RUNS, "pattern": {"String": "ab"}}), "tokenizer-normalizer", "Replace"),
    *(
        (steps({"type": "Lowercase"}, replaced), "tokenizer-normalizer", r"Replace by U\+0000")
        for pattern in (" {2,}", " +", r"\s{2,}", r"\s+", r"\s{2,}|[\n\r\t]", "a")
        for replaced in [{"type": "Replace", "pattern": {"Regex": pattern}, "content": "\0"}]
    ),
    (steps({**STRIP, "strip_left": 0}), "tokenizer-type", "strip_left"),
    (steps({"type": "Precompiled", "precompiled_charsmap": "?"}), "tokenizer-type", "Base64"),
    (
        top(post_processor={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}),
        "tokenizer-post-processor",
        "byte-level",
    ),
]


@pytest.mark.parametrize(("change", "code", "says"), REFUSED)
def test_refused(change: Callable[[dict[str, Any]], object], code: str, says: str) -> None:
    values = tiny()
    change(values)
    with pytest.raises(EtchError, match=says) as refused:
        read_unigram_json(values)
    assert refused.value.code == code


def test_its_vocabulary_is_pruned() -> None:
    """What stays is a tokenizer that its own file describes; unknown text is scored as before."""
    values = tiny()
    values["model"]["vocab"] += [["ab", -2], ["b", -3], ["abc", -30], ["aa", -1.5], ["<0x41>", -4]]
    spec = read_unigram_json(values)
    pruning = prune(spec, ["ab ab abd", "ab"], Bound(2))
    kept = [spec.model.pieces[i] for i in pruning.kept]
    assert kept == ["<s>", "<unk>", "a", METASPACE, "ab", "b", "abc"]  # the last for its score, the lowest
    assert (pruning.unknown_before, pruning.unknown_after) == (1, 1)  # the d
    smaller = keep_pieces(spec, np.array(pruning.kept))
    assert read_unigram_json(json.loads(smaller.json)) == smaller
    for text in ("ab", "abc aba", "ba\u4e2dbc", "aaa <s>b"):
        before, after = (Tokenizer.from_str(one.json).encode(text).ids for one in (spec, smaller))
        assert "aa" in text or [pruning.kept[i] for i in after] == before
        assert {spec.model.pieces[pruning.kept[i]] for i in after} <= set(kept)


def test_bytes_are_not_pruned() -> None:
    values = tiny()
    values["model"]["vocab"] += [["ab", -2], ["aa", -1], *([f"<0x{byte:02X}>", -9] for byte in range(256))]
    values["model"]["byte_fallback"] = True
    spec = read_unigram_json(values)
    pruning = prune(spec, ["aa a\u4e2d", "aa"] * 2, Bound(3))
    assert len(pruning.kept) == len(spec.model.pieces) - 1
    smaller = keep_pieces(spec, np.array(pruning.kept))
    assert [pruning.kept[i] for i in Tokenizer.from_str(smaller.json).encode("a\u4e2d").ids] == [
        *Tokenizer.from_str(spec.json).encode("a\u4e2d").ids
    ]


def test_a_piece_longer_than_what_paths_must_agree_on() -> None:
    values = tiny()
    values["model"]["vocab"].append(["b" * 257, -1.0])
    with pytest.raises(EtchError) as refused:
        compile_tokenizer(read_unigram_json(values))
    assert refused.value.code == "piece-too-long"


@pytest.mark.parametrize(
    ("blob", "says"),
    [
        (b"", "size"),
        (b"\x08\0\0\0\0\0\0\0", "size"),
        (b"\x05\0\0\0" + bytes(9), "size"),
        (charsmap(texts=b"\xff"), "UTF-8"),
        (charsmap(256), "ends early"),
        (charsmap()[:-4] + struct.pack("<I", 0x1FF | 9 << 10), "becomes"),
    ],
)
def test_malformed_maps(blob: bytes, says: str) -> None:
    with pytest.raises(EtchError, match=says) as refused:
        read_charsmap(blob)
    assert refused.value.code == "charsmap-malformed"


@pytest.mark.parametrize("blob", [b"", b"\x04\0\0\0", charsmap(texts=b"\xff")])
def test_malformed_maps_do_not_reach_the_library(
    blob: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It would print where in Rust it panics."""
    values = tiny() | {"normalizer": precompiled(blob)}
    (tmp_path / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}', encoding="utf-8")
    with pytest.raises(EtchError) as refused:
        load_tokenizer(CheckpointFolder(tmp_path), 1000)
    assert refused.value.code == "charsmap-malformed"
    assert capfd.readouterr().err == ""


def sentencepiece_file() -> bytes:
    pieces = piece("<unk>", 0, 2) + piece("</s>", 0, 3) + piece(METASPACE + "the", -1.5) + piece("<0x00>", -2, 6)
    trainer = field(2, field(3, 1) + field(35, 1) + varint(99 << 3 | 1) + bytes(8))
    return pieces + trainer + field(3, field(1, b"nmt") + field(2, b"map") + field(4, 0)) + field(5, b"")


def test_sentencepiece_file() -> None:
    found = read_sentencepiece_model(sentencepiece_file(), "spiece.model")
    assert [(one.text, one.score, one.type) for one in found.pieces] == [
        ("<unk>", 0.0, 2),
        ("</s>", 0.0, 3),
        (METASPACE + "the", -1.5, 1),
        ("<0x00>", -2.0, 6),
    ]
    assert (found.model_type, found.byte_fallback, found.unknown_id, found.charsmap) == (1, True, 0, b"map")
    assert (found.add_dummy_prefix, found.remove_extra_whitespaces, found.escape_whitespaces) == (True, False, True)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no pieces"),
        (piece("a", 1), "0 pieces are the unknown one"),
        (piece("a", 1, 2) + piece("b", 1, 2), "2 pieces"),
        (piece("a", float("nan"), 2), "finite"),
        (field(1, field(1, b"\xff")), "UTF-8"),
        (field(1, 7), "message"),
        (field(1, field(1, 7)), "other types"),
        (b"\x0b", "wire type 3"),
        (b"\x00", "number 0"),
        (b"\x0a\x05", "ends behind"),
        (b"\x0a", "within a number"),
        (b"\xff" * 11, "ten bytes"),
        (piece("a", 1, 2) + field(2, field(3, b"x")), "not a number"),
    ],
)
def test_malformed_sentencepiece_files(raw: bytes, says: str) -> None:
    with pytest.raises(EtchError, match=says) as refused:
        read_sentencepiece_model(raw, "spiece.model")
    assert refused.value.code == "sentencepiece-malformed"


def test_any_bytes_are_read_or_refused() -> None:
    source = random.Random(8)
    whole = sentencepiece_file()
    for _ in range(3000):
        raw = bytearray(whole[: source.randint(1, len(whole))] if source.random() < 0.5 else whole)
        for _ in range(source.randint(1, 3)):
            raw[source.randrange(len(raw))] = source.randrange(256)
        try:
            read_sentencepiece_model(bytes(raw), "spiece.model")
        except EtchError as refused:
            assert refused.code == "sentencepiece-malformed"
