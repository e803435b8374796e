# SPDX-License-Identifier: Apache-2.0
"""Solar Open, as Solar-Open-100B: Llama's attention, and in each layer experts as DeepSeek-V3 chooses them. Names as in
`transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.llama_parts import read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack
from ..shared.rotary import partial_angles, said_in
from ..shared.sigmoid_experts import Usual, mixture_in

MODEL_TYPE = "solar_open"
# Of no layer, or training's.
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "first_k_dense_replace", "intermediate_size"}
# Where the configuration does not say them.
_USUAL = Usual(experts=128, top=8, inner=1280, beside=1)
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _EPSILON, _THETA, _PART = 64, 8, 128, 1e-5, 1e6, 1.0


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    mixture = mixture_in(config, _USUAL)
    form = Form(
        Biases(config.flag("attention_bias", False), attention_output=False, feed_forward=False),
        head_width=_HEAD_WIDTH,
        heads=_HEADS,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        inner_key="moe_intermediate_size",
        inner=mixture.inner,
        mixture=mixture,
    )
    sizes = read_sizes(config, tensors, _HEAD_WIDTH, _HEADS, _KEY_HEADS, mixture.inner)
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles, turned = partial_angles(*said_in(config), usual, positions, sizes.head_width)
    if turned != sizes.head_width:
        raise parts.refuse("rotary-not-supported", "partial_rotary_factor: the library turns heads as a whole only")
    return llama_stack(config, tensors, prefix, vocabulary, Rotation(angles, tokens).seen, form)


FAMILY = Family("SolarOpen", "TokenizersBackend", _stack)
