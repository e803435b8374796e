# SPDX-License-Identifier: Apache-2.0
"""BigBird (Zaheer et al., 2020, arXiv:2007.14062) with full attention, which the library, too, has for short texts
where the configuration says block-sparse: then longer ones are refused. Names as in `transformers`.

It is BERT with RoBERTa's head and a tokenizer of SentencePiece. Its class that answers questions has layers of its own.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ...ir.graph import Embed, Graph, Node
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.prediction_head import Prediction

MODEL_TYPE = "big_bird"
NAME = "BigBird"
# Of block-sparse attention.
HARMLESS_KEYS = frozenset(("block_size", "num_random_blocks"))
_HEADS = ("BigBirdForMaskedLM", "BigBirdForMultipleChoice", "BigBirdForTokenClassification")
_PREFIX = "bert."
_FULL, _SPARSE = "original_full", "block_sparse"


def read_limits(config: Config) -> Limits:
    """Behind as many tokens as a row of blocks attends to, block-sparse attention begins."""
    return of_full_attention(config, usual_limits(config, "BigBirdTokenizer"))


def of_full_attention(config: Config, limits: Limits) -> Limits:
    """Those of a model, of texts that are not too long for it."""
    kind = config.text("attention_type", _SPARSE)
    if kind not in (_FULL, _SPARSE):
        raise parts.refuse("config-value", f"attention_type '{kind}' is not supported (supported: {_FULL}, {_SPARSE})")
    if kind == _FULL:
        return limits
    blocks = 5 + 2 * config.natural_int("num_random_blocks", 3, maximum=parts.MAX_WIDTH)
    longest = blocks * config.positive_int("block_size", 64, maximum=parts.MAX_WIDTH)
    if limits.positions <= longest:
        return limits
    key = f"(5 + 2 * num_random_blocks) * block_size: longer texts would have attention_type {_SPARSE}"
    return replace(limits, positions=longest, positions_key=key)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME, pre_training=("ForMaskedLM",), others=_HEADS)
    bert_like.check_encoder_only(config)
    limits = read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions, limits.positions_key)
    tables = bert_like.read_tables(config)
    shape = replace(bert_like.read_shape(config, "gelu_new"), input_bias=config.flag("use_bias", True))
    prefix = tensors.below(_PREFIX)
    prediction = Prediction.as_bert("cls.predictions", "cls.predictions.transform", shape, shape.hidden)
    prediction.giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    body = bert_like.encoder_body(config, tensors, prefix, tables, shape, bert_like.BERT)
    if config.flag("rescale_embeddings", False):
        body = _scaled(body, math.sqrt(shape.hidden))
    dense = ("classifier_dense", "classifier.dense", shape.activation)
    encoder = Encoder(body, shape.widths, tables.vocabulary, tables.segments)
    heads = FamilyHeads(
        Classifier("classifier.out_proj", dense, ("pooler", f"{prefix}pooler", "tanh")),
        prediction,
        # The classes make a pooler that most heads do not use.
        unread=(f"{prefix}pooler.weight", f"{prefix}pooler.bias", "cls.seq_relationship.*"),
    )
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _scaled(body: tuple[Node, ...], factor: float) -> tuple[Node, ...]:
    """The words, which are the embedding's first term, times a factor."""
    embedding, *layers = body
    assert isinstance(embedding, Embed)
    words, *others = embedding.terms
    return (replace(embedding, terms=(replace(words, factor=factor), *others)), *layers)
