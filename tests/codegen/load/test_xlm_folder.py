# SPDX-License-Identifier: Apache-2.0
"""Folders of XLMTokenizer and FlaubertTokenizer: ids are those that `transformers` 5.23 gave with `sacremoses` 0.2.0,
and what they ask for besides is refused."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from moses_files import XLM_SPECIAL, write_folder
from test_moses_folder import ids, listed, refused

from codegen.ir.normalizer_spec import NoNormalizer
from codegen.ir.tokenizer_spec import NormalizedMosesSegmenter, TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

XLM, FLAUBERT = "XLMTokenizer", "FlaubertTokenizer"
PAIRS = (
    *(("l", "'</w>"), ("e", "t"), ("i", "n"), ("in", "g</w>")),
    *(("M", ".</w>"), ("m", ".</w>"), ("a", "r"), ("ar", "t"), ("art", ".</w>")),
)
_LETTERS = string.ascii_letters + string.digits + ".,'-\"()?!%:\xe9\xc9\u03c3\u03c2\u0301"
PIECES = (
    *(letter + end for end in ("", "</w>") for letter in _LETTERS),
    *("l'</w>", "et", "in", "ing</w>", "M.</w>", "m.</w>", "art.</w>"),
)
TEXTS = (
    "",
    "L'\xe9t\xe9, c'est \xab\xa0bon\xa0\xbb !",
    "M. Dupont a dit: ``Oui.''",
    "art. 5 e\u0301t",
    "\u03a3\u0391\u03a3. \u03a3",
    "10\xa0000,5 %",
    "a \u2014 b\u2013c",
    '\u201ea." b',
    '"a," b "c".',
    "in\nge \x07x\u200b ing",
    "\uff11\u3002  \uff08a\uff09",
    "<special1> a<s>\xa0",
    "\u1fef\u1fef a ''b''",
    "\xc9T\xc9 IN",
    "it's 5's l'a",
    "a...b .. c",
)
IDS: dict[str, tuple[str, dict[str, Any], list[list[int]]]] = {
    "flaubert": (
        FLAUBERT,
        {},
        [
            [0, 1],
            [0, 51, 156, 87, 33, 165, 155, 16, 156, 18, 32, 111, 158, 15, 28, 105, 158, 162, 1],
            [0, 174, 43, 34, 29, 28, 27, 111, 92, 17, 22, 111, 164, 158, 54, 34, 100, 154, 158, 1],
            [0, 176, 149, 87, 111, 1],
            [0, 3, 3, 3, 154, 3, 1],
            [0, 67, 66, 77, 66, 66, 66, 77, 149, 163, 1],
            [0, 92, 157, 15, 79, 94, 1],
            [0, 158, 92, 158, 154, 93, 1],
            [0, 158, 92, 158, 155, 93, 158, 94, 158, 154, 1],
            [0, 172, 20, 96, 115, 173, 1],
            [0, 145, 154, 159, 92, 160, 1],
            [0, 5, 92, 0, 1],
            [0, 158, 92, 158, 93, 158, 1],
            [0, 88, 59, 166, 48, 131, 1],
            [0, 22, 33, 156, 110, 149, 156, 110, 170, 92, 1],
            [0, 92, 76, 76, 154, 93, 76, 154, 94, 1],
        ],
    ),
    "flaubert, lower case": (
        FLAUBERT,
        {"do_lowercase": True},
        [
            [0, 1],
            [0, 170, 87, 33, 165, 155, 16, 156, 18, 32, 111, 158, 15, 28, 105, 158, 162, 1],
            [0, 175, 17, 34, 29, 28, 27, 111, 92, 17, 22, 111, 164, 158, 28, 34, 100, 154, 158, 1],
            [0, 176, 149, 87, 111, 1],
            [0, 89, 3, 90, 154, 167, 1],
            [0, 67, 66, 77, 66, 66, 66, 77, 149, 163, 1],
            [0, 92, 157, 15, 79, 94, 1],
            [0, 158, 92, 158, 154, 93, 1],
            [0, 158, 92, 158, 155, 93, 158, 94, 158, 154, 1],
            [0, 172, 20, 96, 115, 173, 1],
            [0, 145, 154, 159, 92, 160, 1],
            [0, 5, 92, 0, 1],
            [0, 158, 92, 158, 93, 158, 1],
            [0, 87, 33, 165, 22, 105, 1],
            [0, 22, 33, 156, 110, 149, 156, 110, 170, 92, 1],
            [0, 92, 76, 76, 154, 93, 76, 154, 94, 1],
        ],
    ),
    "xlm": (
        XLM,
        {},
        [
            [0, 1],
            [0, 103, 78, 171, 96, 155, 94, 78, 18, 32, 111, 158, 15, 28, 105, 158, 162, 1],
            [0, 175, 17, 34, 29, 28, 27, 111, 92, 17, 22, 111, 164, 158, 28, 34, 100, 154, 158, 1],
            [0, 3, 111, 154, 149, 96, 111, 1],
            [0, 89, 3, 168, 154, 167, 1],
            [0, 67, 66, 76, 66, 66, 66, 77, 149, 163, 1],
            [0, 92, 157, 15, 79, 94, 1],
            [0, 158, 92, 154, 158, 93, 1],
            [0, 158, 92, 155, 158, 93, 158, 94, 154, 158, 1],
            [0, 172, 20, 96, 115, 173, 1],
            [0, 145, 154, 159, 92, 160, 1],
            [0, 5, 92, 0, 1],
            [0, 3, 3, 92, 158, 93, 158, 1],
            [0, 171, 96, 22, 105, 1],
            [0, 22, 111, 78, 110, 149, 78, 110, 103, 78, 92, 1],
            [0, 92, 76, 76, 154, 93, 76, 154, 94, 1],
        ],
    ),
    "xlm, as it is": (
        XLM,
        {"do_lowercase_and_remove_accent": False},
        [
            [0, 1],
            [0, 129, 78, 87, 33, 165, 155, 94, 78, 18, 32, 111, 158, 15, 28, 105, 158, 162, 1],
            [0, 174, 43, 34, 29, 28, 27, 111, 92, 17, 22, 111, 164, 158, 54, 34, 100, 154, 158, 1],
            [0, 3, 111, 154, 149, 96, 169, 111, 1],
            [0, 3, 3, 3, 154, 3, 1],
            [0, 67, 66, 76, 66, 66, 66, 77, 149, 163, 1],
            [0, 92, 157, 15, 79, 94, 1],
            [0, 158, 92, 154, 158, 93, 1],
            [0, 158, 92, 155, 158, 93, 158, 94, 154, 158, 1],
            [0, 172, 20, 96, 115, 173, 1],
            [0, 145, 154, 159, 92, 160, 1],
            [0, 5, 92, 0, 1],
            [0, 3, 3, 92, 158, 93, 158, 1],
            [0, 88, 59, 166, 48, 131, 1],
            [0, 22, 111, 78, 110, 149, 78, 110, 103, 78, 92, 1],
            [0, 92, 76, 76, 154, 93, 76, 154, 94, 1],
        ],
    ),
}


def read(place: Path, name: str, **settings: Any) -> TokenizerSpec:
    pytest.importorskip("sacremoses")
    write_folder(place, PAIRS, PIECES, tokenizer_class=name, **settings)
    return load_tokenizer(CheckpointFolder(place), 256)


@pytest.mark.parametrize("case", IDS)
def test_ids_are_those_of_the_library(case: str, tmp_path: Path) -> None:
    name, settings, expected = IDS[case]
    spec = read(tmp_path, name, **settings)
    assert dict(zip(TEXTS, (ids(spec, text) for text in TEXTS), strict=True)) == dict(zip(TEXTS, expected, strict=True))
    assert ids(spec, "in", "a") == [0, *ids(spec, "in")[1:-1], 1, *ids(spec, "a")[1:-1], 1]
    assert (spec.template.segments, spec.summary, spec.is_of_wheel) == (1, "BPE of characters", False)


def test_what_settings_make(tmp_path: Path) -> None:
    assert read(tmp_path, XLM).segmenter == NormalizedMosesSegmenter("english", lowers=True)
    assert read(tmp_path, XLM).normalizer == NoNormalizer()
    as_it_is = read(tmp_path, XLM, do_lowercase_and_remove_accent=False)
    assert as_it_is.segmenter == NormalizedMosesSegmenter("english", lowers=False)
    assert read(tmp_path, FLAUBERT).segmenter == NormalizedMosesSegmenter("french", lowers=False)
    assert read(tmp_path, FLAUBERT, do_lowercase=True).segmenter == NormalizedMosesSegmenter("french", lowers=True)


def test_special_tokens(tmp_path: Path) -> None:
    """Ten beside those with keys, unless a file lists others; what the vocabulary lacks has ids behind it."""
    tokens = {token.content: token.id for token in read(tmp_path, XLM).added_tokens}
    assert tokens == {text: i for i, text in enumerate(XLM_SPECIAL)}
    few = read(tmp_path, XLM, extra_special_tokens=["<new>", "<special3>"])
    tokens = {token.content: token.id for token in few.added_tokens}
    new = len(XLM_SPECIAL) + len(PIECES)
    assert tokens == {"<s>": 0, "</s>": 1, "<pad>": 2, "<unk>": 3, "<special1>": 5, "<special3>": 7, "<new>": new}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"unk_token": "[UNK]"}, "missing-special-token"),
        ({"bos_token": None}, "missing-special-token"),
        ({"do_lowercase_and_remove_accent": 1}, "config-type"),
        ({"model_input_names": ["input_ids", "token_type_ids"]}, "tokenizer-setting"),
        (
            {"added_tokens_decoder": {"200": listed("Berlin", special=False, normalized=True)}},
            "added-token-unsupported",
        ),
    ],
)
def test_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    refused(lambda: read(tmp_path, XLM, **changes), code)
