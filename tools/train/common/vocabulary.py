# SPDX-License-Identifier: Apache-2.0
"""Keeps the pieces of a large WordPiece vocabulary that the corpus uses most."""

from __future__ import annotations

import json
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Sizes to prune to, one after the other: each count is made with the vocabulary left so far, so
# that the parts of words already dropped gain the counts they need.
PRUNING_STEPS = (20_000, 15_000, 12_000, 10_500, 9_000, 7_500, 6_250, 5_250, 4_500, 3_750, 3_000)


def uncased(pieces: Sequence[str]) -> dict[str, Any]:
    """tokenizer.json of an uncased BERT with these pieces, a vocab.txt's lines."""
    ids = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(token, ids[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.add_special_tokens(list(SPECIALS))
    return json.loads(tokenizer.to_str())


def _count(tokenizer: Tokenizer, texts: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), 4096):
        for encoding in tokenizer.encode_batch(texts[start : start + 4096]):
            counts.update(encoding.tokens)
    return counts


def _with_pieces(large: dict[str, Any], pieces: list[str]) -> dict[str, Any]:
    """The large tokenizer.json with another vocabulary, and neither cut nor padding."""
    spec = json.loads(json.dumps(large))
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


def build(large: dict[str, Any], texts: list[str], size: int) -> tuple[dict[str, Any], list[int]]:
    """(`large`, a parsed tokenizer.json, with `size` of its pieces; the id that each of them had there)."""
    large_ids: dict[str, int] = large["model"]["vocab"]
    pieces = [*SPECIALS, *(p for p in large_ids if p not in SPECIALS)]
    required: set[str] | None = None
    for step in (*(n for n in PRUNING_STEPS if n > size), size):
        tokenizer = Tokenizer.from_str(json.dumps(_with_pieces(large, pieces)))
        counts = _count(tokenizer, texts)
        required = required or _required(counts) & large_ids.keys()
        ranked = sorted(pieces, key=lambda p: (p not in SPECIALS, p not in required, -counts[p], large_ids[p]))
        kept = set(ranked[:step])
        pieces = [p for p in pieces if p in kept]
    return _with_pieces(large, pieces), [large_ids[p] for p in pieces]


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
