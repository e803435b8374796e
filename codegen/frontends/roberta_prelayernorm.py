# SPDX-License-Identifier: Apache-2.0
"""RoBERTa with norms before attention and feed-forward, as in fairseq (`--encoder-normalize-before`), and a last one
behind the layers. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from . import roberta
from .bases import bert_like

MODEL_TYPE = "roberta-prelayernorm"
NAME = "RobertaPreLayerNorm"
_FORM = bert_like.Form(
    replace(bert_like.LAYER, attention_norm="attention.LayerNorm", output_norm="intermediate.LayerNorm"),
    pre_norm=True,
    last_norm="LayerNorm",
)

read_limits = roberta.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    return roberta.graph_of(checkpoint, max_tokens, NAME, "roberta_prelayernorm.", _FORM)
