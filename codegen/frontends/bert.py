# SPDX-License-Identifier: Apache-2.0
"""BERT for sequence classification, as `transformers` defines it (models/bert/modeling_bert.py)."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import EtchError
from ..graph import (
    Attention,
    Classification,
    EmbeddingSum,
    Graph,
    LayerNorm,
    Layers,
    Linear,
    Parameter,
    SelectFirst,
)
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.safetensors import TensorFile

# Hugging Face's name of the activation -> the runtime's. The tanh forms differ from each other only in rounding.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
ARCHITECTURE = "BertForSequenceClassification"
MAX_LAYERS = 1000
MAX_WIDTH = 65_536  # keeps an int32 sum of s8 x s8 products exact
MIN_EPSILON = 1e-12
MIN_TOKENS = 3  # [CLS] text [SEP]


@dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    segments: int
    activation: str
    epsilon: float


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a BertForSequenceClassification checkpoint; takes every tensor of the file exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    _check_task(config)
    shape = _read_shape(config)
    _check_max_tokens(max_tokens, shape)
    labels = _read_labels(config)
    _check_tensor_count(tensors, shape)

    body = (
        EmbeddingSum(
            word=_parameter(
                tensors, "word_embeddings", _EMBEDDINGS + "word_embeddings.weight", (shape.vocabulary, shape.hidden)
            ),
            segment=_parameter(
                tensors,
                "segment_embeddings",
                _EMBEDDINGS + "token_type_embeddings.weight",
                (shape.segments, shape.hidden),
            ),
            position=_parameter(
                tensors,
                "position_embeddings",
                _EMBEDDINGS + "position_embeddings.weight",
                (shape.positions, shape.hidden),
            ),
            out="hidden",
        ),
        _layer_norm(tensors, "embedding_norm", [_EMBEDDINGS + "LayerNorm"], shape, "hidden"),
        Layers("encoder_layer", shape.layers, _encoder_layer(tensors, shape)),
        SelectFirst("hidden", "first"),
        _linear(tensors, "pooler", ["bert.pooler.dense"], (shape.hidden, shape.hidden), "first", "pooled", "tanh"),
        _linear(tensors, "classifier", ["classifier"], (len(labels), shape.hidden), "pooled", "logits", exact=True),
    )
    tensors.ignore("bert.embeddings.position_ids")  # 0, 1, 2, ...: a buffer of older files, not a weight
    tensors.finish()
    widths = {name: shape.hidden for name in ("hidden", "query", "key", "value", "context", "first", "pooled")}
    return Graph(
        widths=widths | {"inner": shape.intermediate, "logits": len(labels)},
        body=body,
        logits="logits",
        task=Classification(labels),
        vocabulary=shape.vocabulary,
        segments=shape.segments,
        max_tokens=max_tokens,
    )


_EMBEDDINGS = "bert.embeddings."


def _encoder_layer(tensors: TensorFile, shape: Shape) -> tuple[Linear | Attention | LayerNorm, ...]:
    def names(part: str) -> list[str]:
        return [f"bert.encoder.layer.{i}.{part}" for i in range(shape.layers)]

    square = (shape.hidden, shape.hidden)
    return (
        _linear(tensors, "query", names("attention.self.query"), square, "hidden", "query"),
        _linear(tensors, "key", names("attention.self.key"), square, "hidden", "key"),
        _linear(tensors, "value", names("attention.self.value"), square, "hidden", "value"),
        Attention("query", "key", "value", "context", shape.heads),
        _linear(
            tensors, "attention_output", names("attention.output.dense"), square, "context", "hidden", residual="hidden"
        ),
        _layer_norm(tensors, "attention_norm", names("attention.output.LayerNorm"), shape, "hidden"),
        _linear(
            tensors,
            "intermediate",
            names("intermediate.dense"),
            (shape.intermediate, shape.hidden),
            "hidden",
            "inner",
            shape.activation,
        ),
        _linear(
            tensors,
            "output",
            names("output.dense"),
            (shape.hidden, shape.intermediate),
            "inner",
            "hidden",
            residual="hidden",
        ),
        _layer_norm(tensors, "output_norm", names("output.LayerNorm"), shape, "hidden"),
    )


def _parameter(tensors: TensorFile, name: str, tensor: str, shape: tuple[int, ...]) -> Parameter:
    return Parameter(name, (tensors.take(tensor, shape),))


def _linear(
    tensors: TensorFile,
    name: str,
    sources: list[str],
    shape: tuple[int, int],
    value: str,
    out: str,
    activation: str = "none",
    *,
    residual: str | None = None,
    exact: bool = False,
) -> Linear:
    return Linear(
        name,
        weight=Parameter(f"{name}_weight", tuple(tensors.take(f"{s}.weight", shape) for s in sources)),
        bias=Parameter(f"{name}_bias", tuple(tensors.take(f"{s}.bias", shape[:1]) for s in sources)),
        input=value,
        out=out,
        activation=activation,
        residual=residual,
        exact=exact,
    )


def _layer_norm(tensors: TensorFile, name: str, sources: list[str], shape: Shape, value: str) -> LayerNorm:
    width = (shape.hidden,)
    gammas = tuple(tensors.take(f"{s}.weight", width, legacy=f"{s}.gamma") for s in sources)
    betas = tuple(tensors.take(f"{s}.bias", width, legacy=f"{s}.beta") for s in sources)
    return LayerNorm(name, Parameter(f"{name}_gamma", gammas), Parameter(f"{name}_beta", betas), shape.epsilon, value)


def _refuse(code: str, message: str) -> EtchError:
    return EtchError(code, "front-end", message, file="config.json")


def _check_task(config: Config) -> None:
    architectures = config.architectures
    if architectures and ARCHITECTURE not in architectures:
        named = ", ".join(architectures)
        raise _refuse(
            "architecture-not-supported", f"architecture '{named}' is not supported (supported: {ARCHITECTURE})"
        )
    problem = config.problem_type
    if problem not in (None, "single_label_classification"):
        raise _refuse(
            "problem-type-not-supported",
            f"problem type '{problem}' is not supported (supported: single_label_classification)",
        )
    for key in ("is_decoder", "add_cross_attention"):
        if config.flag(key, False):
            raise _refuse("decoder-not-supported", f"{key} is true: only encoders are supported")
    position = config.text("position_embedding_type", "absolute")
    if position != "absolute":
        raise _refuse("position-embedding-not-supported", f"position_embedding_type '{position}' (supported: absolute)")


def _read_shape(config: Config) -> Shape:
    activation = config.text("hidden_act", "gelu")
    if activation not in ACTIVATIONS:
        raise _refuse(
            "activation-not-supported",
            f"hidden_act '{activation}' is not supported (supported: {', '.join(ACTIVATIONS)})",
        )
    epsilon = config.number("layer_norm_eps", 1e-12)
    if not MIN_EPSILON <= epsilon <= 1.0:
        raise _refuse("epsilon-out-of-range", f"layer_norm_eps {epsilon:g}: expected {MIN_EPSILON:g} to 1")
    shape = Shape(
        hidden=config.positive_int("hidden_size", maximum=MAX_WIDTH),
        layers=config.positive_int("num_hidden_layers", maximum=MAX_LAYERS),
        heads=config.positive_int("num_attention_heads", maximum=MAX_WIDTH),
        intermediate=config.positive_int("intermediate_size", maximum=MAX_WIDTH),
        vocabulary=config.positive_int("vocab_size", maximum=1 << 24),
        positions=config.positive_int("max_position_embeddings", maximum=MAX_WIDTH),
        segments=config.positive_int("type_vocab_size", 2, maximum=256),
        activation=ACTIVATIONS[activation],
        epsilon=epsilon,
    )
    if shape.hidden % shape.heads != 0:
        raise _refuse(
            "heads-do-not-divide",
            f"hidden_size {shape.hidden} is not a multiple of num_attention_heads {shape.heads}",
        )
    return shape


def _check_max_tokens(max_tokens: int, shape: Shape) -> None:
    if not MIN_TOKENS <= max_tokens <= shape.positions:
        raise EtchError(
            "max-tokens-out-of-range",
            "front-end",
            f"{max_tokens} tokens: expected {MIN_TOKENS} to {shape.positions} (max_position_embeddings)",
        )


def _read_labels(config: Config) -> tuple[str, ...]:
    labels = config.labels()
    if len(labels) < 2:
        raise _refuse("one-label-not-supported", "one label means regression or sigmoid: expected at least 2 labels")
    return labels


def _check_tensor_count(tensors: TensorFile, shape: Shape) -> None:
    """Refuses a layer count that the file cannot hold before thousands of names are looked up."""
    if shape.layers > len(tensors.names):
        raise _refuse(
            "missing-tensor", f"num_hidden_layers is {shape.layers}, but the file holds {len(tensors.names)} tensors"
        )
