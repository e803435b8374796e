# SPDX-License-Identifier: Apache-2.0
"""PhobertTokenizer and BertweetTokenizer: the runtime against the wheel, and against a plain reading of what they do;
load/test_fairseq_folder.py has what `transformers` itself made."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from fairseq_files import END, GOES_ON, LETTERS, learned, random_words, write_folder
from tokenizer_harness import Runtime, assert_same, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, random_bytes, random_text

from codegen.ir.tokenizer_spec import CharacterBpeModel, TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

SPECIAL = ("<s>", "</s>", "<unk>", "<pad>", "<mask>")
SPACES = ("\t", "\n", "\n\n", " \n", "\r\n", "\v", "\f", "\x1c", "\x1f", " ", "\x85", "\xa0", "\u1680", "\u2000")
SPACES += ("\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u180e", "\u200b", "\x7f", "\x1b", "\x0e")
ALPHABET = (*LETTERS, *SPACES, *SPECIAL, "<ma", "sk>", "</w>", "@@", "\u2581", "z", "\0", "\u1fff", "\u3001")


def read(folder: Path) -> TokenizerSpec:
    return load_tokenizer(CheckpointFolder(folder), 1000)


def plain_ids(text: str, pairs: list[tuple[str, str]], pieces: list[str], special: tuple[str, ...]) -> list[int]:
    """Cut at special tokens; words merged pair by pair, and each symbol looked up."""
    ids = {piece: i for i, piece in enumerate(("<s>", "<pad>", "</s>", "<unk>", *pieces, "<mask>"))}
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    found = [0]
    for part in re.split(f"({'|'.join(special)})", text) if special else [text]:
        if part in special:
            found.append(ids[part])
            continue
        for word in re.findall(r"\S+\n?", part):
            symbols = [*word[:-1], word[-1] + END]
            while known := [pair for pair in pairwise(symbols) if pair in ranks]:
                best = min(known, key=ranks.__getitem__)
                at = next(i for i in range(len(symbols)) if (symbols[i], *symbols[i + 1 : i + 2]) == best)
                symbols[at : at + 2] = ["".join(best)]
            names = [*(symbol + GOES_ON for symbol in symbols[:-1]), symbols[-1].removesuffix(END)]
            found += [ids.get(name, 3) if name not in SPECIAL else 3 for name in names]
    return [*found, 2]


@pytest.mark.parametrize("name", ["PhobertTokenizer", "BertweetTokenizer"])
def test_texts(name: str, tmp_path: Path) -> None:
    source = random_source()
    words = random_words(source)
    pairs, pieces = learned(source, words, 70)
    pieces = [piece for piece in pieces if source.random() < 0.85]
    write_folder(tmp_path, pairs, pieces, name)
    spec = read(tmp_path)
    assert isinstance(spec.model, CharacterBpeModel) and spec.model.without_id
    texts = [*HARD_TEXTS, "", *SPACES, "a\nb\n\nc \n d", *(random_text(source, 30, ALPHABET) for _ in range(800))]
    texts += ["".join(source.choices((*words, *SPACES), k=source.randint(1, 12))) for _ in range(800)]
    given = [text.encode() for text in texts]
    for text, result in zip(texts, assert_same(spec, given), strict=True):
        assert result.ids.tolist() == plain_ids(text, pairs, pieces, SPECIAL), text
    for text, result in zip(texts, Runtime(spec).encode(given, plain_text=True), strict=True):
        assert result.ids.tolist() == plain_ids(text, pairs, pieces, ()), text
    broken = [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(200))]
    assert_same(spec, broken)
    assert_same(spec, [*given, *broken], 7)
    assert Runtime(spec).pieces()[:6] == [b"<s>", b"<pad>", b"</s>", b"<unk>", *map(str.encode, pieces[:2])]


def test_longer_words_are_cut(tmp_path: Path) -> None:
    """Where no whole character more is sure to fit into 1,024 bytes; what is cut off ends a word there."""
    write_folder(tmp_path, [("a", "a")], ["aa@@", "aa", "a", "a@@", "\u1ec7", "\u1ec7@@"])
    spec = read(tmp_path)
    aa_on, a, e, e_on = (4 + i for i in (0, 2, 4, 5))
    for text, ids, cut in (
        ("a" * 1021, [*[aa_on] * 510, a], False),
        ("a" * 1022, [*[aa_on] * 510, a, a], True),
        ("a" * 1020 + "\n", [*[aa_on] * 510, 3], False),
        ("\u1ec7" * 342, [*[e_on] * 340, e, e], True),
    ):
        result = Runtime(spec).encode([text.encode()])[0]
        assert (result.ids.tolist(), result.cut_word) == ([0, *ids, 2], cut), text[:3]
