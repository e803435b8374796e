# SPDX-License-Identifier: Apache-2.0
"""The encoder of BertGeneration (Rothe et al., 2020, arXiv:1907.12461), for embeddings: BERT without segments and
without a pooler. Its decoder is not read. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Embed, Graph, Term
from ..load.checkpoint import Checkpoint
from ..load.config import Config
from ..load.limits import Limits, usual_limits
from .bases import bert_like
from .bases.architecture import check_class
from .bases.heads import read_head
from .shared import parts

MODEL_TYPE = "bert-generation"
ENCODER = "BertGenerationEncoder"
_WORDS, _POSITIONS, _NORM = (f"embeddings.{name}" for name in ("word_embeddings", "position_embeddings", "LayerNorm"))


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
    prefix = parts.prefix_of(checkpoint, "bert.", bert_like.WORDS)  # of files whose other half was cut off
    tensors.ignore(f"{prefix}embeddings.position_ids")  # 0, 1, 2, ...: a buffer of older files, not a weight
    words, positions = (
        parts.parameter(tensors, name.rpartition(".")[2], f"{prefix}{name}.weight", (entries, shape.hidden))
        for name, entries in ((_WORDS, limits.vocabulary), (_POSITIONS, limits.positions))
    )
    body = (
        Embed((Term(words, "ids"), Term(positions, "positions")), "hidden"),
        parts.layer_norm(tensors, "embedding_norm", [f"{prefix}{_NORM}"], shape.hidden, shape.epsilon, "hidden"),
        bert_like.encoder_layers(config, tensors, prefix, shape),
    )
    head, widths, result, notes = read_head(checkpoint, ENCODER, "hidden", shape.hidden, None, body=body)
    tensors.finish()
    return Graph(widths | shape.widths, body + head, (result,), limits.vocabulary, parts.SEGMENTS, max_tokens, notes)
