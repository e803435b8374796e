# SPDX-License-Identifier: Apache-2.0
"""DistilBERT: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`.

Its sinusoidal positions are in the file like learned ones.
"""

from __future__ import annotations

from ...ir.graph import Embed, Graph, Layers, Node, Term
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.encoder_layer import LayerNames, LayerShape, post_norm_layer
from ..shared.prediction_head import Prediction

MODEL_TYPE = "distilbert"
# Of the library, for one thing.
_OTHER_NAMES = {
    "dim": "hidden_size",
    "n_heads": "num_attention_heads",
    "n_layers": "num_hidden_layers",
}
NAME = "DistilBert"
HARMLESS_KEYS = frozenset(
    ("attention_dropout", "dropout", "qa_dropout", "seq_classif_dropout", "sinusoidal_pos_embds", "tie_weights_")
)
_POSITIONS = "max_position_embeddings"
_WORDS = "embeddings.word_embeddings.weight"
_LAYER = LayerNames(
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attention_output="attention.out_lin",
    attention_norm="sa_layer_norm",
    intermediate="ffn.lin1",
    output="ffn.lin2",
    output_norm="output_layer_norm",
)


def read_limits(config: Config) -> Limits:
    """The width is called `dim`."""
    positions = config.positive_int(_POSITIONS, maximum=parts.MAX_WIDTH)
    return Limits(config.positive_int("dim"), config.positive_int("vocab_size"), positions, _POSITIONS)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    limits = read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    shape = LayerShape(
        hidden=config.positive_int("dim", maximum=parts.MAX_WIDTH),
        heads=config.positive_int("n_heads", maximum=parts.MAX_WIDTH),
        intermediate=config.positive_int("hidden_dim", maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, "activation"),
        epsilon=parts.MIN_EPSILON,
    )
    parts.check_other_names(config, _OTHER_NAMES)
    parts.check_heads(shape.hidden, shape.heads, "dim", "n_heads")
    prefix = tensors.below("distilbert.")
    prediction = Prediction(
        dense="vocab_transform",
        norm="vocab_layer_norm",
        bias="vocab_projector.bias",
        decoder="vocab_projector",
        activation=shape.activation,
        epsilon=shape.epsilon,
        width=shape.hidden,
    ).giving_words(checkpoint, f"{prefix}{_WORDS}")
    body = _encoder(config, tensors, prefix, shape, limits)
    heads = FamilyHeads(Classifier("classifier", ("pre_classifier", "pre_classifier", "relu")), prediction)
    return graph_with_head(checkpoint, max_tokens, NAME, Encoder(body, shape.widths, limits.vocabulary), heads)


def _encoder(config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, limits: Limits) -> tuple[Node, ...]:
    """Ids to `hidden`, one row per token."""
    layers = config.positive_int("n_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, layers, "n_layers")
    width = shape.hidden
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_WORDS}", (limits.vocabulary, width))
    positions = parts.parameter(
        tensors,
        "position_embeddings",
        f"{prefix}embeddings.position_embeddings.weight",
        (limits.positions, width),
    )
    return (
        Embed((Term(words, "ids"), Term(positions, "positions")), "hidden"),
        parts.layer_norm(tensors, "embedding_norm", [f"{prefix}embeddings.LayerNorm"], width, shape.epsilon, "hidden"),
        Layers(
            "encoder_layer",
            layers,
            post_norm_layer(tensors, [f"{prefix}transformer.layer.{i}." for i in range(layers)], _LAYER, shape),
        ),
    )
