# SPDX-License-Identifier: Apache-2.0
"""The tokenizer's files of a tiny Marian model: pieces that only one language has, and one that vocab.json lacks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "load"))
from sentencepiece_files import CONTROL, UNKNOWN, sentencepiece_file

_FIRST = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
_BOTH = [
    *"abcdefghilmnoprstuw",
    "\u2581",
    ".",
    "\u2581in",
    "\u2581a",
    "\u2581man",
    "er",
    "en",
    "st",
    "\u2581w",
    "\u2581b",
    "\u2581m",
]
_SOURCE = ["\u2581the", "ing", "\u2581dog", "\u2581s"]
_TARGET = ["\u2581ein", "\u2581der", "\u2581und", "\u00df", "\u00e4", "\u00f6\u00fc", "\u2581hund", "isch", "\u2581s"]
_NAMELESS = ["\u2014", "x", "xy"]  # of source.spm alone
VOCABULARY = ["</s>", "<unk>", *dict.fromkeys(_BOTH + _SOURCE + _TARGET), "<pad>"]
TEXTS = (
    *("the dog in the street.", "a man was lost", "  in   one morning , ", "", "sing"),
    *(
        "gro\u00df",
        "\u00df \u00e4\u00df \u00e4",
        "\u00f6\u00fc \u00f6 \u00fc\u00f6\u00fc",
        "a\u2014b \u2014 \u00df\u2014",
        "xxy xyx",
    ),
    *(
        "man </s> dog<pad>",
        "\u65e5\u00df\u65e5 \u65e5",
        "A MAN",
        "the men sat there and ate the bread of the dog in the sun",
    ),
)


def write_files(folder: Path) -> None:
    """source.spm, target.spm, vocab.json and tokenizer_config.json."""
    for name, pieces in (("source.spm", [*_BOTH, *_SOURCE, *_NAMELESS]), ("target.spm", [*_BOTH, *_TARGET])):
        scores = [(piece, -1.0 - i / 16 + 2 * (len(piece) > 1)) for i, piece in enumerate(pieces)]
        (folder / name).write_bytes(sentencepiece_file(_FIRST, scores))
    ids = {piece: i for i, piece in enumerate(VOCABULARY)}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    config = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de", "model_max_length": 24}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
