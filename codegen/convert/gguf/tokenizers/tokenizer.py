# SPDX-License-Identifier: Apache-2.0
"""The files of a tokenizer: which kind it is, tokenizer.json, and tokenizer_config.json beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ....load.refusal import shown
from ..metadata import Metadata
from .byte_level import byte_level
from .sentencepiece_bpe import sentencepiece_bpe
from .tokens import Tokens, read_tokens
from .unigram import unigram
from .word_piece import special_tokens, word_piece

_KINDS: dict[str, Callable[[Tokens], dict[str, Any]]] = {
    "bert": word_piece,
    "gpt2": byte_level,
    "llama": sentencepiece_bpe,
    "t5": unigram,
}
MODEL, _TEMPLATE = "tokenizer.ggml.model", "tokenizer.chat_template"
_NAMES = {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}
_NAMES_OF_BERT = {
    "unknown": "unk_token",
    "cls": "cls_token",
    "seperator": "sep_token",
    "padding": "pad_token",
    "mask": "mask_token",
}


@dataclass(frozen=True)
class TokenizerFiles:
    """What two files hold, and the tokens."""

    tokenizer: dict[str, Any]
    config: dict[str, Any]
    tokens: Tokens
    notes: tuple[str, ...]


def read_tokenizer(meta: Metadata, kinds: tuple[str, ...], rows: int, positions: int) -> TokenizerFiles:
    """Of a file whose table of words has `rows`, of a model for so many `positions` that may have these `kinds`."""
    kind = meta.text(MODEL)
    if kind not in kinds:
        message = f"{MODEL} {shown(kind)} is not read (read: {', '.join(kinds)})"
        raise meta.refuse("gguf-tokenizer", message)
    tokens = read_tokens(meta, rows)
    described = _KINDS[kind](tokens)
    config: dict[str, Any] = {"clean_up_tokenization_spaces": False, "model_max_length": positions}
    notes: tuple[str, ...] = ()
    if kind == "bert":
        special = special_tokens(tokens)
        lower = described["normalizer"]["lowercase"]
        config |= {"tokenizer_class": "BertTokenizer", "do_lower_case": lower}
        notes = (
            f"the file does not say whether texts are in lower case: by its pieces they are{'' if lower else ' not'}",
        )
        config |= {_NAMES_OF_BERT[name]: text for name, text in special.items()}
    else:
        config["tokenizer_class"] = "XLMRobertaTokenizer" if kind == "t5" else "PreTrainedTokenizerFast"
        texts = {token.content for token in tokens.added() if token.special}
        config |= {key: text for name, key in _NAMES.items() if (text := tokens.text_of(name)) in texts}
    if meta.has(_TEMPLATE):
        config["chat_template"] = meta.text(_TEMPLATE)
    return TokenizerFiles(described, config, tokens, notes)
