# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's BPE (`llama`): pieces with scores and no merges. These are all the ways to write one piece as two
others, those of the best score first, as the classes of `transformers` derive them of SentencePiece's own file."""

from __future__ import annotations

from typing import Any

from ....ir.tokenizer_spec import METASPACE
from ....load.tokenizer_files.folders.llama import derived_merges
from ....load.tokenizer_files.tokenizer_json.character_bpe import PREPEND, REPLACE
from ....load.tokenizer_files.tokenizer_json.template import template_between
from .tokens import NORMAL, Tokens

_SCORES, _PREFIX = "tokenizer.ggml.scores", "tokenizer.ggml.add_space_prefix"


def sentencepiece_bpe(tokens: Tokens) -> dict[str, Any]:
    """The tokenizer.json."""
    meta = tokens.meta
    prefix = meta.flag(_PREFIX, True)
    vocab = tokens.in_vocabulary()
    ids = vocab | {token.content: token.id for token in tokens.added()}
    unknown = tokens.text_of("unknown")
    back = {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "}
    first = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if prefix else []
    return tokens.described(
        normalizer={"type": "Sequence", "normalizers": [PREPEND, REPLACE]} if prefix else REPLACE,
        pre_tokenizer=None,
        post_processor=template_between(tokens.asked_ends(True, end=False), ids),
        decoder={"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}, *first]},
        model={
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown if unknown in vocab else None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": derived_merges(_ranks(tokens)),
        },
    )


def _ranks(tokens: Tokens) -> dict[str, int]:
    """Pieces that texts are made of -> their places, the best first; of two with one score the first."""
    scores = tokens.meta.numbers(_SCORES)
    if len(scores) < len(tokens.texts):
        message = f"{_SCORES} has {len(scores)} values for {len(tokens.texts)} tokens"
        raise tokens.meta.refuse("gguf-tokenizer", message)
    pieces = [i for i, kind in enumerate(tokens.kinds) if kind == NORMAL]
    pieces.sort(key=lambda i: (-scores[i], i))
    return {tokens.texts[index]: rank for rank, index in enumerate(pieces)}
