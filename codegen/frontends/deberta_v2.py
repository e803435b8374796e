# SPDX-License-Identifier: Apache-2.0
"""DeBERTa-v2 and v3: scores by content and by relative position, disentangled. Names as in `transformers`.

A padding token that a text spells out counts as any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..ir.graph import Attention, Embed, Graph, Layers, Linear, Node, Norm, Op, Parameter, Term
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.limits import Limits, usual_limits
from ..load.refusal import shown
from ..load.safetensors import TensorFile
from . import bert_like, parts
from .classifier_head import classifier_head
from .encoder_layer import LayerNames, LayerShape, post_norm_layer
from .heads import read_head
from .prediction_head import Prediction
from .relative import embedding_rows, log_bucket, projected

MODEL_TYPE = "deberta-v2"
CLASSIFIER = "DebertaV2ForSequenceClassification"
ENCODER = "DebertaV2Model"
HARMLESS_KEYS = frozenset(("cls_dropout", "conv_act", "conv_groups", "legacy", "pooler_dropout"))
_KEYS, _QUERIES = "c2p", "p2c"  # what pos_att_type calls content to position, with relative keys, and the reverse
_LAYER = LayerNames(
    query="attention.self.query_proj",
    key="attention.self.key_proj",
    value="attention.self.value_proj",
    attention_output="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    intermediate="intermediate.dense",
    output="output.dense",
    output_norm="output.LayerNorm",
)


def read_limits(config: Config) -> Limits:
    """By the usual keys."""
    return replace(usual_limits(config), tokenizer_class="DebertaV2Tokenizer")


@dataclass(frozen=True)
class _Relative:
    """How scores depend on distances."""

    kinds: tuple[str, ...]  # of _KEYS and _QUERIES: by how many the scores are scaled
    used: bool  # relative_attention
    buckets: int  # 0: every distance is one
    farthest: int
    shares: bool  # projections are those of the content

    @property
    def span(self) -> int:
        """Rows of the embedding for one direction."""
        return self.buckets or self.farthest

    def row(self, distance: int) -> int:
        """Of the embedding, for query position - key position."""
        place = log_bucket(distance, self.buckets, self.farthest) if self.buckets else distance
        return min(max(place + self.span, 0), 2 * self.span - 1)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors, sentence = checkpoint.config, checkpoint.tensors, checkpoint.sentence
    parts.check_architecture(config, encoder=ENCODER, classifier=CLASSIFIER, sentence=sentence is not None)
    bert_like.check_encoder_only(config)
    shape, limits = _read_shape(config), read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    prefix = "deberta." if sentence is None or f"deberta.{bert_like.WORDS}" in tensors else ""
    embedding, widths, segments = _embedding(config, tensors, prefix, shape, limits)
    body = (*embedding, _layers(config, tensors, f"{prefix}encoder.", shape, max_tokens))
    dense = ("pooler", "pooler.dense", _pooler_activation(config))
    head, more, result, notes = read_head(
        checkpoint,
        CLASSIFIER,
        "hidden",
        shape.hidden,
        lambda: classifier_head(config, tensors, "hidden", shape.hidden, "classifier", dense),
        body=body,
        prediction=_prediction(config, shape),
        pooled=lambda source, task: classifier_head(config, tensors, "hidden", shape.hidden, source, dense, task=task),
    )
    tensors.finish()
    widths |= shape.widths | more
    return Graph(widths, body + head, (result,), limits.vocabulary, segments, max_tokens, notes)


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
    for key, only in (
        ("attention_head_size", shape.hidden // shape.heads),
        ("pooler_hidden_size", shape.hidden),
    ):
        if config.positive_int(key, only) != only:
            raise parts.refuse("width-not-supported", f"{key} {config.values[key]}: only {only} is supported")
    if config.natural_int("conv_kernel_size", 0):
        raise parts.refuse(
            "convolution-not-supported",
            f"conv_kernel_size is {config.values['conv_kernel_size']}: a convolution beside the first layer is not "
            "supported",
        )
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
    tensors.ignore(f"{embeddings}position_ids", f"{embeddings}position_embeddings.weight")
    body: tuple[Node, ...] = (Embed(tuple(terms), value),)
    if value != "hidden":
        source, sizes = [f"{embeddings}embed_proj"], (shape.hidden, width)
        body += (parts.linear(tensors, "embedding_projection", source, sizes, value, "hidden", bias=False),)
    norm = parts.layer_norm(
        tensors, "embedding_norm", [f"{embeddings}LayerNorm"], shape.hidden, shape.epsilon, "hidden"
    )
    return (*body, norm), {value: width}, segments or parts.SEGMENTS


def _layers(config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, max_tokens: int) -> Layers:
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    prefixes = [f"{prefix}layer.{i}." for i in range(count)]
    relative = _read_relative(config)
    body = post_norm_layer(tensors, prefixes, _LAYER, shape)
    norm = None
    if "layer_norm" in [word.strip() for word in config.text("norm_rel_ebd", "none").lower().split("|")]:
        norm = parts.layer_norm(tensors, "relative_norm", [f"{prefix}LayerNorm"], shape.hidden, shape.epsilon, "")
    plain = Attention("query", "key", "value", "context", shape.heads)
    attention = _attention(tensors, prefix, prefixes, relative, norm, body, plain, max_tokens)
    return Layers("encoder_layer", count, tuple(attention if isinstance(op, Attention) else op for op in body))


def _read_relative(config: Config) -> _Relative:
    kinds = _kinds(config)
    used = config.flag("relative_attention", False)
    farthest = config.values.get("max_relative_positions", -1)
    if type(farthest) is not int or farthest < 1:
        farthest = config.positive_int("max_position_embeddings", maximum=parts.MAX_WIDTH)
    buckets = config.values.get("position_buckets", -1)
    buckets = buckets if type(buckets) is int and buckets > 0 else 0
    if max(farthest, buckets) > parts.MAX_WIDTH or buckets == 1 or (buckets and farthest - 1 <= buckets // 2):
        raise parts.refuse(
            "buckets-out-of-range",
            f"position_buckets {buckets} for distances up to {farthest}: expected 2 or more, half of them for less",
        )
    return _Relative(kinds, used, buckets, farthest, config.flag("share_att_key", False))


def _kinds(config: Config) -> tuple[str, ...]:
    """In files of the first years one text with bars."""
    value = config.values.get("pos_att_type") or []
    words = [word.strip() for word in value.lower().split("|")] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise parts.refuse("config-type", f"'pos_att_type' must be a list of strings, got {shown(value)}")
    return tuple(kind for kind in (_KEYS, _QUERIES) if kind in words)


def _attention(
    tensors: TensorFile,
    prefix: str,
    prefixes: list[str],
    relative: _Relative,
    norm: Norm | None,
    body: tuple[Op, ...],
    plain: Attention,
    max_tokens: int,
) -> Attention:
    """Scores are scaled by the number of their terms, whether these are computed or not."""
    by_name = {op.name: op for op in body if isinstance(op, Linear)}
    hidden = by_name["query"].weight.shape[0]
    scaled = replace(plain, scale=1 / math.sqrt(hidden // plain.heads * (1 + len(relative.kinds))))
    if not relative.kinds:
        scaled = plain
    if not relative.used:
        return scaled
    embedding = tensors.take(f"{prefix}rel_embeddings.weight", (2 * relative.span, hidden))
    if not relative.kinds:
        return scaled
    # By distance key - query; only what texts of max_tokens can have.
    by_distance = [relative.row(-distance) for distance in range(1 - max_tokens, max_tokens)]
    used = list(dict.fromkeys(by_distance))
    rows = embedding_rows(embedding, used, norm)
    tables: dict[str, Parameter] = {}
    for kind, name, content, own in (
        (_KEYS, "relative_keys", "key", "pos_key_proj"),
        (_QUERIES, "relative_queries", "query", "pos_query_proj"),
    ):
        if kind in relative.kinds:
            projection = by_name[content]
            if not relative.shares:
                sources = [f"{each}attention.self.{own}" for each in prefixes]
                projection = parts.linear(tensors, name, sources, (hidden, hidden), "", "")
            tables[name] = projected(name, rows, len(used), projection.weight, projection.bias)
    places = {row: index for index, row in enumerate(used)}
    return replace(scaled, relative_rows=tuple(places[row] for row in by_distance), **tables)
