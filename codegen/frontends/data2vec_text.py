# SPDX-License-Identifier: Apache-2.0
"""data2vec's encoder of texts (Baevski et al., 2022, arXiv:2202.03555): RoBERTa with names of its own."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from . import roberta

MODEL_TYPE = "data2vec-text"
NAME = "Data2VecText"

read_limits = roberta.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    return roberta.graph_of(checkpoint, max_tokens, NAME, "data2vec_text.")
