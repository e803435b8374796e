# SPDX-License-Identifier: Apache-2.0
"""Qwen2 and 2.5: Llama's shape with biases of queries, keys and values. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import llama, parts
from .llama_stack import Biases
from .target import build_decoder_alone

MODEL_TYPE = "qwen2"
_CLASS = "Qwen2ForCausalLM"
_BIASES = Biases(attention_inputs=True, attention_output=False, feed_forward=False)
# Training's; of a window, which is refused where it is used.
HARMLESS_KEYS = frozenset({"attention_dropout", "max_window_layers", "sliding_window"})


def read_limits(config: Config) -> Limits:
    """As Llama's."""
    return llama.limits_of(config, "Qwen2Tokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As Llama's."""
    return build_decoder_alone(checkpoint, _CLASS, graph_of, max_tokens, read_limits(checkpoint.config).positions)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As Llama's."""
    kinds = config.values.get("layer_types") or ()
    if config.flag("use_sliding_window", False) or "sliding_attention" in kinds:
        raise parts.refuse("config-not-supported", "use_sliding_window or layer_types: attention in a window")
    return llama.build_decoder(config, tensors, (max_source, max_target), _BIASES, generation)
