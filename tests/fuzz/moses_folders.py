# SPDX-License-Identifier: Apache-2.0
"""A small folder with the tokenizer of BioGPT."""

from __future__ import annotations

import json
import random
import string
import tempfile
from pathlib import Path

from fairseq_files import learned
from folder_edits import Files
from moses_files import write_folder

_WORDS = (
    "The the cat sat on mat. dog &apos;s unworkable , plays ! Caf\u00e9 \u4e2d\u56fd Berlin new_token 12 a aa aaa xy x "
    "ing @-@ ..."
)


def moses_folders() -> dict[str, Files]:
    """By name; its config.json says its family."""
    pairs, _ = learned(random.Random(5), _WORDS.split(), 40)
    letters = [letter + end for letter in string.printable[:94] if letter not in "<>" for end in ("", "</w>")]
    pieces = dict.fromkeys((*letters, *(left + right for left, right in pairs[::2])))
    with tempfile.TemporaryDirectory() as folder:
        write_folder(Path(folder), pairs, list(pieces))
        files: Files = {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).iterdir())}
    files["tokenizer_config.json"] = json.loads(files["tokenizer_config.json"])
    return {"BioGptTokenizer": {**files, "config.json": {"model_type": "biogpt"}}}
