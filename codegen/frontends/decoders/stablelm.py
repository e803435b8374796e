# SPDX-License-Identifier: Apache-2.0
"""StableLM: Llama's shape with layer norms, a part of each head turned, and blocks one by one or beside each other.
Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_parts import read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack
from ..shared.rotary import partial_angles, said_in

MODEL_TYPE = "stablelm"
HARMLESS_KEYS = frozenset({"attention_dropout", "hidden_dropout"})  # training's
# Where the configuration does not say them.
_THETA, _PART, _EPSILON, _KEY_HEADS = 10_000.0, 0.25, 1e-5, 32


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    sizes = read_sizes(config, tensors, None, key_heads=_KEY_HEADS)
    if sizes.head_width * sizes.heads != sizes.width:
        raise parts.refuse("config-not-supported", "head_dim is not an even share of hidden_size")
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles, turned = partial_angles(*said_in(config), usual, positions, sizes.head_width)
    biases = Biases(config.flag("use_qkv_bias", False), attention_output=False, feed_forward=False)
    form = Form(
        biases,
        head_norms=("q_layernorm", "k_layernorm") if config.flag("qk_layernorm", False) else None,
        own_head_norms="numbered",
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        layer_norms=True,
        norm_biases="rows",
        epsilon_key="layer_norm_eps",
        parallel=config.flag("use_parallel_residual", False),
    )
    return llama_stack(config, tensors, prefix, vocabulary, Rotation(angles, tokens, turned).seen, form)


FAMILY = Family("StableLm", AS_IN_JSON, _stack, own_masks=True, tags="score")
