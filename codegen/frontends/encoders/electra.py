# SPDX-License-Identifier: Apache-2.0
"""ELECTRA: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`.

It is BERT with an embedding of its own width, a linear between the two where they differ, no pooler, and another head.
"""

from __future__ import annotations

from ...ir.graph import Graph, Node
from ...ir.task import Task
from ...load.checkpoint import Checkpoint
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts, sequence_summary
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from ..shared.rows import HeadOps
from ..shared.sequence_summary import summary_head

MODEL_TYPE = "electra"
NAME = "Electra"
# Of the class that chooses among several answers.
HARMLESS_KEYS = sequence_summary.KEYS
_EMBEDDING = 128  # its width, where the configuration does not say it


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    bert_like.check_encoder_only(config)
    shape, tables = bert_like.read_shape(config), bert_like.read_tables(config)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below("electra.")
    prediction = Prediction(
        dense="generator_predictions.dense",
        norm="generator_predictions.LayerNorm",
        bias="generator_lm_head.bias",
        decoder="generator_lm_head",
        activation="gelu",
        epsilon=shape.epsilon,
        width=config.positive_int("embedding_size", _EMBEDDING, maximum=parts.MAX_WIDTH),
    ).giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    body, widths = _encoder(checkpoint, prefix, shape, tables)
    # The activation of the head is gelu, whatever that of the layers is.
    dense = ("classifier_dense", "classifier.dense", "gelu")

    def summary(source: str, task: Task) -> HeadOps:
        return summary_head(config, tensors, shape.hidden, source, ("first", "gelu"), task)

    encoder = Encoder(body, widths, tables.vocabulary, tables.segments)
    heads = FamilyHeads(Classifier("classifier.out_proj", dense), prediction, summary)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _encoder(
    checkpoint: Checkpoint, prefix: str, shape: LayerShape, tables: bert_like.Tables
) -> tuple[tuple[Node, ...], dict[str, int]]:
    """Ids to `hidden`, one row per token; the widths of the values."""
    config, tensors = checkpoint.config, checkpoint.tensors
    layers = bert_like.encoder_layers(config, tensors, prefix, shape)
    embedding, widths = bert_like.embed_of_own_width(config, tensors, prefix, tables, shape, _EMBEDDING)
    return (*embedding, layers), shape.widths | widths
