# SPDX-License-Identifier: Apache-2.0
"""The special tokens of classes of WordPiece: the key in tokenizer_config.json, and what the class assumes without."""

from __future__ import annotations

FUNNEL = "FunnelTokenizer"  # BERT's words, special tokens and a first segment of its own
MPNET = "MPNetTokenizer"  # BERT's words, RoBERTa's special tokens
SPLINTER = "SplinterTokenizer"  # BERT's words, a token where the answer to a question is to stand
SPECIAL_TOKENS: dict[str, object] = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_MPNET: dict[str, object] = SPECIAL_TOKENS | {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}
_FUNNEL: dict[str, object] = {key: f"<{key.removesuffix('_token')}>" for key in SPECIAL_TOKENS}
_FUNNEL |= {"bos_token": "<s>", "eos_token": "</s>"}
_SPLINTER: dict[str, object] = SPECIAL_TOKENS | {"question_token": "[QUESTION]"}
TOKENS_OF_CLASSES: dict[str, dict[str, object]] = {MPNET: _MPNET, FUNNEL: _FUNNEL, SPLINTER: _SPLINTER}
