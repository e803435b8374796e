# SPDX-License-Identifier: Apache-2.0
"""ModernBERT: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`.

Norms before attention and feed-forward, gated; positions by turning queries and keys; some layers see all tokens, the
others those nearby, each kind with angles of its own. The first layer has no norm before its attention, the embedding's
is just before it, so that it is no turn of the loop over the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.graph import (
    Attention,
    Embed,
    Graph,
    Layers,
    Linear,
    Multiply,
    Node,
    Norm,
    Op,
    Pooling,
    Term,
)
from ..ir.task import Task
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from .bases.architecture import check_architecture
from .bases.heads import head_class, read_head
from .shared import parts
from .shared.classifier_head import POOLED, classifier_head
from .shared.layer_kinds import (
    FULL,
    SLIDING,
    Tables,
    angles_by_kind,
    layer_kinds,
    seen_by_kind,
    tables_by_kind,
    windows_by_kind,
)
from .shared.masks import masks_both_ways
from .shared.prediction_head import Prediction
from .shared.rotary import check_pairs, limits_of
from .shared.stacked import Made, stacked_linears

MODEL_TYPE = "modernbert"
CLASSIFIER = "ModernBertForSequenceClassification"
ENCODER = "ModernBertModel"
# Dropout, how attention is run, and the head that predicts words.
HARMLESS_KEYS = frozenset(
    (
        *("attention_dropout", "cls_token_id", "decoder_bias", "deterministic_flash_attn", "embedding_dropout"),
        *("initializer_cutoff_factor", "layer_norm_eps", "mlp_dropout", "position_embedding_type"),
        *("reference_compile", "repad_logits_with_grad", "sparse_pred_ignore_index", "sparse_prediction"),
    )
)
_PREFIX = "model."
_WORDS = "embeddings.tok_embeddings.weight"
_THETA_KEYS = {FULL: ("global_rope_theta", 160_000.0), SLIDING: ("local_rope_theta", 10_000.0)}
_POOLING: dict[str, Pooling] = {"cls": "first", "mean": "mean"}


def read_limits(config: Config) -> Limits:
    """Without a class, `transformers` takes tokenizer.json as it is."""
    return limits_of(config, "TokenizersBackend")


@dataclass(frozen=True)
class _Shape:
    hidden: int
    heads: int
    inner: int
    activation: str
    epsilon: float
    norm_bias: bool
    attention_bias: bool
    inner_bias: bool
    kinds: tuple[str, ...]  # of the layers: FULL or SLIDING
    window: int  # tokens to each side that a sliding layer sees


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors, sentence = checkpoint.config, checkpoint.tensors, checkpoint.sentence
    check_architecture(config, encoder=ENCODER, classifier=CLASSIFIER, sentence=sentence is not None)
    limits, shape = read_limits(config), _read_shape(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    parts.check_layers(tensors, len(shape.kinds))
    prefix = parts.prefix_of(checkpoint, _PREFIX, _WORDS)
    part = _Parts(tensors, prefix, shape, _tables(config, shape, max_tokens))
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_WORDS}", (limits.vocabulary, shape.hidden))
    body: tuple[Node, ...] = (
        Embed((Term(words, "ids"),), "hidden"),
        part.norm("embedding_norm", ["embeddings.norm"], "hidden"),
        *part.layers(),
        part.norm("final_norm", ["final_norm"], "hidden"),
    )
    value = "hidden"
    if sentence is None and head_class(config, CLASSIFIER) in ("ForTokenClassification", "ForQuestionAnswering"):
        value = "classified"  # of every row what a sequence classifier has of one
        body += _dense(config, tensors, shape, "hidden", value)
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
    )
    head, widths, result, notes = read_head(
        checkpoint,
        CLASSIFIER,
        value,
        shape.hidden,
        lambda: _classifier(config, tensors, shape),
        body=body,
        prediction=prediction,
        pooled=lambda source, task: _classifier(config, tensors, shape, source, task),
    )
    tensors.finish()
    widths |= part.widths | {value: shape.hidden}
    return Graph(widths, body + head, (result,), limits.vocabulary, parts.SEGMENTS, max_tokens, notes)


def _dense(config: Config, tensors: TensorFile, shape: _Shape, value: str, out: str) -> tuple[Op, ...]:
    """ModernBertPredictionHead on rows."""
    bias, activation = config.flag("classifier_bias", False), parts.activation_of(config, "classifier_activation")
    size = (shape.hidden, shape.hidden)
    return (
        parts.linear(tensors, "classifier_dense", ["head.dense"], size, value, out, activation, bias=bias),
        _head_norm(tensors, shape, out),
    )


def _head_norm(tensors: TensorFile, shape: _Shape, value: str) -> Norm:
    return parts.layer_norm(
        tensors, "classifier_norm", ["head.norm"], shape.hidden, shape.epsilon, value, bias=shape.norm_bias
    )


def _classifier(
    config: Config, tensors: TensorFile, shape: _Shape, source: str = "classifier", task: Task | None = None
) -> tuple[Any, ...]:
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
        norm=_head_norm(tensors, shape, POOLED),
        pooling=_POOLING[pooling],
        task=task,
    )


def _read_shape(config: Config) -> _Shape:
    shape = _Shape(
        hidden=config.positive_int("hidden_size", maximum=parts.MAX_WIDTH),
        heads=config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH),
        inner=config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, "hidden_activation"),
        epsilon=parts.epsilon_of(config, "norm_eps", 1e-5),
        norm_bias=config.flag("norm_bias", False),
        attention_bias=config.flag("attention_bias", False),
        inner_bias=config.flag("mlp_bias", False),
        kinds=_kinds(config),
        window=config.positive_int("local_attention", 128, maximum=1 << 20) // 2,
    )
    if config.values.get("sliding_window", shape.window) != shape.window:
        raise parts.refuse("config-value", f"sliding_window is not half of local_attention, {shape.window}")
    parts.check_heads(shape.hidden, shape.heads)
    check_pairs(shape.hidden // shape.heads)
    return shape


def _kinds(config: Config) -> tuple[str, ...]:
    """What each layer sees: named, or every n-th layer everything."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    every = config.positive_int("global_attn_every_n_layers", 3, maximum=parts.MAX_LAYERS)
    return layer_kinds(config, tuple(SLIDING if layer % every else FULL for layer in range(layers)))


def _tables(config: Config, shape: _Shape, max_tokens: int) -> Tables:
    """Cosines and sines of each kind of layer that there is."""
    if config.values.get("rope_scaling") is not None:
        raise parts.refuse("rotary-not-supported", "rope_scaling is not supported")
    angles = angles_by_kind(config, _THETA_KEYS, read_limits(config).positions)
    return tables_by_kind(angles, shape.kinds, max_tokens, shape.hidden // shape.heads)


@dataclass(frozen=True)
class _Parts:
    tensors: TensorFile
    prefix: str
    shape: _Shape
    tables: Tables

    @property
    def widths(self) -> dict[str, int]:
        """Of the values of all layers."""
        hidden = dict.fromkeys(("normed", "query", "key", "value", "context"), self.shape.hidden)
        found = hidden | dict.fromkeys(("inner", "gate"), self.shape.inner)
        first = {f"first_{value}": width for value, width in found.items()}
        return {"hidden": self.shape.hidden} | found | first

    def layers(self) -> tuple[Node, ...]:
        """The first layer, and the loop over the others; a layer alone is a loop of its own."""
        count = len(self.shape.kinds)
        if count == 1:
            return (Layers("encoder_layer", 1, self.layer([0], "", normed=False)),)
        return (
            *self.layer([0], "first_", normed=False),
            Layers("encoder_layer", count - 1, self.layer(range(1, count), "", normed=True)),
        )

    def layer(self, layers: Sequence[int], named: str, *, normed: bool) -> tuple[Op, ...]:
        """The ops of some layers; their weights and values have names that begin with `named`. Without `normed`, there
        is no norm before the attention."""
        shape = self.shape
        sources = [f"layers.{layer}." for layer in layers]
        query, key, value, context, between, gate = (
            f"{named}{name}" for name in ("query", "key", "value", "context", "inner", "gate")
        )
        before = f"{named}normed"
        names = [f"{source}attn_norm" for source in sources] if normed else []
        rows = before if normed else "hidden"
        return (
            *([self.norm(f"{named}attention_norm", names, "hidden", before)] if normed else ()),
            *self.stacked(
                [f"{source}attn.Wqkv" for source in sources],
                [(name, name, "none") for name in (query, key, value)],
                rows,
                shape.attention_bias,
            ),
            *self.attention(layers, query, key, value, context),
            self.linear(f"{named}attention_output", [f"{s}attn.Wo" for s in sources], context, shape.attention_bias),
            self.norm(f"{named}output_norm", [f"{s}mlp_norm" for s in sources], "hidden", before),
            *self.stacked(
                [f"{source}mlp.Wi" for source in sources],
                [(f"{named}intermediate", between, shape.activation), (gate, gate, "none")],
                before,
                shape.inner_bias,
            ),
            Multiply(between, gate, between),
            self.linear(f"{named}output", [f"{s}mlp.Wo" for s in sources], between, shape.inner_bias),
        )

    def attention(self, layers: Sequence[int], query: str, key: str, value: str, context: str) -> tuple[Op, ...]:
        """Queries and keys are turned, and each layer sees what its kind does."""
        kinds = [self.shape.kinds[layer] for layer in layers]
        seen = seen_by_kind(kinds, self.tables, masks_both_ways(windows_by_kind(kinds, self.shape.window)))
        heads = self.shape.heads
        return (
            seen.turned(query, heads),
            seen.turned(key, heads),
            Attention(query, key, value, context, heads, mask=seen.masks.mask, window=seen.masks.window),
        )

    def linear(self, name: str, sources: Sequence[str], value: str, bias: bool) -> Linear:
        width = self.shape.hidden
        shape = (width, self.widths[value])
        whole = [f"{self.prefix}{source}" for source in sources]
        return parts.linear(self.tensors, name, whole, shape, value, "hidden", residual="hidden", bias=bias)

    def stacked(self, sources: Sequence[str], made: Sequence[Made], value: str, bias: bool) -> tuple[Linear, ...]:
        shape = (self.widths[made[0][1]], self.shape.hidden)
        whole = [f"{self.prefix}{source}" for source in sources]
        return stacked_linears(self.tensors, whole, made, shape, value, bias=bias)

    def norm(self, name: str, sources: Sequence[str], value: str, out: str | None = None) -> Norm:
        whole, shape = [f"{self.prefix}{source}" for source in sources], self.shape
        return parts.layer_norm(
            self.tensors, name, whole, shape.hidden, shape.epsilon, value, out, bias=shape.norm_bias
        )
