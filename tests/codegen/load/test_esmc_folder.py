# SPDX-License-Identifier: Apache-2.0
"""EsmcTokenizer's folder: its ids are those that `transformers` 5.23 gave, and what it asks for besides is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer

SAVED = folder("masks/esmc")
# Of the class alone.
IDS = {
    "ACD": [0, 5, 23, 13, 2],
    "acd LL": [0, 3, 3, 3, 3, 4, 4, 2],
    " A|C| <mask> J*\u00e9\u65e5": [0, 3, 5, 31, 23, 31, 3, 32, 3, 3, 3, 3, 3, 2],
    "<cls>A<eos>": [0, 0, 5, 2, 2],
    "< mask>": [0, 3, 3, 3, 3, 3, 3, 3, 2],
    "A\tB\n": [0, 5, 3, 25, 3, 2],
    "": [0, 2],
    "<unk>x": [0, 3, 3, 2],
    "JJ": [0, 3, 3, 2],
}
TEXT = "aA|C <mask>J<x>X<m>U\nA"
FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
Edit = Callable[[dict[str, Any]], object]


def read(
    place: Path, edit: Edit | None = None, rows: int = 64, special_map: dict[str, Any] | None = None, **config: Any
) -> TokenizerSpec:
    """With a tokenizer.json, edited, or without one."""
    if special_map is not None:
        (place / "special_tokens_map.json").write_text(json.dumps(special_map))
    if edit is not None:
        described = json.loads((SAVED / "tokenizer.json").read_text())
        edit(described)
        (place / "tokenizer.json").write_text(json.dumps(described))
    (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "EsmcTokenizer", **config}))
    return load_tokenizer(CheckpointFolder(place), rows, None, "EsmcTokenizer")


def ids(spec: TokenizerSpec, *texts: str) -> list[int]:
    return Tokenizer.from_str(spec.json).encode(*texts).ids


def added(text: str, number: int, special: bool = True) -> Edit:
    token = {"id": number, "content": text, **FLAGS, "special": special}
    return lambda described: described["added_tokens"].append(token)


@pytest.mark.parametrize("edit", [None, lambda _: None])
@pytest.mark.parametrize("name", ["EsmcTokenizer", "EsmcTokenizerFast", None])
def test_ids_are_those_of_the_library(edit: Edit | None, name: str | None, tmp_path: Path) -> None:
    """With the file that the class saves or without, by its name or as that of the model."""
    spec = read(tmp_path, edit, tokenizer_class=name)
    assert {text: ids(spec, text) for text in IDS} == IDS
    assert ids(spec, "AC", "DE") == [5, 23, 13, 9]
    assert (spec.template.segments, spec.notes) == (1, ("vocab_size is 64, the tokenizer produces ids up to 32",))
    special = ["<cls>", "<pad>", "<eos>", "<unk>", "|", "<mask>"]
    assert [token.content for token in spec.added_tokens if token.special] == special


@pytest.mark.parametrize(
    ("edit", "config", "expected"),
    [
        (added("<x>", 33), {}, [3, 5, 31, 23, 3, 32, 3, 33, 24, 3, 3, 3, 26, 3, 5]),
        (added("J", 33, special=False), {}, [3, 5, 31, 23, 3, 32, 33, 3, 3, 3, 24, 3, 3, 3, 26, 3, 5]),
        (
            lambda of: of["added_tokens"][-1].update(lstrip=True),
            {},
            [3, 5, 31, 23, 32, *[3] * 4, 24, *[3] * 3, 26, 3, 5],
        ),
        (lambda of: None, {"mask_token": "<m>"}, [3, 5, 31, 23, 3, 32, 3, 3, 3, 3, 24, 33, 26, 3, 5]),
        (None, {"mask_token": "<m>"}, [3, 5, 31, 23, *[3] * 11, 24, 33, 26, 3, 5]),
        (None, {"unk_token": "X"}, [24, 5, 31, 23, 24, 32, *[24] * 8, 26, 24, 5]),
        (None, {"mask_token": None, "pad_token": None}, [3, 5, 31, 23, *[3] * 11, 24, *[3] * 3, 26, 3, 5]),
        (None, {"chain_break_token": "<x>"}, [3, 5, 31, 23, 3, 32, 3, 33, 24, *[3] * 3, 26, 3, 5]),
        (None, {"special_map": {"chain_break_token": "<x>"}}, [3, 5, 31, 23, 3, 32, 3, 33, 24, *[3] * 3, 26, 3, 5]),
        (None, {"bos_token": "<x>", "sep_token": "<m>"}, [3, 5, 31, 23, 3, 32, 3, 33, 24, 34, 26, 3, 5]),
    ],
)
def test_other_tokens(edit: Edit | None, config: dict[str, Any], expected: list[int], tmp_path: Path) -> None:
    assert ids(read(tmp_path, edit, **config), TEXT)[1:-1] == expected


def test_what_the_class_has_of_its_own(tmp_path: Path) -> None:
    spec = read(tmp_path, lambda of: of.update(post_processor=None), unk_token="X")
    assert ids(spec, "A?") == [0, 5, 24, 2]
    assert spec.notes[:2] == (
        "model.unk_token is that of EsmcTokenizer, not what tokenizer.json says",
        "post_processor is that of EsmcTokenizer, not what tokenizer.json says",
    )


REFUSED: dict[str, tuple[Edit | None, dict[str, Any], str, str]] = {
    "other ids": (lambda of: of["model"]["vocab"].update(A=23, C=5), {}, "tokenizer-conflict", "model"),
    "a piece more": (lambda of: of["model"]["vocab"].update(J=33), {}, "tokenizer-conflict", "model"),
    "merges": (lambda of: of["model"].update(merges=[["A", "C"]]), {}, "tokenizer-conflict", "model"),
    "fused unknowns": (lambda of: of["model"].update(fuse_unk=True), {}, "tokenizer-conflict", "model"),
    "texts keep their end": (
        lambda of: of.update(
            truncation={"direction": "Left", "max_length": 9, "strategy": "LongestFirst", "stride": 0}
        ),
        {},
        "tokenizer-setting",
        "direction 'Left'",
    ),
    "a normalizer": (lambda of: of.update(normalizer={"type": "Lowercase"}), {}, "tokenizer-conflict", "normalizer"),
    "an unknown token": (None, {"unk_token": "<u>"}, "missing-special-token", "<u>"),
    "another begin": (None, {"cls_token": "<m>"}, "missing-special-token", "<m>"),
    "no end": (None, {"eos_token": None}, "missing-special-token", "eos_token"),
    "a gap of ids": (added("<x>", 40), {}, "added-token-conflict", "<x>"),
    "special tokens as text": (None, {"split_special_tokens": True}, "tokenizer-setting", "split_special_tokens"),
    "segments": (None, {"model_input_names": ["input_ids", "token_type_ids"]}, "tokenizer-setting", "segments"),
    "another special token": (None, {"extra_special_tokens": ["<x>"]}, "tokenizer-conflict", "<x>"),
    "flags of an extra token": (
        None,
        {"sep_token": {"content": "J", **FLAGS, "lstrip": True}, "extra_special_tokens": ["J"]},
        *("tokenizer-conflict", "lstrip"),
    ),
    "two chain breaks": (
        None,
        {"special_map": {"chain_break_token": "*"}, "chain_break_token": "|"},
        *("tokenizer-conflict", "chain_break_token is '*'"),
    ),
    "too few rows": (None, {"rows": 32}, "token-id-out-of-range", "<mask>"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    edit, config, code, words = REFUSED[case]
    with pytest.raises(EtchError) as caught:
        read(tmp_path, edit, **config)
    assert caught.value.code == code
    assert words in caught.value.message
