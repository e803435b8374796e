# SPDX-License-Identifier: Apache-2.0
"""The tokenizer's files of a tiny M2M-100 model as published ones have them: ids in another order than merges, a piece
that vocab.json lacks, unknown text that only it has, codes of languages behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "load"))
from sentencepiece_files import CONTROL, UNKNOWN, sentencepiece_file

FIRST = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
MERGED = (
    *("\u2581t", "he", "\u2581the", "at", "\u2581c", "\u2581cat", "in", "ing", "\u2581a", "nd", "\u2581and"),
    *("th", "\u2581in", "er", "on", "an"),
)
PIECES = (*MERGED, "\u2581", *"abcdefghijklmnopqrstuvwxyz")
WITHOUT_ID = ("in", "q")
_UNKNOWN = ("\u732b", "\U0001f389!", "'")
VOCABULARY = ("<s>", "<pad>", "</s>", "<unk>", *sorted(set(PIECES) - set(WITHOUT_ID)), *_UNKNOWN)
MADE_UP = 8  # rows of the embedding without a token
_TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def write_files(folder: Path, codes: Sequence[str], charsmap: bytes = b"", kind: str = "m2m100") -> None:
    """sentencepiece.bpe.model, vocab.json, special_tokens_map.json and tokenizer_config.json; the codes are of this
    kind."""
    scores = [(piece, -float(i)) for i, piece in enumerate(PIECES)]
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece_file(FIRST, scores, charsmap, model_type=2))
    special = _TOKENS | {"additional_special_tokens": [f"__{code}__" for code in codes]}
    settings = {"src_lang": None, "tgt_lang": None, "language_codes": kind, "sp_model_kwargs": {}}
    settings |= {"num_madeup_words": MADE_UP, "tokenizer_class": "M2M100Tokenizer", "model_max_length": 20}
    for name, values in (
        ("vocab.json", {text: i for i, text in enumerate(VOCABULARY)}),
        ("special_tokens_map.json", special),
        ("tokenizer_config.json", settings | special),
    ):
        (folder / name).write_text(json.dumps(values, ensure_ascii=False) + "\n", encoding="utf-8")
