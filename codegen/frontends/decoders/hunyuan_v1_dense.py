# SPDX-License-Identifier: Apache-2.0
"""Hunyuan, dense: Llama's shape with norms of each head's queries and keys behind their turning, and angles of a
larger base. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.experts import Mixture
from ..shared.layer_kinds import Seen
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack
from ..shared.rotary import Angles, angles_in, kind_of, said_in, theta_in

MODEL_TYPE = "hunyuan_v1_dense"
# Training's, and a token's that the library does not read.
HARMLESS_KEYS = frozenset({"attention_dropout", "eod_token_id", "pretraining_tp"})
_THETA, _EPSILON = 10_000.0, 1e-5  # where the configuration does not say them
_MAX_ALPHA = 1e6


def stack(
    config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, mixture: Mixture | None = None
) -> Stack:
    """With experts in the place of feed-forward blocks, where there are some."""
    bias = config.flag("attention_bias", False)
    form = Form(
        Biases(bias, bias, feed_forward=False),
        head_norms=("query_layernorm", "key_layernorm"),
        norms_behind_turning=True,
        epsilon=_EPSILON,
        mixture=mixture,
    )
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)

    def seen_by(width: int) -> Seen:
        return Rotation(_angles(config, positions, width), tokens).seen(width)

    return llama_stack(config, tensors, prefix, vocabulary, seen_by, form)


def _angles(config: Config, positions: int, width: int) -> Angles:
    """Of heads of `width` values. What files call dynamic, with an alpha, is a base for texts of any length."""
    values, key = said_in(config)
    theta, settings = config.number("rope_theta", _THETA), Config.from_json(values)
    if kind_of(settings) != "dynamic" or not values.get("alpha"):
        return angles_in(values, key, theta, positions)
    alpha = settings.number("alpha")
    if not 1 / _MAX_ALPHA <= alpha <= _MAX_ALPHA:
        raise parts.refuse(
            "rotary-not-supported", f"alpha {alpha:g} of {key}: expected 1/{_MAX_ALPHA:g} to {_MAX_ALPHA:g}"
        )
    if width <= 2:
        raise parts.refuse(
            "rotary-not-supported", f"alpha of {key}: of heads of {width} values the base would be infinite"
        )
    base = theta_in(settings, key, theta) * alpha ** (width / (width - 2))
    return angles_in({"rope_theta": base}, key, theta, positions)


FAMILY = Family("HunYuanDenseV1", "TokenizersBackend", stack, padding=0)
