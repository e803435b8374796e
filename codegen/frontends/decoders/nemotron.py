# SPDX-License-Identifier: Apache-2.0
"""Nemotron: Llama's shape with layer norms that multiply by 1 + weight, a part of each head turned, and no gate but
squares behind the activation. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared.computed import one_more
from ..shared.llama_parts import read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack, with_squares
from ..shared.rotary import partial_angles, said_in

MODEL_TYPE = "nemotron"
HARMLESS_KEYS = frozenset({"attention_dropout", "hidden_dropout"})  # training's
_THETA, _PART, _EPSILON = 10_000.0, 0.5, 1e-5  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    sizes = read_sizes(config, tensors, None)
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles, turned = partial_angles(*said_in(config), usual, positions, sizes.head_width)
    form = Form(
        Biases.said_in(config),
        epsilon=_EPSILON,
        gamma_of=one_more,
        layer_norms=True,
        epsilon_key="norm_eps",
    )
    seen_by = Rotation(angles, tokens, turned).seen
    return llama_stack(config, tensors, prefix, vocabulary, seen_by, with_squares(config, form))


FAMILY = Family("Nemotron", AS_IN_JSON, _stack, own_masks=True, tags="score")
