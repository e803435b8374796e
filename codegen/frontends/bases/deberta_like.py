# SPDX-License-Identifier: Apache-2.0
"""What DeBERTa and its versions 2 and 3 share: the embedding, heads, tensor names. Names as in `transformers`.

A padding token that a text spells out counts as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...ir.graph import Embed, Graph, Layers, Node, Op, Parameter, Term
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from . import bert_like
from .architecture import check_architecture
from .heads import Classifier, Encoder, FamilyHeads, graph_with_head

HARMLESS_KEYS = frozenset(("legacy", "pooler_dropout"))
# Of the prefix of the encoder's tensors, those of its layers, their shape, and the tokens of the longest text.
LayerOf = Callable[[Config, TensorFile, str, list[str], LayerShape, int], tuple[Op, ...]]


@dataclass(frozen=True)
class Family:
    """What a version has of its own."""

    name: str  # of its classes
    tokenizer_class: str
    layer: LayerOf

    def read_limits(self, config: Config) -> Limits:
        """By the usual keys."""
        return usual_limits(config, self.tokenizer_class)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        return _graph_of(checkpoint, max_tokens, self)


def check_only(config: Config, key: str, only: int) -> None:
    """A width that other models of the library could have."""
    if config.positive_int(key, only) != only:
        raise parts.refuse("width-not-supported", f"{key} {config.values[key]}: only {only} is supported")


def _graph_of(checkpoint: Checkpoint, max_tokens: int, family: Family) -> Graph:
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, family.name)
    bert_like.check_encoder_only(config)
    shape, limits = _read_shape(config), family.read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    prefix = tensors.below("deberta.")
    prediction = _prediction(config, shape).giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    embedding, widths, segments = _embedding(config, tensors, prefix, shape, limits)
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    of = f"{prefix}encoder."
    layers = family.layer(config, tensors, of, [f"{of}layer.{i}." for i in range(count)], shape, max_tokens)
    body = (*embedding, Layers("encoder_layer", count, layers))
    classifier = Classifier("classifier", ("pooler", "pooler.dense", _pooler_activation(config)))
    encoder = Encoder(body, widths | shape.widths, limits.vocabulary, segments)
    # Published files have what told replaced words beside what predicts them.
    heads = FamilyHeads(classifier, prediction, left_out=("mask_predictions.*",))
    return graph_with_head(checkpoint, max_tokens, family.name, encoder, heads)


def _pooler_activation(config: Config) -> str:
    key = "pooler_hidden_act"
    return "tanh" if config.text(key, "gelu") == "tanh" else parts.activation_of(config, key)


def _prediction(config: Config, shape: LayerShape) -> Prediction:
    """BERT's form, or that of the paper's own code, which is as wide as the encoder and has no decoder of its own."""
    if config.flag("legacy", True):
        width = _embedding_width(config, shape)
        return Prediction.as_bert("cls.predictions", "cls.predictions.transform", shape, width)
    return Prediction.as_bert("lm_predictions.lm_head", "lm_predictions.lm_head", shape, shape.hidden)


def _embedding_width(config: Config, shape: LayerShape) -> int:
    return config.positive_int("embedding_size", shape.hidden, maximum=parts.MAX_WIDTH)


def _read_shape(config: Config) -> LayerShape:
    shape = replace(bert_like.read_shape(config), epsilon=parts.epsilon_of(config, default=1e-7))
    check_only(config, "pooler_hidden_size", shape.hidden)
    return shape


def _embedding(
    config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, limits: Limits
) -> tuple[tuple[Node, ...], dict[str, int], int]:
    """Ids to `hidden`, one row per token; the widths of other values; segments that the model can tell."""
    width = _embedding_width(config, shape)
    embeddings = f"{prefix}embeddings."
    value = "hidden" if width == shape.hidden else "embedded"

    def term(name: str, tensor: str, entries: int) -> Parameter:
        return parts.parameter(tensors, name, f"{embeddings}{tensor}.weight", (entries, width))

    terms = [Term(term("word_embeddings", "word_embeddings", limits.vocabulary), "ids")]
    if config.flag("position_biased_input", True):
        positions = term("position_embeddings", "position_embeddings", limits.positions)
        terms.append(Term(positions, "positions"))
    segments = config.natural_int("type_vocab_size", 0, maximum=256)
    if segments:
        terms.append(Term(term("segment_embeddings", "token_type_embeddings", segments), "segments"))
    tensors.ignore(f"{embeddings}position_embeddings.weight")
    body: tuple[Node, ...] = (Embed(tuple(terms), value),)
    if value != "hidden":
        source, sizes = [f"{embeddings}embed_proj"], (shape.hidden, width)
        body += (parts.linear(tensors, "embedding_projection", source, sizes, value, "hidden", bias=False),)
    norm = parts.layer_norm(
        tensors, "embedding_norm", [f"{embeddings}LayerNorm"], shape.hidden, shape.epsilon, "hidden"
    )
    return (*body, norm), {value: width}, segments or parts.SEGMENTS
