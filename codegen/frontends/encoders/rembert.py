# SPDX-License-Identifier: Apache-2.0
"""RemBERT (Chung et al., 2020, arXiv:2010.12821): an encoder with the head of one of its classes, or of
sentence-transformers. Names as in `transformers`.

It is BERT with a narrow embedding, a linear between that and the layers, and words of another, wide one to predict.
"""

from __future__ import annotations

from ...ir.graph import Graph, Node
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction

MODEL_TYPE = "rembert"
NAME = "RemBert"
# The first is training's, the second of masked language models.
HARMLESS_KEYS = frozenset(("classifier_dropout_prob", "output_embedding_size"))
_PREFIX = "rembert."


def read_limits(config: Config) -> Limits:
    """By the usual keys."""
    return usual_limits(config, "RemBertTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    bert_like.check_encoder_only(config)
    shape, tables = bert_like.read_shape(config), bert_like.read_tables(config)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below(_PREFIX)
    width = config.positive_int("input_embedding_size", 256, maximum=parts.MAX_WIDTH)
    body: tuple[Node, ...] = (
        *bert_like.embed_projected(tensors, prefix, tables, width, shape, "encoder.embedding_hidden_mapping_in"),
        bert_like.encoder_layers(config, tensors, prefix, shape),
    )
    encoder = Encoder(body, shape.widths | {"embedded": width}, tables.vocabulary, tables.segments)
    heads = FamilyHeads(
        Classifier("classifier", ("pooler", f"{prefix}pooler.dense", "tanh")),
        _prediction(config, shape),
        left_out=(f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias"),
    )
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _prediction(config: Config, shape: LayerShape) -> Prediction:
    """Its table of words is not the embedding's, whatever the configuration says."""
    return Prediction(
        dense="cls.predictions.dense",
        norm="cls.predictions.LayerNorm",
        bias="cls.predictions.decoder.bias",
        decoder="cls.predictions.decoder",
        activation=shape.activation,
        epsilon=shape.epsilon,
        width=config.positive_int("output_embedding_size", 1664, maximum=parts.MAX_WIDTH),
        tied=None,
    )
