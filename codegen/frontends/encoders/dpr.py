# SPDX-License-Identifier: Apache-2.0
"""DPR (Karpukhin et al., 2020, doi:10.18653/v1/2020.emnlp-main.550): a BERT for questions or one for contexts, the
first row of which is the embedding, maybe through a linear. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ..bases import bert_like
from ..bases.architecture import check_class
from ..shared import parts
from ..shared.embedding_head import check_no_rows, embedding_head

MODEL_TYPE = "dpr"
_PREFIXES = {"DPRQuestionEncoder": "question_encoder.", "DPRContextEncoder": "ctx_encoder."}
_USUAL = "DPRQuestionEncoder"  # which AutoModel makes
_POOLER = "bert_model.pooler.dense.*"  # in files before `transformers` 4.8, which nothing reads


def read_limits(config: Config) -> Limits:
    """By the usual keys."""
    return replace(usual_limits(config), names_labels=False)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    prefix = tensors.below(_PREFIXES[_encoder(config)])
    check_no_rows(checkpoint, _encoder(config))
    bert_like.check_encoder_only(config)
    shape, tables = bert_like.read_shape(config), bert_like.read_tables(config)
    parts.check_max_tokens(max_tokens, tables.positions)
    body = bert_like.encoder_body(config, tensors, f"{prefix}bert_model.", tables, shape, bert_like.BERT)
    outputs = config.natural_int("projection_dim", 0, maximum=parts.MAX_WIDTH)
    projection = f"{prefix}encode_proj" if outputs else None
    head, widths, result = embedding_head(tensors, "first", "hidden", shape.hidden, projection, outputs)
    notes = parts.left_out(tensors, f"{prefix}{_POOLER}", by=_encoder(config))
    tensors.finish()
    widths |= shape.widths
    return Graph(widths, body + head, (result,), tables.vocabulary, tables.segments, max_tokens, notes)


def _encoder(config: Config) -> str:
    """The class that the folder was saved from."""
    check_class(config, *_PREFIXES)
    return next((name for name in _PREFIXES if name in config.architectures), _USUAL)
