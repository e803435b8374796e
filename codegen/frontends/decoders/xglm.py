# SPDX-License-Identifier: Apache-2.0
"""XGLM: a decoder alone with tensor2tensor's sinusoids, which are those of exact angles here, and larger words. Names
as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import WORDS, Stack
from ..shared.sinusoids import closed_sinusoids
from .biogpt import shape_of, stack_of

MODEL_TYPE = "xglm"
HARMLESS_KEYS = frozenset({"activation_dropout", "attention_dropout", "dropout", "init_std", "layerdrop"})  # training's
_OTHER_NAMES = {
    "d_model": "hidden_size",
    "attention_heads": "num_attention_heads",
    "num_layers": "num_hidden_layers",
}
_FIRST = 2  # of the positions that a text has
_PADDING = 1  # where the configuration does not say it
_LEAST_WIDTH = 4  # of two rates


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    parts.check_other_names(config, _OTHER_NAMES)
    if config.flag("add_cross_attention", False):
        raise parts.refuse("config-not-supported", "add_cross_attention is true")
    shape = shape_of(config, "d_model", "attention_heads", "ffn_dim", "activation_function")
    hidden, layers_key = shape.hidden, "num_layers"
    if hidden < _LEAST_WIDTH:
        raise parts.refuse("config-out-of-range", f"d_model is {hidden}: positions need {_LEAST_WIDTH} at least")
    count = config.positive_int(layers_key, maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count, layers_key)
    tensors.ignore(f"{prefix}embed_positions.weights")  # of older files: made here
    _check_padding(config, tokens)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, hidden))
    places = closed_sinusoids("position_embeddings", range(_FIRST, _FIRST + tokens), hidden)
    return stack_of(config, tensors, prefix, shape, count, words, Term(places, "positions"))


def _check_padding(config: Config, tokens: int) -> None:
    """The library's table has zeros at the row of this id."""
    if config.values.get("pad_token_id", _PADDING) is None:
        return
    padding = config.natural_int("pad_token_id", _PADDING, maximum=parts.MAX_VOCABULARY)
    if _FIRST <= padding < _FIRST + tokens:
        message = f"pad_token_id {padding}: the library has no angles of the position {padding - _FIRST} then"
        raise parts.refuse("config-not-supported", message)


FAMILY = Family(
    "XGLM",
    "XGLMTokenizer",
    _stack,
    width_of=lambda config: config.positive_int("d_model"),
    tied=True,
    own_masks=True,
    padding=1,
)
