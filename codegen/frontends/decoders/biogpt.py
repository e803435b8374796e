# SPDX-License-Identifier: Apache-2.0
"""BioGPT: a decoder alone with learned positions and larger words. Its own tokenizer finds and joins words by Moses'
rules. Names as in `transformers`."""

from __future__ import annotations

import math

from ...ir.graph import Embed, Layers, Parameter, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.encoder_layer import BART_NAMES, LayerShape, pre_norm_layer
from ..shared.llama_stack import POSITIONS, WORDS, Stack
from ..shared.masks import CAUSAL

MODEL_TYPE = "biogpt"
# Training's, and an epsilon that the library's norms do not have.
HARMLESS_KEYS = frozenset({"activation_dropout", "layer_norm_eps", "layerdrop"})
_FIRST = 2  # of the positions that a text has
_EPSILON = 1e-5  # PyTorch's


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, _: int) -> Stack:
    shape = shape_of(config)
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, shape.hidden))
    entries = config.positive_int(POSITIONS, maximum=parts.MAX_WIDTH) + _FIRST
    places = parts.parameter(tensors, "position_embeddings", f"{prefix}embed_positions.weight", (entries, shape.hidden))
    return stack_of(config, tensors, prefix, shape, count, words, Term(places, "positions", first=_FIRST))


def stack_of(
    config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, count: int, words: Parameter, place: Term
) -> Stack:
    """Of these tables: larger words, so many of BART's layers with norms before the blocks, and a last norm."""
    hidden = shape.hidden
    factor = math.sqrt(hidden) if config.flag("scale_embedding", True) else None
    prefixes = [f"{prefix}layers.{i}." for i in range(count)]
    body = (
        Embed((Term(words, "ids", factor=factor), place), "hidden"),
        Layers("layer", count, pre_norm_layer(tensors, prefixes, BART_NAMES, shape)),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}layer_norm"], hidden, _EPSILON, "hidden"),
    )
    return Stack(body, shape.widths | {"normed": hidden}, words, hidden)


def shape_of(
    config: Config,
    width_key: str = "hidden_size",
    heads_key: str = "num_attention_heads",
    inner_key: str = "intermediate_size",
    activation_key: str = "hidden_act",
) -> LayerShape:
    """Of each layer, by these keys."""
    hidden = config.positive_int(width_key, maximum=parts.MAX_WIDTH)
    heads = config.positive_int(heads_key, maximum=parts.MAX_WIDTH)
    parts.check_heads(hidden, heads, width_key, heads_key)
    inner = config.positive_int(inner_key, maximum=parts.MAX_WIDTH)
    activation = parts.activation_of(config, activation_key, "gelu")
    return LayerShape(hidden, heads, inner, activation, _EPSILON, masks=CAUSAL)


FAMILY = Family(
    "BioGpt",
    "BioGptTokenizer",
    _stack,
    tags="classifier",
    names=Names("biogpt.", logits="output_projection.weight"),
    tied=True,
    padding=1,
)
