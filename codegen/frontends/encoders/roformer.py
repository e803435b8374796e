# SPDX-License-Identifier: Apache-2.0
"""RoFormer (Su et al., 2021, arXiv:2104.09864): an encoder with the head of one of its classes, or of
sentence-transformers. Names as in `transformers`.

It is BERT whose queries and keys are turned by their positions, two neighbours at a time: their rows are put in another
order at generation, so that a head's first half is turned with its second. The angles are a table of the file.
"""

from __future__ import annotations

from functools import partial

from ...ir.graph import Attention, Graph, Layers, Linear, Node, Op, Parameter, Rotary
from ...ir.parameter import Array
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ...load.safetensors import TensorFile
from ..bases import bert_like, rotary_bert
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.computed import columns_of, rows_of
from ..shared.encoder_layer import LayerShape, post_norm_layer
from ..shared.pairs import by_halves
from ..shared.prediction_head import Prediction
from ..shared.rotary import check_pairs
from ..shared.sequence_summary import row_summary_head

MODEL_TYPE = "roformer"
NAME = "RoFormer"
_PREFIX = "roformer."


def read_limits(config: Config) -> Limits:
    """By the usual keys; the class that the family has parts Chinese words by a dictionary."""
    return usual_limits(config, "RoFormerTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    bert_like.check_encoder_only(config)
    if config.flag("rotary_value", False):
        raise parts.refuse("rotary-not-supported", "rotary_value is true: values that are turned, too")
    shape, tables = bert_like.read_shape(config), bert_like.read_tables(config)
    check_pairs(shape.hidden // shape.heads)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below(_PREFIX)
    width = config.positive_int("embedding_size", shape.hidden, maximum=parts.MAX_WIDTH)
    prediction = Prediction.as_bert("cls.predictions", "cls.predictions.transform", shape, width)
    prediction.giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    body: tuple[Node, ...] = (
        *_embedding(tensors, prefix, tables, width, shape),
        _layers(config, tensors, prefix, shape, tables.positions, max_tokens),
    )
    widths = shape.widths | ({} if width == shape.hidden else {"embedded": width})
    heads = FamilyHeads(
        Classifier("classifier.out_proj", ("classifier_dense", "classifier.dense", shape.activation)),
        prediction,
        partial(row_summary_head, config, tensors, shape.hidden),
    )
    return graph_with_head(
        checkpoint, max_tokens, NAME, Encoder(body, widths, tables.vocabulary, tables.segments), heads
    )


def _embedding(
    tensors: TensorFile, prefix: str, tables: bert_like.Tables, width: int, shape: LayerShape
) -> tuple[Node, ...]:
    """Words and segments, their norm, and a linear where the layers have another width."""
    projected = width != shape.hidden
    out = "embedded" if projected else "hidden"
    source = f"{prefix}{bert_like.EMBEDDING_NORM}"
    body: tuple[Node, ...] = (
        rotary_bert.embed(tensors, prefix, tables.vocabulary, tables.segments, width, out),
        parts.layer_norm(tensors, "embedding_norm", [source], width, shape.epsilon, out),
    )
    if not projected:
        return body
    mapping = f"{prefix}embeddings_project"
    return (*body, parts.linear(tensors, "embedding_projection", [mapping], (shape.hidden, width), out, "hidden"))


def _layers(
    config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, positions: int, max_tokens: int
) -> Layers:
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    prefixes = [f"{prefix}encoder.layer.{i}." for i in range(count)]
    head = shape.hidden // shape.heads
    angles = tensors.take(f"{prefix}encoder.embed_positions.weight", (positions, head))
    sines, cosines = (_half(angles, name, i, max_tokens) for i, name in enumerate(("sines", "cosines")))

    def projected(name: str, source: str) -> Linear:
        sources = [f"{of}{source}" for of in prefixes]
        return parts.linear(tensors, name, sources, (shape.hidden, shape.hidden), "hidden", name)

    context: tuple[Op, ...] = (
        by_halves(projected("query", bert_like.LAYER.query), head, head),
        by_halves(projected("key", bert_like.LAYER.key), head, head),
        projected("value", bert_like.LAYER.value),
        *(Rotary((cosines,), (sines,), shape.heads, value) for value in ("query", "key")),
        Attention("query", "key", "value", "context", shape.heads),
    )
    return Layers("encoder_layer", count, post_norm_layer(tensors, prefixes, bert_like.LAYER, shape, context=context))


def _half(angles: Array, name: str, half: int, rows: int) -> Parameter:
    """Of the table of angles, whose first half of columns is sines."""
    width = angles.shape[1] // 2
    made = rows_of(columns_of(angles, half * width, (half + 1) * width), 0, rows)
    return Parameter(f"rotary_{name}", (made,), common=True)
