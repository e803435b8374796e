# SPDX-License-Identifier: Apache-2.0
"""mT5: version 1.1 of T5 for many languages; its class never scales what logits are made of. Names as in
`transformers`."""

from __future__ import annotations

from functools import partial

from ..ir.graph import Graph
from ..load.folder import Checkpoint
from . import t5
from .target import build_behind_encoder

MODEL_TYPE = "mt5"
HARMLESS_KEYS = t5.HARMLESS_KEYS
_CLASS = "MT5ForConditionalGeneration"

read_limits = t5.read_limits
graph_of = partial(t5.graph_of, of_class=t5.Class(feed_forward="gated-gelu", may_scale=False))


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As T5's."""
    positions = read_limits(checkpoint.config).positions + 1
    return build_behind_encoder(checkpoint, _CLASS, graph_of, max_tokens, positions)
