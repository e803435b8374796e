# SPDX-License-Identifier: Apache-2.0
"""GLM 4.5 to 4.7, with experts as DeepSeek-V3 chooses them: Llama's shape, of which a part of each head is turned.
Names as in `transformers`, which has no classifier of it. What guesses tokens beyond the next one is left aside."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts
from ..shared.llama_parts import read_sizes
from ..shared.llama_stack import (
    HEAD_NORMS,
    MAX_POSITIONS,
    POSITIONS,
    Biases,
    Form,
    Rotation,
    Stack,
    llama_stack,
)
from ..shared.rotary import partial_angles, said_in
from ..shared.sigmoid_experts import Usual, mixture_in

MODEL_TYPE = "glm4_moe"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout", "num_mtp_layers", "num_nextn_predict_layers"}
# Where the configuration does not say them.
_USUAL = Usual(experts=128, top=8, inner=1408, beside=1)
_HEADS, _KEY_HEADS, _INNER, _DENSE, _EPSILON, _THETA, _PART = 96, 8, 10_944, 1, 1e-5, 10_000.0, 0.5


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    form = Form(
        Biases(config.flag("attention_bias", False), attention_output=False, feed_forward=False),
        head_norms=HEAD_NORMS if config.flag("use_qk_norm", False) else None,
        heads=_HEADS,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        inner=_INNER,
        mixture=mixture_in(config, _USUAL, experts.first_dense(config, "first_k_dense_replace", _DENSE)),
    )
    sizes = read_sizes(config, tensors, None, _HEADS, _KEY_HEADS, _INNER)
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles, turned = partial_angles(*said_in(config), usual, positions, sizes.head_width)
    tensors.ignore(f"{prefix}layers.{sizes.layers}.*")
    return llama_stack(config, tensors, prefix, vocabulary, Rotation(angles, tokens, turned).seen, form)


FAMILY = Family("Glm4Moe", "TokenizersBackend", _stack)
