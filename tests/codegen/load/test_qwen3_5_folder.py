# SPDX-License-Identifier: Apache-2.0
"""Folders of Qwen 3.5's tokenizer, whose words hold marks beside letters: the class that transformers 5.23 makes of
them, and its ids (AutoTokenizer was asked for the same folders)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.errors import EtchError
from codegen.frontends.decoders import qwen3_5, qwen3_5_moe, qwen3_5_moe_text, qwen3_5_text
from codegen.ir.split_spec import ExpressionSegmenter
from codegen.ir.tokenizer_spec import Cl100kSegmenter, TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_config import AS_QWEN3_5, QWEN3_5_TOKENIZER
from codegen.load.tokenizer_files.tokenizer_json.byte_level_segmenters import QWEN3_5_EXPRESSION

RECORDED = Path(__file__).resolve().parents[1] / "generation" / "qwen2" / "texts"
WHOLE, TEXTS = AS_QWEN3_5, QWEN3_5_TOKENIZER  # what the two families say
NAMES = (None, "Qwen2Tokenizer", "Qwen3_5Tokenizer", "TokenizersBackend")
IDS = {
    "the e\u0301tude's \u0915\u093f 12": [
        *(257, 220, 278, 83, 84, 67, 68, 277, 220, 156, 97, 243, 156, 97, 123, 220, 16, 17),
    ],
    "a\u0301 \u0301b!\u0e34c": [127, 94, 220, 136, 223, 65, 0, 156, 116, 112, 66],
    "\n x<|endoftext|>y": [198, 220, 87, 281, 88],
}


def read(place: Path, family: str, name: str | None, expression: str | None = QWEN3_5_EXPRESSION) -> TokenizerSpec:
    """Of a tokenizer.json with this expression, or with Qwen2's."""
    described = json.loads((RECORDED / "tokenizer.json").read_text(encoding="utf-8"))
    if expression is not None:
        described["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": expression}
    (place / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
    config = json.loads((RECORDED / "tokenizer_config.json").read_text(encoding="utf-8")) | {"tokenizer_class": name}
    (place / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return load_tokenizer(CheckpointFolder(place), 282, None, family)


def test_what_the_families_say() -> None:
    for whole, texts, own in ((qwen3_5, qwen3_5_text, TEXTS), (qwen3_5_moe, qwen3_5_moe_text, WHOLE)):
        assert (whole.FAMILY.tokenizer_class, texts.FAMILY.tokenizer_class) == (WHOLE, own)


@pytest.mark.parametrize(
    ("family", "name"), [*((WHOLE, name) for name in NAMES), *((TEXTS, name) for name in NAMES if name != NAMES[1])]
)
def test_ids_are_those_of_the_library(family: str, name: str | None, tmp_path: Path) -> None:
    spec = read(tmp_path, family, name)
    assert isinstance(spec.segmenter, ExpressionSegmenter)
    assert {text: wheel_tokenizer(spec).encode(text).ids for text in IDS} == IDS


@pytest.mark.parametrize("name", ["Qwen2Tokenizer", "TokenizersBackend"])
def test_texts_alone_may_have_qwen2s_class(name: str, tmp_path: Path) -> None:
    assert read(tmp_path, TEXTS, name, None).segmenter == Cl100kSegmenter(1)


@pytest.mark.parametrize(
    ("family", "name", "expression"),
    [(WHOLE, "Qwen2Tokenizer", None), (TEXTS, None, None), (TEXTS, "Qwen2Tokenizer", QWEN3_5_EXPRESSION)],
)
def test_another_expression_than_the_classs_is_refused(
    family: str, name: str | None, expression: str | None, tmp_path: Path
) -> None:
    with pytest.raises(EtchError, match="another pre_tokenizer") as refused:
        read(tmp_path, family, name, expression)
    assert refused.value.code == "tokenizer-conflict"


def test_a_folder_without_tokenizer_json_is_refused(tmp_path: Path) -> None:
    """Of which the library's class makes a tokenizer without pieces."""
    (tmp_path / "vocab.json").write_text("{}")
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    with pytest.raises(EtchError, match=r"tokenizer\.json"):
        load_tokenizer(CheckpointFolder(tmp_path), 282, None, WHOLE)
