# SPDX-License-Identifier: Apache-2.0
"""Tiny models that are made of two encoders, one of which writes: `EncoderDecoderModel` of `transformers`."""

from __future__ import annotations

from typing import Any

from tokenizers_of_texts import SPECIAL
from writer_shapes import BEGIN, END, VOCABULARY

_BERT = {
    "model_type": "bert",
    "vocab_size": VOCABULARY,
    "hidden_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 37,
    "max_position_embeddings": 26,
}
_ROBERTA = _BERT | {"model_type": "roberta", "pad_token_id": 1, "type_vocab_size": 1, "num_attention_heads": 4}
_GENERATION = _BERT | {"model_type": "bert-generation", "bos_token_id": BEGIN, "eos_token_id": END}
_TOKENS = {"vocab_size": VOCABULARY, "pad_token_id": 0, "decoder_start_token_id": BEGIN, "eos_token_id": END}


def _pair(encoder: dict[str, Any], decoder: dict[str, Any], tokens: dict[str, Any] = _TOKENS) -> tuple[str, Any]:
    """Class and configuration."""
    writes = {"is_decoder": True, "add_cross_attention": True, "num_hidden_layers": 1}
    return "EncoderDecoder", tokens | {"encoder": encoder, "decoder": decoder | writes}


_OF_TEXTS = {key: SPECIAL["encoder-decoder/texts"][key] for key in ("vocab_size", "pad_token_id")}
PAIRED: dict[str, tuple[str, dict[str, Any]]] = {
    "encoder-decoder/bert": _pair(_BERT, _BERT | {"intermediate_size": 29, "hidden_act": "relu"}),
    "encoder-decoder/roberta": _pair(
        _ROBERTA,
        _ROBERTA | {"intermediate_size": 33, "type_vocab_size": 2},
        _TOKENS | {"pad_token_id": 1, "decoder_start_token_id": 0},
    ),
    # Of other widths, words and kinds; the logits have weights of their own.
    "encoder-decoder/projected": _pair(
        _BERT | {"hidden_size": 16, "vocab_size": VOCABULARY + 6},
        _GENERATION | {"tie_word_embeddings": False, "num_attention_heads": 5},
    ),
    "encoder-decoder/texts": _pair(
        _BERT | {"num_hidden_layers": 1, **_OF_TEXTS}, _BERT | _OF_TEXTS, _TOKENS | SPECIAL["encoder-decoder/texts"]
    ),
}
