# SPDX-License-Identifier: Apache-2.0
"""Small folders with the tokenizers of PhoBERT and BERTweet."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from fairseq_files import learned, write_folder
from folder_edits import Files

_WORDS = (
    "The the cat sat on mat. dog's unworkable, plays! Caf\u00e9 \u4e2d\u56fd Berlin new_token 12 a aa aaa xy x [MASK]"
)


def fairseq_folders() -> dict[str, Files]:
    """By name; each has a config.json that says its family."""
    pairs, pieces = learned(random.Random(3), _WORDS.split(), 40)
    found: dict[str, Files] = {}
    for name in ("PhobertTokenizer", "BertweetTokenizer"):
        with tempfile.TemporaryDirectory() as folder:
            write_folder(Path(folder), pairs, [piece for piece in pieces if piece != "on"], name)
            files: Files = {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).iterdir())}
        files["tokenizer_config.json"] = json.loads(files["tokenizer_config.json"])
        found[name] = {**files, "config.json": {"model_type": "roberta"}}
    return found
