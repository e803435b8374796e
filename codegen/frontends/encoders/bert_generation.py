# SPDX-License-Identifier: Apache-2.0
"""The encoder of BertGeneration (Rothe et al., 2020, arXiv:1907.12461), for embeddings: BERT without segments and
without a pooler. With its decoder it is a half of an `encoder-decoder`. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ..bases import bert_like
from ..bases.architecture import check_class
from ..bases.heads import Encoder, FamilyHeads, graph_with_head
from ..shared import parts

MODEL_TYPE = "bert-generation"
ENCODER = "BertGenerationEncoder"


def read_limits(config: Config) -> Limits:
    """As BERT's, with a tokenizer of its own."""
    return usual_limits(config, "BertGenerationTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_class(config, ENCODER)
    if checkpoint.sentence is None:
        message = f"{ENCODER} gives one vector per token: modules.json of sentence-transformers is missing; or say "
        raise parts.refuse("modules-missing", f"{message}--pooling mean")
    bert_like.check_no_decoder(config)
    shape, limits = bert_like.read_shape(config), read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    prefix = tensors.below("bert.")  # of files whose other half was cut off
    tables = bert_like.Tables(limits.vocabulary, limits.positions, segments=0)
    body = bert_like.encoder_body(config, tensors, prefix, tables, shape, bert_like.BERT)
    encoder = Encoder(body, shape.widths, limits.vocabulary)
    return graph_with_head(checkpoint, max_tokens, "BertGeneration", encoder, FamilyHeads())
