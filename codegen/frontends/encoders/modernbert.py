# SPDX-License-Identifier: Apache-2.0
"""ModernBERT: an encoder with the head of one of its classes, or of sentence-transformers. Names as in
`transformers`."""

from __future__ import annotations

from functools import partial

from ...ir.graph import Graph, Node, Pooling
from ...ir.task import Task
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..bases.architecture import check_architecture
from ..bases.heads import Encoder, FamilyHeads, graph_with_head, head_class
from ..shared import modernbert_parts, parts
from ..shared.classifier_head import POOLED, classifier_head
from ..shared.layer_kinds import windows_by_kind
from ..shared.masks import masks_both_ways
from ..shared.modernbert_parts import WORDS, Parts, Shape, dense_and_norm, head_norm, read_shape, tables_of
from ..shared.prediction_head import Prediction
from ..shared.rotary import limits_of
from ..shared.rows import HeadOps

MODEL_TYPE = "modernbert"
NAME = "ModernBert"
HARMLESS_KEYS = modernbert_parts.HARMLESS_KEYS
_PREFIX = "model."
_POOLING: dict[str, Pooling] = {"cls": "first", "mean": "mean"}


def read_limits(config: Config) -> Limits:
    """Without a class, `transformers` takes tokenizer.json as it is."""
    return limits_of(config, "TokenizersBackend")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    limits, shape = read_limits(config), read_shape(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    parts.check_layers(tensors, len(shape.kinds))
    prefix = tensors.below(_PREFIX)
    prediction = Prediction(
        dense="head.dense",
        norm="head.norm",
        bias="decoder.bias",
        decoder="decoder",
        activation=parts.activation_of(config, "classifier_activation"),
        epsilon=shape.epsilon,
        width=shape.hidden,
        dense_bias=config.flag("classifier_bias", False),
        norm_bias=shape.norm_bias,
        decoder_bias=config.flag("decoder_bias", True),
    ).giving_words(checkpoint, f"{prefix}{WORDS}")
    tables = tables_of(config, shape, limits.positions, max_tokens)
    part = Parts(
        tensors, prefix, shape, tables, lambda kinds: masks_both_ways(windows_by_kind(kinds, shape.window)), "Wqkv"
    )
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (limits.vocabulary, shape.hidden))
    body: tuple[Node, ...] = part.rows(words)
    value = "hidden"
    if checkpoint.sentence is None and head_class(config, NAME) in ("ForTokenClassification", "ForQuestionAnswering"):
        value = "classified"  # of every row what a sequence classifier has of one
        body += dense_and_norm(config, tensors, shape, "head", value)
    classifier = partial(_classifier, config, tensors, shape)
    encoder = Encoder(body, part.widths | {value: shape.hidden}, limits.vocabulary, value=value)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, FamilyHeads(classifier, prediction, classifier))


def _classifier(
    config: Config, tensors: TensorFile, shape: Shape, source: str = "classifier", task: Task | None = None
) -> HeadOps:
    pooling = config.text("classifier_pooling", "cls")
    if pooling not in _POOLING:
        raise parts.refuse("pooling-not-supported", f"classifier_pooling '{pooling}' (supported: cls, mean)")
    activation = parts.activation_of(config, "classifier_activation")
    dense = ("classifier_dense", "head.dense", activation)
    return classifier_head(
        config,
        tensors,
        "hidden",
        shape.hidden,
        source,
        dense,
        dense_bias=config.flag("classifier_bias", False),
        norm=head_norm(tensors, shape, "head", POOLED),
        pooling=_POOLING[pooling],
        task=task,
    )
