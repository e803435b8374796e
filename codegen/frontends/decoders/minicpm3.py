# SPDX-License-Identifier: Apache-2.0
"""MiniCPM 3: Llama's shape with latent attention: keys and values of all heads are made of few values of a token.
Factors of words, blocks and logits, angles for long texts. Names as in `transformers`."""

from __future__ import annotations

import math

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.latent_attention import Latent, latent_in
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Factors, Form, Rotation, Stack, llama_stack
from ..shared.longrope import FIRST, longrope_angles
from ..shared.rotary import Angles, angles_in, kind_of, said_in

MODEL_TYPE = "minicpm3"
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's
# Where the configuration does not say them.
_QUERY, _KEY, _TURNED, _STILL, _BASE = 768, 256, 32, 64, 256
_WORDS, _DEPTH, _THETA = 12.0, 1.4, 10_000.0


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    value = _width(config) // config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    latent = latent_in(config, Latent(_QUERY, _KEY, _TURNED, _STILL, max(value, 1), pairs=False, bias=False))
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    words, depth = parts.factor_of(config, "scale_emb", _WORDS), parts.factor_of(config, "scale_depth", _DEPTH)
    form = Form(
        Biases(attention_inputs=False, attention_output=False, feed_forward=config.flag("mlp_bias", False)),
        head_width=latent.head,
        epsilon=1e-5,
        factors=Factors(words, blocks=depth / math.sqrt(layers)),
        latent=latent,
    )
    rotation = Rotation(_angles(config, latent.turned, tokens), tokens, latent.turned)
    return llama_stack(config, tensors, prefix, vocabulary, rotation.seen, form)


def _angles(config: Config, turned: int, tokens: int) -> Angles:
    values, key = said_in(config, beside=True)
    theta = config.number("rope_theta", _THETA)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    settings = Config.from_json(values)
    if kind_of(settings) != "longrope":
        return angles_in(values, key, theta, positions)
    first = settings.positive_int(FIRST, maximum=MAX_POSITIONS)
    return longrope_angles(values, key, theta, positions, first, turned, tokens)


def _logits_factor(config: Config) -> float:
    return config.positive_int("dim_model_base", _BASE, maximum=parts.MAX_WIDTH) / _width(config)


def _width(config: Config) -> int:
    return config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)


_FAMILY = Family("MiniCPM3", AS_IN_JSON, _stack, logits_factor=_logits_factor, tied=True)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
