# SPDX-License-Identifier: Apache-2.0
"""FNet (Lee-Thorp et al., 2021, arXiv:2105.03824): BERT, whose tokens are mixed by a Fourier transform over a text's
rows and columns in the place of attention. Texts are not padded. Names as in `transformers`.
"""

from __future__ import annotations

import numpy as np

from ...ir.fourier_rows import FourierRows, waves_of
from ...ir.graph import Add, Graph, Layers, Linear, Norm, Parameter
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ...load.safetensors import TensorFile
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.computed import Computed
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from ..shared.sinusoids import sine_and_cosine

MODEL_TYPE = "fnet"
NAME = "FNet"
HARMLESS_KEYS = frozenset({"tpu_short_seq_length"})  # of a transform that is refused
_SEGMENTS = 4  # where the configuration does not say them
_PREFIX = "fnet."
_NOTE = "texts are mixed as they are: what the library computes of a text alone, without padding"


def read_limits(config: Config) -> Limits:
    """By the usual keys."""
    return usual_limits(config, "FNetTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    if config.flag("use_tpu_fourier_optimizations", False):
        message = "use_tpu_fourier_optimizations: texts of tpu_short_seq_length tokens alone, padding included"
        raise parts.refuse("config-not-supported", message)
    shape, tables = _read_shape(config), bert_like.read_tables(config, segments=_SEGMENTS)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below(_PREFIX)
    prediction = Prediction.as_bert("cls.predictions", "cls.predictions.transform", shape, shape.hidden)
    prediction.giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    embedding = bert_like.embed_projected(tensors, prefix, tables, shape.hidden, shape, "embeddings.projection")
    body = (*embedding, _layers(config, tensors, prefix, shape))
    widths = dict.fromkeys(("embedded", "hidden", "mixed"), shape.hidden)
    widths |= {"waves": waves_of(shape.hidden), "inner": shape.intermediate}
    unused = (f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias", bert_like.other_head(config, NAME))
    heads = FamilyHeads(
        Classifier("classifier", ("pooler", f"{prefix}pooler.dense", "tanh")), prediction, left_out=unused
    )
    encoder = Encoder(body, widths, tables.vocabulary, tables.segments)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads, (_NOTE,))


def _read_shape(config: Config) -> LayerShape:
    """Of layers without attention, as if all of a row were one head."""
    return LayerShape(
        hidden=config.positive_int("hidden_size", maximum=parts.MAX_WIDTH),
        heads=1,
        intermediate=config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, default="gelu_new"),
        epsilon=parts.epsilon_of(config),
    )


def _layers(config: Config, tensors: TensorFile, prefix: str, shape: LayerShape) -> Layers:
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    prefixes = [f"{prefix}encoder.layer.{layer}." for layer in range(count)]
    hidden, inner = shape.hidden, shape.intermediate

    def sources(source: str) -> list[str]:
        return [f"{of}{source}" for of in prefixes]

    def norm(name: str, source: str) -> Norm:
        return parts.layer_norm(tensors, name, sources(source), hidden, shape.epsilon, "hidden")

    body = (
        Linear("waves", _waves(hidden), None, "hidden", "waves", exact=True),
        FourierRows(hidden, "waves", "mixed"),
        Add("hidden", "mixed", "hidden"),
        norm("fourier_norm", "fourier.output.LayerNorm"),
        parts.linear(
            tensors, "intermediate", sources("intermediate.dense"), (inner, hidden), "hidden", "inner", shape.activation
        ),
        parts.linear(tensors, "output", sources("output.dense"), (hidden, inner), "inner", "hidden", residual="hidden"),
        norm("output_norm", "output.LayerNorm"),
    )
    return Layers("encoder_layer", count, body)


def _waves(width: int) -> Parameter:
    """Rows of cosines, then of sines, of all columns for each wave; all layers have the same."""

    def compute() -> np.ndarray:
        waves, columns = np.arange(width // 2 + 1), np.arange(width)
        sine, cosine = sine_and_cosine(2 * np.pi * (waves[:, None] * columns % width) / width)
        return np.concatenate([cosine, sine])

    return Parameter("waves_weight", (Computed("waves", (waves_of(width), width), compute),), common=True)
