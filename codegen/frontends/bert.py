# SPDX-License-Identifier: Apache-2.0
"""BERT: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from .bases import bert_like

MODEL_TYPE = "bert"
NAME = "Bert"


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    return bert_like.graph_of(checkpoint, max_tokens, NAME, f"{MODEL_TYPE}.")
