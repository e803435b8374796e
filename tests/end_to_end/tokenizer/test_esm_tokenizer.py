# SPDX-License-Identifier: Apache-2.0
"""EsmTokenizer and EsmcTokenizer against the wheel, and against a plain reading of what they do; the codes of proteins
and of genomes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from recorded.outputs import folder as recorded
from tokenizer_harness import Runtime, assert_same, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, random_bytes, random_text

from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

GENOMES = tuple((recorded("masks/esm") / "vocab.txt").read_text().splitlines())  # with words of three bases
PROTEINS = GENOMES[:33]  # ESM-2's
SPECIAL = ("<cls>", "<pad>", "<eos>", "<unk>", "<mask>")
ALPHABET = (
    *(
        "A",
        "C",
        "G",
        "T",
        "ACG",
        "TTT",
        "M",
        "K",
        "N",
        "-",
        ".",
        "x",
        "yz",
        " ",
        "\t",
        "\x1c",
        "\x1f",
        "\x85",
        "\u3000",
    ),
    *("\u200b", "<mask>", "<cls>", "<null_1>", "<ma", "sk>", "<", ">", "<MASK>", "<unk>", "<pad>", "\u00e9", "\0"),
)


def read(lines: tuple[str, ...], folder: Path) -> TokenizerSpec:
    (folder / "vocab.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "EsmTokenizer"}))
    return load_tokenizer(CheckpointFolder(folder), len(lines))


def plain_ids(lines: tuple[str, ...], text: str, special: tuple[str, ...] = SPECIAL) -> list[int]:
    """Cut at every token, the longest first; of what is left the words are unknown. Of special tokens `special`."""
    ids = {piece: i for i, piece in enumerate(lines) if piece not in SPECIAL or piece in special}
    tokens = "|".join(map(re.escape, sorted(ids, key=len, reverse=True)))
    words = (word for part in re.split(f"({tokens})", text) for word in ([part] if part in ids else part.split()))
    begin, end, unknown = map(lines.index, ("<cls>", "<eos>", "<unk>"))
    return [begin, *(ids.get(word, unknown) for word in words), end]


@pytest.mark.parametrize("lines", [PROTEINS, GENOMES])
def test_texts(lines: tuple[str, ...], tmp_path: Path) -> None:
    source, spec = random_source(), read(lines, tmp_path)
    texts = [*HARD_TEXTS, "", "ACGT" * 800, "x" * 3000, *(random_text(source, 30, ALPHABET) for _ in range(800))]
    given = [text.encode() for text in texts]
    for text, result in zip(texts, assert_same(spec, given), strict=True):
        assert result.ids.tolist() == plain_ids(lines, text)
    for text, result in zip(texts, Runtime(spec).encode(given, plain_text=True), strict=True):
        assert result.ids.tolist() == plain_ids(lines, text, ())
    broken = [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(200))]
    assert_same(spec, broken)
    assert_same(spec, [*given, *broken], 7)
    assert Runtime(spec).pieces()[:5] == [b"<cls>", b"<pad>", b"<eos>", b"<unk>", b"L"]


def test_characters_of_esmc(tmp_path: Path) -> None:
    """Cut at special tokens; of what is left each character, white space too. In plain text none is special, not even
    the one that is a character, the chain break: it is unknown."""
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "EsmcTokenizer"}))
    source, spec = random_source(), load_tokenizer(CheckpointFolder(tmp_path), 64)
    texts = [*HARD_TEXTS, "", "ACGT|" * 800, *(random_text(source, 30, (*ALPHABET, "|")) for _ in range(800))]
    given = [text.encode() for text in texts]
    ids = {piece: i for i, piece in enumerate(PROTEINS) if piece != "<null_1>"}
    special = f"({'|'.join(SPECIAL)})"
    for text, result in zip(texts, assert_same(spec, given), strict=True):
        parts = ([part] if part in SPECIAL else part for part in re.split(special, text))
        assert result.ids.tolist() == [0, *((ids | {"|": 31}).get(each, 3) for part in parts for each in part), 2]
    for text, result in zip(texts, Runtime(spec).encode(given, plain_text=True), strict=True):
        assert result.ids.tolist() == [0, *(ids.get(each, 3) for each in text), 2]
    broken = [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(200))]
    assert_same(spec, broken)
    assert_same(spec, [*given, *broken], 7)
