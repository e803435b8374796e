# SPDX-License-Identifier: Apache-2.0
"""Apertus: Llama's shape with norms of each head's queries and keys, and no gate but xIELU, an activation whose numbers
each layer was trained to have. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import (
    HEAD_NORMS,
    MAX_POSITIONS,
    POSITIONS,
    Biases,
    BlockNorms,
    Form,
    Rotation,
    Stack,
    llama_stack,
)
from ..shared.rotary import angles_in, said_in

MODEL_TYPE = "apertus"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_XIELU = "xielu"
_THETA = 12e6
_ANGLES = {  # where the configuration has no object of them
    **{"rope_type": "llama3", "rope_theta": _THETA, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "original_max_position_embeddings": 8192,
}


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    attention = config.flag("attention_bias", False)
    form = Form(
        Biases(attention_inputs=attention, attention_output=attention, feed_forward=False),
        head_norms=HEAD_NORMS,
        epsilon=1e-5,
        norms=BlockNorms("attention_layernorm", "feedforward_layernorm"),
        ungated=("mlp.up_proj", "mlp.down_proj"),
        trained=config.text("hidden_act", _XIELU) == _XIELU,
    )
    values, key = said_in(config)
    theta = config.number("rope_theta", _THETA)  # of an object that says none
    said = _ANGLES if key == "rope_theta" else values
    angles = angles_in(said, key, theta, config.positive_int(POSITIONS, maximum=MAX_POSITIONS))
    return llama_stack(config, tensors, prefix, vocabulary, Rotation(angles, tokens).seen, form)


_FAMILY = Family("Apertus", "TokenizersBackend", _stack, padding=3, tags="score")
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
