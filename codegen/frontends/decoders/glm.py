# SPDX-License-Identifier: Apache-2.0
"""GLM 4 in its first form: Llama's shape, whose angles turn two neighbours of a part of each head, with gate and up
stored as one. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_parts import read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, BlockNorms, Form, Rotation, Stack, llama_stack
from ..shared.rotary import partial_angles, said_in

MODEL_TYPE = "glm"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
# Where the configuration does not say them.
_HEAD_WIDTH, _KEY_HEADS, _THETA, _PART, _EPSILON = 128, 2, 10_000.0, 0.5, 1.5625e-7


def glm_stack(
    config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, norms: BlockNorms
) -> Stack:
    """Of all models of the family, by the names of their norms."""
    form = Form(
        Biases(config.flag("attention_bias", True), attention_output=False, feed_forward=False),
        head_width=_HEAD_WIDTH,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        norms=norms,
        pairs=True,
        one_gate="mlp.gate_up_proj",
    )
    width = read_sizes(config, tensors, _HEAD_WIDTH, key_heads=_KEY_HEADS).head_width
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles, turned = partial_angles(*said_in(config), usual, positions, width)
    return llama_stack(config, tensors, prefix, vocabulary, Rotation(angles, tokens, turned).seen, form)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return glm_stack(config, tensors, prefix, vocabulary, tokens, BlockNorms())


FAMILY = Family("Glm", "TokenizersBackend", _stack, padding=151_329, tags="score")
