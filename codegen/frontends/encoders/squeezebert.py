# SPDX-License-Identifier: Apache-2.0
"""SqueezeBERT (Iandola et al., 2020, arXiv:2006.11316): an encoder with the head of one of its classes, or of
sentence-transformers. Names as in `transformers`.

It is BERT whose linears in layers are convolutions over one place, whose outputs are made of a group of the inputs.
They are stored as whole matrices here, with zeros for the other inputs: as large, and as fast, as BERT's.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ..bases import bert_like
from ..shared import parts
from ..shared.encoder_layer import LayerNames

MODEL_TYPE = "squeezebert"
_LAYER = LayerNames(
    query="attention.query",
    key="attention.key",
    value="attention.value",
    attention_output="post_attention.conv1d",
    attention_norm="post_attention.layernorm",
    intermediate="intermediate.conv1d",
    output="output.conv1d",
    output_norm="output.layernorm",
)
# Of each linear the key, and what it is without one.
_GROUPS = {
    "query": ("q_groups", 4),
    "key": ("k_groups", 4),
    "value": ("v_groups", 4),
    "attention_output": ("post_attention_groups", 1),
    "intermediate": ("intermediate_groups", 4),
    "output": ("output_groups", 4),
}
_EPSILON = 1e-12  # of norms in layers, whatever the configuration says


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config = checkpoint.config
    groups = {name: config.positive_int(key, usual, maximum=parts.MAX_WIDTH) for name, (key, usual) in _GROUPS.items()}
    _check_width(config)
    form = bert_like.Form(layers="encoder.layers.", layer=_LAYER, layer_epsilon=_EPSILON, groups=groups)
    graph = bert_like.Family("SqueezeBert", "transformer.", form).build_graph(checkpoint, max_tokens)
    if max(groups.values()) == 1:
        return graph
    return replace(graph, notes=(*graph.notes, "convolutions in groups are stored whole, with zeros between groups"))


def _check_width(config: Config) -> None:
    width, hidden = config.positive_int("embedding_size", 768), config.positive_int("hidden_size", 768)
    if width != hidden:
        raise parts.refuse("config-value", f"embedding_size is {width}, not hidden_size {hidden}")
