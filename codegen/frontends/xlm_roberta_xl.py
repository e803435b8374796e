# SPDX-License-Identifier: Apache-2.0
"""XLM-RoBERTa XL and XXL (Goyal et al., 2021, arXiv:2105.00572): norms before attention and feed-forward, none of the
embedding, and a last one behind the layers. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from ..load.config import Config
from ..load.limits import Limits
from . import roberta
from .bases import bert_like

MODEL_TYPE = "xlm-roberta-xl"
NAME = "XLMRobertaXL"
_FORM = bert_like.Form(
    replace(bert_like.LAYER, attention_norm="attention.self_attn_layer_norm", output_norm="LayerNorm"),
    embedding_norm=False,
    pre_norm=True,
    last_norm="encoder.LayerNorm",
    epsilon=1e-5,
)


def read_limits(config: Config) -> Limits:
    """As RoBERTa's; the library has no class of its own for its tokenizer, and takes tokenizer.json as it is."""
    return roberta.limits_of(config, "TokenizersBackend")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    return roberta.graph_of(checkpoint, max_tokens, NAME, form=_FORM)
