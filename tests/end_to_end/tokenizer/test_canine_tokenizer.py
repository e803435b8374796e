# SPDX-License-Identifier: Apache-2.0
"""CanineTokenizer: the runtime against Python's characters; load/test_canine_folder.py has what `transformers` made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tokenizer_harness import UNLIMITED, Runtime, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, SCALARS, random_bytes, random_text

from codegen.ir.character_models import CODE_POINTS
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.decoded import decoded
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

ALPHABET = (
    *("a", "B", "7", "\u00e9", "\u732b", "\U0001f389", "\0", "\ufffd", "\x1b", " ", "  ", "\t", "\n", "\x85", "\u3000"),
    *("\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\U0010ffff"),
)


def read(place: Path, *, strips: bool) -> TokenizerSpec:
    """With a mask that takes white space at both sides, or none."""
    mask = {"content": "\ue003", "lstrip": True, "rstrip": True, "single_word": False, "normalized": False}
    listed = {"added_tokens_decoder": {"57347": {**mask, "special": True}}} if strips else {}
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CanineTokenizer", **listed}))
    return load_tokenizer(CheckpointFolder(place), CODE_POINTS)


def check(spec: TokenizerSpec, texts: Sequence[bytes], most: int = UNLIMITED, *, plain_text: bool = False) -> None:
    """Ids and places."""
    library = wheel_tokenizer(spec)
    library.encode_special_tokens = plain_text
    library.enable_truncation(most)
    for text, ours in zip(texts, Runtime(spec).encode(texts, most, plain_text), strict=True):
        characters, places = decoded(text)
        theirs = library.encode(characters)
        assert ours.ids.tolist() == theirs.ids, text
        found = [(0, 0) if of is None else tuple(places[list(at)]) for at, of in _placed(theirs)]
        assert [tuple(at) for at in ours.offsets] == found, text
        assert ours.truncated == bool(theirs.overflowing), text


def _placed(encoding: object) -> list[tuple[tuple[int, int], int | None]]:
    return list(zip(encoding.offsets, encoding.sequence_ids, strict=True))  # type: ignore[attr-defined]


@pytest.mark.parametrize("strips", [True, False])
def test_texts(strips: bool, tmp_path: Path) -> None:
    source, spec = random_source(), read(tmp_path, strips=strips)
    texts = [*HARD_TEXTS, "", "x" * 3000, "\u00e9" * 3000, *(random_text(source, 30, ALPHABET) for _ in range(800))]
    given = [text.encode() for text in texts if not {*text} & {*"\x1c\x1d\x1e\x1f"}]
    check(spec, given)
    check(spec, given, 7)
    check(spec, given, plain_text=True)
    check(spec, [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(200))])


def test_every_scalar(tmp_path: Path) -> None:
    spec = read(tmp_path, strips=True)
    check(spec, ["".join(map(chr, SCALARS[i : i + 997])).encode() for i in range(0, len(SCALARS), 997 * 20)])


def test_pairs(tmp_path: Path) -> None:
    source, spec = random_source(), read(tmp_path, strips=False)
    pairs = [(random_text(source, 9, ALPHABET), random_text(source, 9, ALPHABET)) for _ in range(100)]
    library = wheel_tokenizer(spec)
    for most in (UNLIMITED, 8):
        library.enable_truncation(most)
        results = Runtime(spec).encode_pairs([(a.encode(), b.encode()) for a, b in pairs], most)
        for pair, ours in zip(pairs, results, strict=True):
            theirs = library.encode(*pair)
            assert (ours.ids.tolist(), ours.segments.tolist()) == (theirs.ids, theirs.type_ids), pair
