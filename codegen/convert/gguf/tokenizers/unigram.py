# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's Unigram as XLM-RoBERTa has it (`t5` beside the architecture `bert`): pieces with scores, and the
compiled map of its normalizer."""

from __future__ import annotations

import base64
from typing import Any

from ....ir.tokenizer_spec import METASPACE
from ....load.tokenizer_files.tokenizer_json.spelled_word_piece import bert_processor
from .tokens import Tokens

_SCORES, _MAP = "tokenizer.ggml.scores", "tokenizer.ggml.precompiled_charsmap"
_PREFIX = "tokenizer.ggml.add_space_prefix"


def unigram(tokens: Tokens) -> dict[str, Any]:
    """The tokenizer.json."""
    meta = tokens.meta
    if not meta.flag(_PREFIX, True):
        raise meta.refuse("gguf-not-supported", f"{_PREFIX}: words that begin without U+2581")
    unknown, begin, end = (tokens.special(name) for name in ("unknown", "bos", "eos"))
    vocab = list(tokens.in_vocabulary())
    scores = meta.numbers(_SCORES)
    if unknown is None or begin is None or end is None or unknown >= len(vocab) or begin == end:
        raise meta.refuse("gguf-key", "unknown_token_id, bos_token_id and eos_token_id must name three tokens")
    if len(scores) < len(tokens.texts):
        raise meta.refuse("gguf-tokenizer", f"{_SCORES} has {len(scores)} values for {len(tokens.texts)} tokens")
    ends = {tokens.texts[index]: index for index in (begin, end)}
    metaspace = {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "always", "split": True}
    return tokens.described(
        normalizer=_normalizer(tokens),
        pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        post_processor={
            "type": "TemplateProcessing",
            **bert_processor(tokens.texts[begin], tokens.texts[end], second_segment=0, separators=2),
            "special_tokens": {text: {"id": text, "ids": [index], "tokens": [text]} for text, index in ends.items()},
        },
        decoder=metaspace,
        model={
            "type": "Unigram",
            "unk_id": unknown,
            "vocab": [[text, scores[index]] for index, text in enumerate(vocab)],
            "byte_fallback": False,
        },
    )


def _normalizer(tokens: Tokens) -> dict[str, Any] | None:
    compiled = tokens.meta.numbers(_MAP, [])
    if not all(isinstance(one, int) and -128 <= one < 256 for one in compiled):
        raise tokens.meta.refuse("gguf-key", f"{_MAP} holds no bytes")
    if not compiled:
        return None
    text = base64.b64encode(bytes(one & 0xFF for one in compiled)).decode("ascii")
    return {"type": "Precompiled", "precompiled_charsmap": text}
