# SPDX-License-Identifier: Apache-2.0
"""Small folders with the tokenizers of BioGPT, XLM, FlauBERT and FSMT."""

from __future__ import annotations

import json
import random
import string
import tempfile
from pathlib import Path
from typing import Any

from fairseq_files import learned
from folder_edits import Files
from moses_files import write_folder

_WORDS = (
    "The the cat sat on mat. dog &apos;s unworkable , plays ! Caf\u00e9 \u4e2d\u56fd Berlin new_token 12 a aa aaa xy x "
    "ing @-@ ..."
)

_FAMILIES = {
    "BioGptTokenizer": "biogpt",
    "XLMTokenizer": "xlm",
    "FlaubertTokenizer": "flaubert",
    "FSMTTokenizer": "fsmt",
}
_SETTINGS: dict[str, dict[str, Any]] = {
    family: {"tokenizer_class": name} for name, family in _FAMILIES.items() if family != "biogpt"
}
_SETTINGS["fsmt"]["langs"] = ["de", "en"]


def moses_folders() -> dict[str, Files]:
    """By name; its config.json says its family."""
    pairs, _ = learned(random.Random(5), _WORDS.split(), 40)
    letters = [letter + end for letter in string.printable[:94] if letter not in "<>" for end in ("", "</w>")]
    pieces = dict.fromkeys((*letters, *(left + right for left, right in pairs[::2])))
    with tempfile.TemporaryDirectory() as folder:
        return {name: _files(Path(folder), family, pairs, list(pieces)) for name, family in _FAMILIES.items()}


def _files(place: Path, family: str, pairs: list[tuple[str, str]], pieces: list[str]) -> Files:
    write_folder(place, pairs, pieces, **_SETTINGS.get(family, {}))
    files: Files = {path.name: path.read_text(encoding="utf-8") for path in sorted(place.iterdir())}
    files["tokenizer_config.json"] = json.loads(files["tokenizer_config.json"])
    return {**files, "config.json": {"model_type": family}}
