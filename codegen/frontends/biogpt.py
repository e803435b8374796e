# SPDX-License-Identifier: Apache-2.0
"""BioGPT: a decoder alone with learned positions and larger words. The class of its tokenizer parts texts by Moses'
rules and is refused: a folder needs a tokenizer.json of another one. Names as in `transformers`."""

from __future__ import annotations

import math

from ..ir.graph import Embed, Layers, Term
from ..load.config import Config
from ..load.safetensors import TensorFile
from .bases.decoder_family import Family, Names
from .shared import parts
from .shared.encoder_layer import BART_NAMES, LayerShape, pre_norm_layer
from .shared.llama_stack import POSITIONS, WORDS, Stack
from .shared.masks import CAUSAL

MODEL_TYPE = "biogpt"
# Training's, and an epsilon that the library's norms do not have.
HARMLESS_KEYS = frozenset({"activation_dropout", "layer_norm_eps", "layerdrop"})
_FIRST = 2  # of the positions that a text has
_EPSILON = 1e-5  # PyTorch's


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, _: int) -> Stack:
    shape = _shape(config)
    hidden = shape.hidden
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, hidden))
    entries = config.positive_int(POSITIONS, maximum=parts.MAX_WIDTH) + _FIRST
    places = parts.parameter(tensors, "position_embeddings", f"{prefix}embed_positions.weight", (entries, hidden))
    factor = math.sqrt(hidden) if config.flag("scale_embedding", True) else None
    prefixes = [f"{prefix}layers.{i}." for i in range(count)]
    body = (
        Embed((Term(words, "ids", factor=factor), Term(places, "positions", first=_FIRST)), "hidden"),
        Layers("layer", count, pre_norm_layer(tensors, prefixes, BART_NAMES, shape)),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}layer_norm"], hidden, _EPSILON, "hidden"),
    )
    return Stack(body, shape.widths | {"normed": hidden}, words, hidden)


def _shape(config: Config) -> LayerShape:
    hidden = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    parts.check_heads(hidden, heads)
    return LayerShape(
        hidden,
        heads,
        config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH),
        parts.activation_of(config, "hidden_act", "gelu"),
        _EPSILON,
        masks=CAUSAL,
    )


FAMILY = Family(
    "BioGpt",
    "BioGptTokenizer",
    _stack,
    names=Names("biogpt.", logits="output_projection.weight"),
    tied=True,
)
