# SPDX-License-Identifier: Apache-2.0
"""ByT5Tokenizer against the wheel, and against a plain reading of what it does, there and back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tokenizer_harness import Decoding, Runtime, assert_same, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, random_bytes, random_text

from codegen.ir.target_tokenizer import TargetTokenizer
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.spelled import Speller
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.folders.byt5 import DECODER
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

TOKENS = {"<pad>": 0, "</s>": 1, "<unk>": 2, **{f"<extra_id_{i}>": 259 + i for i in range(125)}}
STRIPPING = tuple(TOKENS)[:3]
ALPHABET = (
    *("a", "B", "7", "\u00e9", "\u732b", "\U0001f389", "\0", "\ufffd", "\x1b", " ", "  ", "\t", "\n", "\x85", "\u3000"),
    *("<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_12>", "<extra_id_125>", "<", ">", "</", "s>", "_1>"),
)


def read(folder: Path, **config: object) -> TokenizerSpec:
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "ByT5Tokenizer", **config}))
    return load_tokenizer(CheckpointFolder(folder), 384)


def plain_ids(text: str, known: dict[str, int], stripping: tuple[str, ...]) -> list[int]:
    """Cut at every special token; of what is left each byte."""
    parts = re.split(f"({'|'.join(known)})" if known else "$^", text)
    ids = []
    for i, part in enumerate(parts):
        if part in known:
            ids.append(known[part])
            continue
        between = part.rstrip() if i + 1 < len(parts) and parts[i + 1] in stripping else part
        between = between.lstrip() if i > 0 and parts[i - 1] in stripping else between
        ids += [3 + byte for byte in between.encode()]
    return [*ids, 1]


@pytest.mark.parametrize("strips", [True, False])
def test_texts(strips: bool, tmp_path: Path) -> None:
    source = random_source()
    keys = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)
    spec = read(tmp_path, **({} if strips else {key: {"content": text, **flags} for key, text in keys.items()}))
    texts = [*HARD_TEXTS, "", "x" * 3000, "\u00e9" * 3000, *(random_text(source, 30, ALPHABET) for _ in range(800))]
    given = [text.encode() for text in texts]
    for text, result in zip(texts, assert_same(spec, given), strict=True):
        assert result.ids.tolist() == plain_ids(text, TOKENS, STRIPPING if strips else ())
    for text, result in zip(texts, Runtime(spec).encode(given, plain_text=True), strict=True):
        assert result.ids.tolist() == plain_ids(text, {}, ())
    broken = [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(200))]
    assert_same(spec, broken)
    assert_same(spec, [*given, *broken], 7)
    pieces = Runtime(spec).pieces()
    assert pieces[:5] == [b"<pad>", b"</s>", b"<unk>", b"\0", b"\x01"]
    assert (pieces[3 + 0xC3], pieces[259], len(pieces)) == (b"\xc3", b"<extra_id_0>", 384)


def test_there_and_back(tmp_path: Path) -> None:
    """Texts come back; of what is no UTF-8 nothing is left, as `bytes.decode(errors="ignore")` has it."""
    source, spec = random_source(), read(tmp_path)
    decode, speller = Decoding(spec, DECODER).decode, Speller(TargetTokenizer(spec, DECODER))
    texts = [*HARD_TEXTS, *(random_text(source, 20) for _ in range(400))]
    given = [[3 + byte for byte in text.encode()] for text in texts]
    assert [b"".join(parts).decode() for parts in decode(given)] == texts
    edges = b"\x00a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
    malformed = [[3 + source.choice(edges) for _ in range(source.randint(1, 9))] for _ in range(5000)]
    expected = [bytes(i - 3 for i in ids).decode(errors="ignore") for ids in malformed]
    assert [b"".join(parts).decode() for parts in decode(malformed)] == expected
    assert [speller.text(ids) for ids in malformed] == expected
    special = [3 + 0xC3, 1, 3 + 0xA9, 260, 3 + ord("a"), 0, 400]  # they stand between the bytes of a character, or not
    assert [b"".join(decode([special], skip)[0]).decode() for skip in (True, False)] == [
        "\u00e9a",
        "</s><extra_id_1>a<pad>",
    ]
