# SPDX-License-Identifier: Apache-2.0
"""Phi 3 and Phi 4 mini: Llama's shape without biases, linears of the same rows stored as one, a part of each head
turned, angles for long texts. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_parts import read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack, window_in
from ..shared.longrope import FIRST, longrope_angles
from ..shared.masks import masks_of_past
from ..shared.rotary import kind_of, partial_angles, said_in, turned_in

MODEL_TYPE = "phi3"
# Training's, and those of the files' own code, which the library does not read.
_HARMLESS = """
    attention_bias attention_dropout embd_pdrop full_attn_mod interpolate_factor lm_head_bias mlp_bias resid_pdrop
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_THETA, _PART, _EPSILON, _POSITIONS = 10_000.0, 1.0, 1e-5, 4096  # where the configuration does not say them
_LONG = ("longrope", "su", "yarn")  # what the library reads all three as: first files call it otherwise
_FORM = Form(
    Biases(attention_inputs=False, attention_output=False, feed_forward=False),
    epsilon=_EPSILON,
    one_input=True,
    one_gate="mlp.gate_up_proj",
)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    rotation = _rotation(config, read_sizes(config, tensors, None).head_width, tokens)
    return llama_stack(config, tensors, prefix, vocabulary, rotation.seen, _FORM)


def _rotation(config: Config, width: int, tokens: int) -> Rotation:
    values, key = said_in(config, beside=True)
    kind = kind_of(Config.from_json(values))
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    masks = masks_of_past([window_in(config)], tokens)
    first = config.positive_int(FIRST, _POSITIONS, maximum=MAX_POSITIONS)
    theta, part = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    if kind in _LONG:
        turned = turned_in(values, part, width)
        angles = longrope_angles(values, key, theta, positions, first, turned, tokens)
        return Rotation(angles, tokens, turned, masks=masks)
    if kind != "default":
        raise parts.refuse("rotary-not-supported", f"{key} is of another type than default and longrope")
    angles, turned = partial_angles(values, key, (theta, part), positions, width)
    return Rotation(angles, tokens, turned, masks=masks)


FAMILY = Family("Phi3", AS_IN_JSON, _stack, padding=32_000, tags="score")
