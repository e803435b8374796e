# SPDX-License-Identifier: Apache-2.0
"""`fix_mistral_regex`: refused where `transformers` 5.23 would put another Split in the place of tokenizer.json's, as
AutoTokenizer was seen to do for such folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import EtchError
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.mistral_repair import _SPLIT, check_repaired

ASKED = {"fix_mistral_regex": True}


def described(pieces: int = 100_001, pattern: str = r"\p{L}+") -> dict[str, Any]:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    steps = [split, {"type": "ByteLevel"}]
    vocabulary = {str(number): number for number in range(pieces)}
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}, "model": {"vocab": vocabulary}}


def folder(place: Path, **config: object) -> CheckpointFolder:
    (place / "config.json").write_text(json.dumps(config))
    return CheckpointFolder(place)


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "mistral"},
        {"model_type": "ministral", "transformers_version": "4.57.3"},
        {"model_type": "mistral", "transformers_version": None},
        {},
    ],
)
def test_refused(config: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(EtchError, match="'fix_mistral_regex': transformers replaces the Split") as refused:
        check_repaired(folder(tmp_path, **config), ASKED, described())
    assert refused.value.code == "tokenizer-setting"


@pytest.mark.parametrize(
    ("config", "values", "asked"),
    [
        ({"model_type": "llama"}, described(), ASKED),
        ({"model_type": "mistral", "transformers_version": "5.0.0"}, described(), ASKED),
        ({"model_type": "mistral"}, described(100_000), ASKED),
        ({"model_type": "mistral"}, described(pattern=_SPLIT), ASKED),
        ({"model_type": "mistral"}, described(), {"fix_mistral_regex": False}),
        ({"model_type": "mistral"}, described(), {}),
    ],
)
def test_accepted(config: dict[str, object], values: dict[str, Any], asked: dict[str, Any], tmp_path: Path) -> None:
    """Where nothing is replaced, or by the same."""
    check_repaired(folder(tmp_path, **config), asked, values)


def test_accepted_without_a_configuration(tmp_path: Path) -> None:
    check_repaired(CheckpointFolder(tmp_path), ASKED, described())
