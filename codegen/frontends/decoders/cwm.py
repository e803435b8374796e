# SPDX-License-Identifier: Apache-2.0
"""CWM, the code world model: Llama's shape, of whose layers three of four have a window of the past, and Llama 3's
angles. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import FULL, SLIDING, layer_kinds
from ..shared.llama_stack import (
    MAX_POSITIONS,
    POSITIONS,
    Biases,
    Form,
    Rotation,
    Stack,
    llama_stack,
    masks_by_kind,
)
from ..shared.rotary import angles_in, said_in

MODEL_TYPE = "cwm"
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's
# Where the configuration does not say them.
_HEAD_WIDTH, _KEY_HEADS, _EPSILON, _WINDOW, _EVERY, _THETA = 128, 8, 1e-5, 8192, 4, 1e6
_ANGLES = {
    **{"rope_type": "llama3", "rope_theta": _THETA, "factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "original_max_position_embeddings": 8192,
}


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    kinds = layer_kinds(config, tuple(SLIDING if layer % _EVERY else FULL for layer in range(layers)))
    form = Form(
        Biases(attention_inputs=False, attention_output=False, feed_forward=config.flag("mlp_bias", False)),
        head_width=_HEAD_WIDTH,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
    )
    values, key = said_in(config)
    # Without an object of angles its theta does not count for the library.
    theta = config.number("rope_theta", _THETA)
    angles = angles_in(values or _ANGLES, key, theta, config.positive_int(POSITIONS, maximum=MAX_POSITIONS))
    masks = masks_by_kind(config, kinds, _WINDOW, tokens)
    return llama_stack(config, tensors, prefix, vocabulary, Rotation(angles, tokens, masks=masks).seen, form)


FAMILY = Family("Cwm", "TokenizersBackend", _stack)
