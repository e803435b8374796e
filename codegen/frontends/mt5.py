# SPDX-License-Identifier: Apache-2.0
"""mT5: version 1.1 of T5 for many languages; its class never scales what logits are made of. Names as in
`transformers`."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import t5

MODEL_TYPE = "mt5"
HARMLESS_KEYS = t5.HARMLESS_KEYS
_CLASS = "MT5ForConditionalGeneration"
_MT5 = t5.Class(feed_forward="gated-gelu", may_scale=False)


def read_limits(config: Config) -> Limits:
    """As T5's."""
    return t5.read_limits(config)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As T5's."""
    return t5.build_writer(checkpoint, _CLASS, graph_of, max_tokens)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As T5's."""
    return t5.build_encoder_decoder(config, tensors, (max_source, max_target), generation, _MT5)
