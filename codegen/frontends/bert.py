# SPDX-License-Identifier: Apache-2.0
"""BERT, as `transformers` defines it (models/bert/modeling_bert.py): as a classifier or regressor of whole texts, or as
the encoder of a sentence-transformers model."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import EtchError
from ..graph import (
    Attention,
    EmbeddingSum,
    Graph,
    LayerNorm,
    Layers,
    Linear,
    Node,
    Normalize,
    Parameter,
    Pool,
    Pooling,
)
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.safetensors import TensorFile
from ..load.sentence import SentenceModules
from ..tasks import Embedding
from .classifier_task import classifier_task

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
CLASSIFIER = "BertForSequenceClassification"
ENCODER = "BertModel"
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
    """The graph of a BERT checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors, sentence = checkpoint.config, checkpoint.tensors, checkpoint.sentence
    _check_architecture(config, sentence)
    shape = _read_shape(config)
    _check_max_tokens(max_tokens, shape)
    _check_tensor_count(tensors, shape)
    if sentence is not None:
        return _sentence_encoder(tensors, shape, sentence, max_tokens)
    task = classifier_task(config)
    body = (
        *_encoder(tensors, "bert.", shape),
        Pool("first", "hidden", "first"),
        _linear(tensors, "pooler", ["bert.pooler.dense"], (shape.hidden, shape.hidden), "first", "pooled", "tanh"),
        _linear(tensors, "classifier", ["classifier"], (task.outputs, shape.hidden), "pooled", "logits", exact=True),
    )
    tensors.finish()
    widths = _widths(shape) | {"first": shape.hidden, "pooled": shape.hidden, "logits": task.outputs}
    return Graph(widths, body, "logits", task, shape.vocabulary, shape.segments, max_tokens)


def _sentence_encoder(tensors: TensorFile, shape: Shape, sentence: SentenceModules, max_tokens: int) -> Graph:
    """Encoder and pooling. Files of the bare encoder have names without prefix, files of a whole model with it."""
    prefix = "bert." if f"bert.{_WORDS}" in tensors else ""
    pooling = _POOLING[sentence.pooling]
    body = (*_encoder(tensors, prefix, shape), Pool(pooling, "hidden", "embedding"))
    body += (Normalize("embedding"),) if sentence.normalize else ()
    unused = tensors.ignore(f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias")
    notes = (f"not used by sentence-transformers: {', '.join(unused)}",) if unused else ()
    tensors.finish()
    widths = _widths(shape) | {"embedding": shape.hidden}
    task = Embedding(shape.hidden)
    return Graph(widths, body, "embedding", task, shape.vocabulary, shape.segments, max_tokens, notes)


_WORDS = "embeddings.word_embeddings.weight"
_POOLING: dict[str, Pooling] = {"cls": "first", "mean": "mean", "max": "max", "mean_sqrt": "mean_sqrt"}


def _widths(shape: Shape) -> dict[str, int]:
    values = dict.fromkeys(("hidden", "query", "key", "value", "context"), shape.hidden)
    return values | {"inner": shape.intermediate}


def _encoder(tensors: TensorFile, prefix: str, shape: Shape) -> tuple[Node, ...]:
    """Ids to `hidden`, one row per token."""
    embeddings = f"{prefix}embeddings."
    tensors.ignore(f"{embeddings}position_ids")  # 0, 1, 2, ...: a buffer of older files, not a weight
    width = shape.hidden
    return (
        EmbeddingSum(
            word=_parameter(tensors, "word_embeddings", f"{prefix}{_WORDS}", (shape.vocabulary, width)),
            segment=_parameter(
                tensors, "segment_embeddings", f"{embeddings}token_type_embeddings.weight", (shape.segments, width)
            ),
            position=_parameter(
                tensors, "position_embeddings", f"{embeddings}position_embeddings.weight", (shape.positions, width)
            ),
            out="hidden",
        ),
        _layer_norm(tensors, "embedding_norm", [f"{embeddings}LayerNorm"], shape, "hidden"),
        Layers("encoder_layer", shape.layers, _encoder_layer(tensors, prefix, shape)),
    )


def _encoder_layer(tensors: TensorFile, prefix: str, shape: Shape) -> tuple[Linear | Attention | LayerNorm, ...]:
    def names(part: str) -> list[str]:
        return [f"{prefix}encoder.layer.{i}.{part}" for i in range(shape.layers)]

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


def _check_architecture(config: Config, sentence: SentenceModules | None) -> None:
    wanted = CLASSIFIER if sentence is None else ENCODER
    architectures = config.architectures
    if architectures and wanted not in architectures:
        if sentence is not None and CLASSIFIER in architectures:
            raise _refuse(
                "architecture-conflict",
                f"config.json says {CLASSIFIER}, modules.json makes an embedding of it: for the classifier remove "
                f"modules.json, for the embedding set architectures to {ENCODER}",
            )
        if sentence is None and ENCODER in architectures:
            raise _refuse(
                "modules-missing",
                f"{ENCODER} gives one vector per token: modules.json of sentence-transformers, which says how to make "
                "one of a text, is missing",
            )
        named = ", ".join(architectures)
        supported = f"{CLASSIFIER}, or {ENCODER} with the modules.json of sentence-transformers"
        raise _refuse("architecture-not-supported", f"architecture '{named}' is not supported (supported: {supported})")
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


def _check_tensor_count(tensors: TensorFile, shape: Shape) -> None:
    """Refuses a layer count that the file cannot hold before thousands of names are looked up."""
    if shape.layers > len(tensors.names):
        raise _refuse(
            "missing-tensor", f"num_hidden_layers is {shape.layers}, but the file holds {len(tensors.names)} tensors"
        )
