# SPDX-License-Identifier: Apache-2.0
"""BitNet (Ma et al., 2024, arXiv:2402.17764) with weights of floats: Llama's shape with norms also of what the last
linears of attention and feed-forward read. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.llama_stack import Biases, BlockNorms, Form, Stack, causal_stack

MODEL_TYPE = "bitnet"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_SQUARED = "relu2"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    attention = config.flag("attention_bias", False)
    form = Form(
        Biases(attention_inputs=attention, attention_output=attention, feed_forward=False),
        epsilon=1e-5,
        theta=500_000.0,
        norms=BlockNorms(in_attention="self_attn.attn_sub_norm", in_feed_forward="mlp.ffn_sub_norm"),
        activation=_SQUARED,
        renamed={_SQUARED: "relu"},
        squared=config.text("hidden_act", _SQUARED) == _SQUARED,
    )
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


_FAMILY = Family("BitNet", "TokenizersBackend", _stack)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
