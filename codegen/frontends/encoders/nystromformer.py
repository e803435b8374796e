# SPDX-License-Identifier: Apache-2.0
"""Nyströmformer (Xiong et al., 2021, arXiv:2102.03902) with as many landmarks as its texts are said to have tokens,
which is how the published ones are configured: then the library attends to all tokens. Names as in `transformers`.

It is BERT with RoBERTa's head, and a convolution of each head's values beside its attention, all channels of a head
with the same taps. With fewer landmarks their means need texts of one length, padding included: that is refused.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...ir.convolutions import MOST_TAPS
from ...ir.graph import Add, Attention, CenteredConvolution, Graph, Layers, Node, Op, Parameter
from ...ir.parameter import Array, F32Array
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ...load.safetensors import TensorFile
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.computed import Computed
from ..shared.encoder_layer import LayerShape, post_norm_layer
from ..shared.prediction_head import Prediction

MODEL_TYPE = "nystromformer"
NAME = "Nystromformer"
_FIRST_POSITION = 2  # of the table
_EPSILON = 1e-5
_LANDMARKS = 64  # and tokens, where the configuration does not say them
_CONVOLUTION = "attention.self.conv.weight"


def read_limits(config: Config) -> Limits:
    """By the usual keys; tokenizer.json counts as it is."""
    return usual_limits(config, "TokenizersBackend")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    bert_like.check_encoder_only(config)
    _check_attends_to_all(config)
    shape = replace(bert_like.read_shape(config, "gelu_new"), epsilon=parts.epsilon_of(config, default=_EPSILON))
    tables = bert_like.read_tables(config)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below("nystromformer.")
    prediction = Prediction.as_bert("cls.predictions", "cls.predictions.transform", shape, shape.hidden)
    prediction.giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    tensors.ignore(f"{prefix}embeddings.token_type_ids")  # zeros: a buffer of older files, not a weight
    all_positions = replace(tables, positions=tables.positions + _FIRST_POSITION)
    norm = parts.layer_norm(
        tensors, "embedding_norm", [f"{prefix}{bert_like.EMBEDDING_NORM}"], shape.hidden, shape.epsilon, "hidden"
    )
    body: tuple[Node, ...] = (
        bert_like.embed_ids(tensors, prefix, all_positions, shape.hidden, "hidden", _FIRST_POSITION),
        norm,
        _layers(config, tensors, prefix, shape),
    )
    heads = FamilyHeads(
        Classifier(
            "classifier.out_proj",
            ("classifier_dense", "classifier.dense", shape.activation),
            ("pre_classifier", "pre_classifier", "relu"),
        ),
        prediction,
    )
    encoder = Encoder(body, shape.widths | {"convolved": shape.hidden}, tables.vocabulary, tables.segments)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _check_attends_to_all(config: Config) -> None:
    landmarks = config.positive_int("num_landmarks", _LANDMARKS)
    tokens = config.positive_int("segment_means_seq_len", _LANDMARKS)
    if landmarks != tokens:
        message = f"num_landmarks {landmarks}, segment_means_seq_len {tokens}: landmarks are means of a text that is"
        raise parts.refuse("attention-not-supported", f"{message} padded to that many tokens, not supported here")
    if config.flag("inv_coeff_init_option", False):
        message = "inv_coeff_init_option is true: the library makes no such model"
        raise parts.refuse("config-not-supported", message)


def _layers(config: Config, tensors: TensorFile, prefix: str, shape: LayerShape) -> Layers:
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    prefixes = [f"{prefix}encoder.layer.{i}." for i in range(count)]

    def projected(name: str, source: str) -> Op:
        sources = [f"{of}{source}" for of in prefixes]
        return parts.linear(tensors, name, sources, (shape.hidden, shape.hidden), "hidden", name)

    context: tuple[Op, ...] = (
        projected("query", bert_like.LAYER.query),
        projected("key", bert_like.LAYER.key),
        projected("value", bert_like.LAYER.value),
        Attention("query", "key", "value", "context", shape.heads),
        *_convolution(config, tensors, prefixes, shape),
    )
    return Layers("encoder_layer", count, post_norm_layer(tensors, prefixes, bert_like.LAYER, shape, context=context))


def _convolution(config: Config, tensors: TensorFile, prefixes: list[str], shape: LayerShape) -> tuple[Op, ...]:
    """What is added to the context; nothing where the configuration says null."""
    if "conv_kernel_size" in config and config.values["conv_kernel_size"] is None:
        return ()
    taps = config.positive_int("conv_kernel_size", MOST_TAPS)
    if taps % 2 == 0 or not 3 <= taps <= MOST_TAPS:
        message = f"conv_kernel_size {taps}: expected an odd number from 3 to {MOST_TAPS}"
        raise parts.refuse("config-out-of-range", message)
    kernels = [tensors.take(f"{of}{_CONVOLUTION}", (shape.heads, 1, taps, 1)) for of in prefixes]
    weight = Parameter("convolution_taps", tuple(_by_channel(kernel, shape.hidden) for kernel in kernels))
    return (
        CenteredConvolution("convolution", weight, None, "value", "convolved"),
        Add("context", "convolved", "context"),
    )


def _by_channel(kernel: Array, width: int) -> Computed:
    """[width, taps] of [heads, 1, taps, 1]."""
    heads, _, taps, _ = kernel.shape

    def values() -> F32Array:
        return np.repeat(kernel.values.reshape(heads, taps), width // heads, axis=0)

    return Computed(kernel.name, (width, taps), values, kernel.file)
