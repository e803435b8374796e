# SPDX-License-Identifier: Apache-2.0
"""What BERT shares with the families that were made after it: keys, tables, tensor names, and the whole of one that
is BERT but for names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ...ir.graph import Embed, Graph, Index, Layers, Node, Norm, Term
from ...ir.tokenizer_spec import TokenizerSpec
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.encoder_layer import Adapter, LayerNames, LayerShape, post_norm_layer, pre_norm_layer
from ..shared.masks import EVERYTHING, Masks
from ..shared.prediction_head import Prediction
from .architecture import check_architecture
from .heads import Classifier, Encoder, FamilyHeads, graph_with_head, head_class

_NEXT_SENTENCE = "ForNextSentencePrediction"
WORDS = "embeddings.word_embeddings.weight"
EMBEDDING_NORM = "embeddings.LayerNorm"
LAYER = LayerNames(
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    attention_output="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    intermediate="intermediate.dense",
    output="output.dense",
    output_norm="output.LayerNorm",
)


@dataclass(frozen=True)
class Form:
    """Where an encoder has its norms, and what it calls the parts of a layer."""

    layer: LayerNames = LAYER
    embedding_norm: bool = True
    pre_norm: bool = False
    last_norm: str | None = None  # behind the layers, as the file calls it below the encoder's prefix
    layers: str = "encoder.layer."  # the file's name of all, below the encoder's prefix and before their numbers
    epsilon: float = parts.EPSILON  # of norms, where the configuration does not say it
    layer_epsilon: float | None = None  # of the norms in layers, where it is not the configuration's
    groups: Mapping[str, int] = field(default_factory=dict)  # as `LayerShape` has them,
    masks: Masks = EVERYTHING  # and these,
    adapter: Adapter | None = None  # and this

    def widths(self, shape: LayerShape) -> dict[str, int]:
        """Of the values that its layers read and write."""
        widths = replace(shape, masks=self.masks, adapter=self.adapter).widths
        return widths | ({"normed": shape.hidden} if self.pre_norm else {})


BERT = Form()


@dataclass(frozen=True)
class Tables:
    """Entries of the embedding tables."""

    vocabulary: int
    positions: int
    segments: int


@dataclass(frozen=True)
class Family:
    """One that is BERT but for these."""

    name: str  # of its classes
    prefix: str  # of the encoder in a file with a head
    form: Form = BERT
    # More of the embedding, by the checkpoint and the prefix of its tensors.
    terms: Callable[[Checkpoint, str, LayerShape, Tables], tuple[Term, ...]] = lambda *_: ()

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        config, tensors = checkpoint.config, checkpoint.tensors
        check_architecture(checkpoint, self.name)
        check_encoder_only(config)
        shape, tables = read_shape(config), read_tables(config)
        parts.check_max_tokens(max_tokens, tables.positions)
        prefix = tensors.below(self.prefix)
        prediction = Prediction.as_bert("cls.predictions", "cls.predictions.transform", shape, shape.hidden)
        prediction.giving_words(checkpoint, f"{prefix}{WORDS}")
        terms = self.terms(checkpoint, prefix, shape, tables)
        body = encoder_body(config, tensors, prefix, tables, shape, self.form, terms=terms)
        encoder = Encoder(body, self.form.widths(shape), tables.vocabulary, tables.segments)
        unused = (f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias", other_head(config, self.name))
        heads = FamilyHeads(
            Classifier("classifier", ("pooler", f"{prefix}pooler.dense", "tanh")),
            prediction,
            left_out=unused,
        )
        return graph_with_head(checkpoint, max_tokens, self.name, encoder, heads)


def other_head(config: Config, name: str) -> str:
    """The tensors of what pretraining has beside the head of the class."""
    return "cls.predictions.*" if head_class(config, name) == _NEXT_SENTENCE else "cls.seq_relationship.*"


def encoder_body(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    tables: Tables,
    shape: LayerShape,
    form: Form,
    first_position: int = 0,
    terms: tuple[Term, ...] = (),
) -> tuple[Node, ...]:
    """Ids to `hidden`, one row per token; `first_position` is that of a text's first token, `terms` are more of the
    embedding."""
    embedding = embed_ids(tensors, prefix, tables, shape.hidden, "hidden", first_position)

    def norm(name: str, source: str) -> Norm:
        return parts.layer_norm(tensors, name, [f"{prefix}{source}"], shape.hidden, shape.epsilon, "hidden")

    return (
        replace(embedding, terms=embedding.terms + terms),
        *((norm("embedding_norm", EMBEDDING_NORM),) if form.embedding_norm else ()),
        encoder_layers(config, tensors, prefix, shape, form),
        *(() if form.last_norm is None else (norm("final_norm", form.last_norm),)),
    )


def embed(tensors: TensorFile, prefix: str, tables: Tables, width: int, epsilon: float, out: str) -> tuple[Embed, Norm]:
    """Words, segments and positions, and their norm."""
    embedding = embed_ids(tensors, prefix, tables, width, out)
    return embedding, parts.layer_norm(tensors, "embedding_norm", [f"{prefix}{EMBEDDING_NORM}"], width, epsilon, out)


def embed_projected(
    tensors: TensorFile, prefix: str, tables: Tables, width: int, shape: LayerShape, mapping: str
) -> tuple[Node, ...]:
    """The same of a `width` of its own, and the linear to the layers' that the file calls `mapping`."""
    return (
        *embed(tensors, prefix, tables, width, shape.epsilon, "embedded"),
        parts.linear(
            tensors, "embedding_projection", [f"{prefix}{mapping}"], (shape.hidden, width), "embedded", "hidden"
        ),
    )


def embed_of_own_width(
    config: Config, tensors: TensorFile, prefix: str, tables: Tables, shape: LayerShape, usual: int
) -> tuple[tuple[Node, ...], dict[str, int]]:
    """Ids to `hidden` where the configuration says how wide the embedding is, with a linear if the layers are not as
    wide; `usual` is the width where it does not say it. With the widths of other values."""
    width = config.positive_int("embedding_size", usual, maximum=parts.MAX_WIDTH)
    if width == shape.hidden:
        return embed(tensors, prefix, tables, width, shape.epsilon, "hidden"), {}
    return embed_projected(tensors, prefix, tables, width, shape, "embeddings_project"), {"embedded": width}


def embed_ids(tensors: TensorFile, prefix: str, tables: Tables, width: int, out: str, first_position: int = 0) -> Embed:
    """Words, segments where there are any, and positions."""
    embeddings = f"{prefix}embeddings."

    def term(name: str, tensor: str, entries: int, by: Index, first: int = 0) -> Term:
        return Term(parts.parameter(tensors, name, tensor, (entries, width)), by, first)

    segments = ("segment_embeddings", f"{embeddings}token_type_embeddings.weight", tables.segments)
    positions = ("position_embeddings", f"{embeddings}position_embeddings.weight", tables.positions)
    return Embed(
        (
            term("word_embeddings", f"{prefix}{WORDS}", tables.vocabulary, "ids"),
            *((term(*segments, "segments"),) if tables.segments else ()),
            term(*positions, "positions", first_position),
        ),
        out,
    )


def encoder_layers(config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, form: Form = BERT) -> Layers:
    """The layers of a file with BERT's prefixes."""
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    prefixes = [f"{prefix}{form.layers}{i}." for i in range(count)]
    epsilon = shape.epsilon if form.layer_epsilon is None else form.layer_epsilon
    shape = replace(shape, epsilon=epsilon, groups=form.groups, masks=form.masks, adapter=form.adapter)
    layer = pre_norm_layer if form.pre_norm else post_norm_layer
    return Layers("encoder_layer", count, layer(tensors, prefixes, form.layer, shape))


def check_encoder_only(config: Config) -> None:
    """Refuses what the same class of `transformers` could be besides."""
    check_no_decoder(config)
    check_positions(config)


def check_positions(config: Config) -> None:
    """Refuses other positions than those of a table."""
    position = config.text("position_embedding_type", "absolute")
    if position != "absolute":
        raise parts.refuse(
            "position-embedding-not-supported", f"position_embedding_type '{position}' (supported: absolute)"
        )


def check_no_decoder(config: Config) -> None:
    """The same where positions need not be absolute."""
    for key in ("is_decoder", "add_cross_attention"):
        if config.flag(key, False):
            raise parts.refuse("decoder-not-supported", f"{key} is true: only encoders are supported")


def check_padding(tokenizer: TokenizerSpec, padding: int) -> None:
    """Where positions are counted, `transformers` leaves out the padding token: then no text may have it."""
    unknown = getattr(tokenizer.model, "unknown_id", None)
    if padding in (*tokenizer.template.special_ids, unknown):
        what = "that of unknown text" if padding == unknown else "one of the special tokens of every text"
        raise parts.refuse("config-value", f"the padding token, pad_token_id {padding}, is {what}")


def read_shape(config: Config, activation: str = "gelu") -> LayerShape:
    """By the keys that most families have; `activation` is what the configuration need not say."""
    return shape_of(config, parts.activation_of(config, default=activation))


def shape_of(config: Config, activation: str) -> LayerShape:
    """The same of a family that has this activation, whatever the configuration says."""
    shape = LayerShape(
        activation=activation,
        epsilon=parts.epsilon_of(config),
        hidden=config.positive_int("hidden_size", maximum=parts.MAX_WIDTH),
        heads=config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH),
        intermediate=config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH),
    )
    parts.check_heads(shape.hidden, shape.heads)
    return shape


def read_tables(config: Config, segments: int = 2) -> Tables:
    """By the keys that most families have; `segments` where the configuration does not say them."""
    return Tables(
        vocabulary=config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY),
        positions=config.positive_int("max_position_embeddings", maximum=parts.MAX_WIDTH),
        segments=config.positive_int("type_vocab_size", segments, maximum=256),
    )
