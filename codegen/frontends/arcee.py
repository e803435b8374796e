# SPDX-License-Identifier: Apache-2.0
"""Arcee: Llama's shape with no gate but squares behind the activation. Names as in `transformers`."""

from __future__ import annotations

from ..load.config import Config
from ..load.safetensors import TensorFile
from .bases.decoder_family import Family
from .shared.llama_stack import Biases, Form, Stack, causal_stack

MODEL_TYPE = "arcee"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_ACTIVATION, _SQUARED = "hidden_act", "relu2"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    form = Form(
        Biases.said_in(config),
        epsilon=1e-5,
        activation=_SQUARED,
        activation_key=_ACTIVATION,
        renamed={_SQUARED: "relu"},
        squared=config.text(_ACTIVATION, _SQUARED) == _SQUARED,
        ungated=("mlp.up_proj", "mlp.down_proj"),
    )
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


_FAMILY = Family("Arcee", "TokenizersBackend", _stack)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
