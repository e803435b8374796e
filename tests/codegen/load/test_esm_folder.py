# SPDX-License-Identifier: Apache-2.0
"""EsmTokenizer's folder: its ids are those that `transformers` 5.23 gave, and what it asks for besides is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

GENOMES = tuple((folder("masks/esm") / "vocab.txt").read_text().splitlines())  # with words of three bases
PROTEINS = GENOMES[:33]  # ESM-2's
# Of these.
IDS = {
    "MKV LAG": [0, 20, 15, 7, 4, 5, 6, 2],
    "mkv": [0, 3, 2],
    "MKabcV x\x1cy A\x1cB": [0, 20, 15, 3, 7, 3, 3, 5, 25, 2],
    "<mask>MK<mask> <null_1>Q": [0, 32, 20, 15, 32, 31, 16, 2],
    "M K <pad>": [0, 20, 15, 1, 2],
    "  <unk> q<cls>": [0, 3, 3, 0, 2],
    "": [0, 2],
    "<ma<mask>": [0, 3, 32, 2],
    "<MASK>": [0, 3, 20, 5, 8, 15, 3, 2],
    "\u00e9A\u3000B": [0, 3, 5, 25, 2],
}


def read(
    place: Path, lines: tuple[str, ...] = PROTEINS, usual: str = "EsmTokenizer", end: str = "", **settings: Any
) -> TokenizerSpec:
    (place / "vocab.txt").write_text("\n".join(lines) + end, encoding="utf-8")
    (place / "tokenizer_config.json").write_text(json.dumps(settings))
    return load_tokenizer(CheckpointFolder(place), 200, None, usual)


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return Tokenizer.from_str(spec.json).encode(*texts).ids


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *({"tokenizer_class": name} for name in ("EsmTokenizer", "EsmTokenizerFast")),
        {"mask_token": {"content": "<mask>", "lstrip": True}},
    ],
)
def test_ids_are_those_of_the_library(settings: dict[str, Any], tmp_path: Path) -> None:
    spec = read(tmp_path, **settings)
    assert {text: ids(spec, text) for text in IDS} == IDS
    assert ids(spec, "MK", "AV") == [0, 20, 15, 2, 5, 7, 2]
    assert spec.template.segments == 1
    special = ["<cls>", "<pad>", "<eos>", "<unk>", "<mask>"]
    assert [token.content for token in spec.added_tokens if token.special] == special


def test_the_longest_token_counts(tmp_path: Path) -> None:
    """Three bases are one, as genomes have them; fewer, or others, are single."""
    spec = read(tmp_path, GENOMES)
    number = {piece: i for i, piece in enumerate(GENOMES)}
    for text, pieces in (
        ("ACGTACC", ("ACG", "TAC", "C")),
        ("ACNGTA", ("A", "C", "N", "GTA")),
        ("AC GTTTT", ("A", "C", "GTT", "T", "T")),
        ("acgACG<mask>TT", ("<unk>", "ACG", "<mask>", "T", "T")),
    ):
        assert ids(spec, text) == [0, *(number[piece] for piece in pieces), 2]


def test_lines_are_those_of_python(tmp_path: Path) -> None:
    """White space around a token is no part of it; a last line may have no end, or one of Windows."""
    spec = read(tmp_path, (*PROTEINS[:4], "\t" + PROTEINS[4] + " \r", *PROTEINS[5:]), end="\r\n")
    assert {text: ids(spec, text) for text in IDS} == IDS


def test_a_text_without_an_end(tmp_path: Path) -> None:
    """As the Nucleotide Transformer's; of two texts `transformers` says that it needs one."""
    spec = read(tmp_path, GENOMES, eos_token=None, bos_token=None)
    assert ids(spec, "MK<eos>") == [0, 20, 15, 2]
    assert [token.content for token in spec.added_tokens if token.special] == ["<cls>", "<pad>", "<unk>", "<mask>"]
    assert spec.template.segments == 256


def test_other_names_of_special_tokens(tmp_path: Path) -> None:
    spec = read(tmp_path, (*PROTEINS, "<end>"), eos_token="<end>")
    assert ids(spec, "MK") == [0, 20, 15, 33]


REFUSED: dict[str, tuple[tuple[str, ...], dict[str, Any], str, str]] = {
    "no unknown token": (PROTEINS[:3] + PROTEINS[4:], {}, "missing-special-token", "<unk>"),
    "a line twice": ((*PROTEINS, "L"), {}, "vocab-gap", "4"),
    "white space inside": ((*PROTEINS, "A B"), {}, "added-token-unsupported", "white space"),
    "tokens inside of one": ((*PROTEINS, "<A>"), {}, "added-token-unsupported", "'A' inside"),
    "a token that is a word": (
        PROTEINS,
        {"mask_token": {"content": "<mask>", "single_word": True}},
        "added-token-unsupported",
        "single_word",
    ),
    "segments": (PROTEINS, {"model_input_names": ["input_ids", "token_type_ids"]}, "tokenizer-setting", "segments"),
    "special tokens as text": (PROTEINS, {"split_special_tokens": True}, "tokenizer-setting", "split_special_tokens"),
    "another special token": (PROTEINS, {"extra_special_tokens": ["<null_1>"]}, "tokenizer-conflict", "<null_1>"),
    "another id": (
        PROTEINS,
        {"added_tokens_decoder": {"7": {"content": "<mask>", **dict.fromkeys(("lstrip", "rstrip"), False)}}},
        "tokenizer-field",
        "added_tokens_decoder",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    lines, settings, code, words = REFUSED[case]
    with pytest.raises(EtchError) as caught:
        read(tmp_path, lines, **settings)
    assert caught.value.code.startswith(code)
    assert words in str(caught.value)


def test_a_folder_without_its_file(tmp_path: Path) -> None:
    with pytest.raises(EtchError, match=r"tokenizer-missing.*EsmTokenizer needs vocab\.txt"):
        load_tokenizer(CheckpointFolder(tmp_path), 40, "EsmTokenizer")


def test_another_class_reads_the_file_otherwise(tmp_path: Path) -> None:
    with pytest.raises(EtchError, match="missing-special-token"):
        read(tmp_path, tokenizer_class="BertTokenizer")
    with pytest.raises(EtchError, match="missing-special-token"):
        read(tmp_path, usual="BertTokenizer")
