# SPDX-License-Identifier: Apache-2.0
"""Keeps the pieces of the teacher's WordPiece vocabulary that the corpus uses most."""

from __future__ import annotations

import json
import string
from collections import Counter
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Sizes to prune to, one after the other: each count is made with the vocabulary left so far, so
# that the parts of words already dropped gain the counts they need.
PRUNING_STEPS = (20_000, 15_000, 12_000, 10_500, 9_000, 7_500, 6_250, 5_250)


def _count(tokenizer: Tokenizer, texts: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), 4096):
        for encoding in tokenizer.encode_batch(texts[start : start + 4096]):
            counts.update(encoding.tokens)
    return counts


def _with_pieces(teacher: dict[str, Any], pieces: list[str]) -> dict[str, Any]:
    """The teacher's tokenizer.json with another vocabulary, and neither cut nor padding."""
    spec = json.loads(json.dumps(teacher))
    ids = {piece: i for i, piece in enumerate(pieces)}
    spec["truncation"] = None
    spec["padding"] = None
    spec["model"]["vocab"] = ids
    for token in spec["added_tokens"]:
        token["id"] = ids[token["content"]]
    for token in spec["post_processor"]["special_tokens"].values():
        token["ids"] = [ids[name] for name in token["tokens"]]
    return spec


def _required(counts: Counter[str]) -> set[str]:
    """ASCII characters, bare; letters and digits also as continuations; characters in use."""
    ascii_text = [c for c in string.printable.lower() if not c.isspace()]
    alphanumeric = [c for c in ascii_text if c.isalnum()]
    used = {p for p, n in counts.items() if len(p.removeprefix("##")) == 1 and n > 0}
    return {*SPECIALS, *ascii_text, *(f"##{c}" for c in alphanumeric), *used}


def build(teacher_folder: Path, texts: list[str], size: int) -> tuple[dict[str, Any], list[int]]:
    """(tokenizer.json of the student, the teacher's id of each of its `size` pieces)."""
    teacher = json.loads((teacher_folder / "tokenizer.json").read_text(encoding="utf-8"))
    teacher_ids: dict[str, int] = teacher["model"]["vocab"]
    pieces = [*SPECIALS, *(p for p in teacher_ids if p not in SPECIALS)]
    required: set[str] | None = None
    for step in (*(n for n in PRUNING_STEPS if n > size), size):
        tokenizer = Tokenizer.from_str(json.dumps(_with_pieces(teacher, pieces)))
        counts = _count(tokenizer, texts)
        required = required or _required(counts) & teacher_ids.keys()
        ranked = sorted(pieces, key=lambda p: (p not in required, -counts[p], teacher_ids[p]))
        kept = set(ranked[:step])
        pieces = [p for p in pieces if p in kept]
    return _with_pieces(teacher, pieces), [teacher_ids[p] for p in pieces]


def tokenizer_config(max_length: int) -> dict[str, Any]:
    """A tokenizer_config.json that agrees with `build`'s tokenizer.json."""
    return {
        "clean_up_tokenization_spaces": True,
        "cls_token": "[CLS]",
        "do_basic_tokenize": True,
        "do_lower_case": True,
        "mask_token": "[MASK]",
        "model_max_length": max_length,
        "never_split": None,
        "pad_token": "[PAD]",
        "padding_side": "right",
        "sep_token": "[SEP]",
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "tokenizer_class": "BertTokenizer",
        "truncation_side": "right",
        "unk_token": "[UNK]",
    }
