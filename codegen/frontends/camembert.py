# SPDX-License-Identifier: Apache-2.0
"""CamemBERT: RoBERTa with a SentencePiece tokenizer. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from ..load.config import Config
from ..load.limits import Limits
from . import roberta

MODEL_TYPE = "camembert"
NAME = "Camembert"


def read_limits(config: Config) -> Limits:
    """As RoBERTa's."""
    return roberta.limits_of(config, "CamembertTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    return roberta.graph_of(checkpoint, max_tokens, NAME)
