# SPDX-License-Identifier: Apache-2.0
"""MobileBERT (Sun et al., 2020, arXiv:2004.02984): an encoder with the head of one of its classes, or of
sentence-transformers. Names as in `transformers`.

A token's row begins as a linear of three words: the next one, its own and the one before. A layer makes rows narrower
(a bottleneck), attends and goes through several feed-forward networks there, and adds what comes out to the wide rows.
Its norms multiply and add without dividing anything, unless the configuration says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...ir.graph import Attention, Embed, Graph, Layers, Linear, Node, Norm, Op, Parameter, Term
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.computed import columns_of
from ..shared.prediction_head import Prediction

MODEL_TYPE = "mobilebert"
NAME = "MobileBert"
_NORMS = ("no_norm", "layer_norm")
_UNSAID_EPSILON = 1e-5  # of norms that the library makes without the configuration's: PyTorch's
# The words whose rows the file's linear takes, one beside the other, and how far behind a token's own they are.
_TRIGRAM = {"next": 1, "own": 0, "previous": -1}


@dataclass(frozen=True)
class _Form:
    """What the configuration says of the model."""

    hidden: int  # of rows between layers
    inside: int  # of rows in a layer
    embedding: int
    heads: int
    intermediate: int
    activation: str
    networks: int  # feed-forward ones
    divides: bool  # whether norms are norms
    epsilon: float
    bottleneck: bool
    attends_inside: bool  # queries, keys and values are made of the rows in the layer
    shares: bool  # queries and keys are made of rows with a bottleneck of their own
    trigram: bool

    @property
    def attention_bottleneck(self) -> bool:
        return self.bottleneck and self.shares and not self.attends_inside

    @property
    def widths(self) -> dict[str, int]:
        found = {"hidden": self.hidden, "inner": self.intermediate}
        found |= dict.fromkeys(("query", "key", "value", "context"), self.inside)
        if self.trigram:
            found |= dict.fromkeys((f"{which}_word" for which in _TRIGRAM), self.embedding)
        elif self.embedding != self.hidden:
            found["own_word"] = self.embedding
        if self.bottleneck:
            found["narrow"] = self.inside
        if self.attention_bottleneck:
            found["narrow_shared"] = self.inside
        return found


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME)
    bert_like.check_encoder_only(config)
    form, tables = _read_form(config), bert_like.read_tables(config)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below("mobilebert.")
    prediction = Prediction(
        dense="cls.predictions.transform.dense",
        norm="cls.predictions.transform.LayerNorm",
        bias="cls.predictions.bias",
        decoder="cls.predictions.decoder",
        activation=form.activation,
        epsilon=form.epsilon,
        width=form.hidden,
        beside="cls.predictions.dense",
    ).giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    body: tuple[Node, ...] = (
        *_embedding(_Parts(tensors, [f"{prefix}embeddings."], form), tables),
        _layers(config, tensors, f"{prefix}encoder.layer.", form),
    )
    pooler = f"{prefix}pooler.dense"
    dense = ("pooler", pooler, "tanh") if config.flag("classifier_activation", True) else None
    encoder = Encoder(body, form.widths, tables.vocabulary, tables.segments)
    unused = (f"{pooler}.weight", f"{pooler}.bias", bert_like.other_head(config, NAME))
    heads = FamilyHeads(Classifier("classifier", dense), prediction, left_out=unused)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _read_form(config: Config) -> _Form:
    def width(key: str, usual: int | None = None) -> int:
        return config.positive_int(key, usual, maximum=parts.MAX_WIDTH)

    norm = config.text("normalization_type", "no_norm")
    if norm not in _NORMS:
        raise parts.refuse("norm-not-supported", f"normalization_type '{norm}' (supported: {', '.join(_NORMS)})")
    hidden, bottleneck = width("hidden_size"), config.flag("use_bottleneck", True)
    inside = width("intra_bottleneck_size", 128) if bottleneck else hidden
    form = _Form(
        hidden=hidden,
        inside=inside,
        embedding=width("embedding_size", 128),
        heads=width("num_attention_heads"),
        intermediate=width("intermediate_size"),
        activation=parts.activation_of(config, default="relu"),
        networks=config.positive_int("num_feedforward_networks", 4, maximum=parts.MAX_LAYERS),
        divides=norm == "layer_norm",
        epsilon=parts.epsilon_of(config),
        bottleneck=bottleneck,
        attends_inside=config.flag("use_bottleneck_attention", False) or not bottleneck,
        shares=config.flag("key_query_shared_bottleneck", True),
        trigram=config.flag("trigram_input", True),
    )
    key = "intra_bottleneck_size" if bottleneck else "hidden_size"
    if config.values.get("true_hidden_size") not in (None, inside):
        raise parts.refuse("config-value", f"true_hidden_size is not {key}, {inside}: the library would mix the two")
    parts.check_heads(inside, form.heads, key)
    if not form.attends_inside and not form.shares and inside != hidden:
        raise parts.refuse(
            "config-value",
            f"without use_bottleneck_attention and key_query_shared_bottleneck queries of {inside} inputs are given "
            f"rows of {hidden}, which the library refuses, too",
        )
    return form


def _embedding(part: _Parts, tables: bert_like.Tables) -> tuple[Node, ...]:
    """Words, positions and segments."""
    form, tensors, (prefix,) = part.form, part.tensors, part.prefixes

    def table(name: str, entries: int, width: int) -> Parameter:
        return parts.parameter(tensors, name, f"{prefix}{name}.weight", (entries, width))

    words = table("word_embeddings", tables.vocabulary, form.embedding)
    segments = replace(table("token_type_embeddings", tables.segments, form.hidden), name="segment_embeddings")
    positions = table("position_embeddings", tables.positions, form.hidden)
    others = (Term(segments, "segments"), Term(positions, "positions"))
    norm = part.norm("embedding_norm", "LayerNorm", "hidden", form.hidden, _UNSAID_EPSILON)
    if not form.trigram and form.embedding == form.hidden:
        tensors.ignore(f"{prefix}embedding_transformation.*")  # which is there, and not used
        return Embed((Term(words, "ids"), *others), "hidden"), norm
    shifts = _TRIGRAM if form.trigram else {"own": 0}
    whole = parts.linear(
        tensors,
        "embedding_transformation",
        [f"{prefix}embedding_transformation"],
        (form.hidden, form.embedding * len(shifts)),
        "own_word",
        "hidden",
        residual="hidden",
    )
    if not form.trigram:
        return Embed((Term(words, "ids"),), "own_word"), Embed(others, "hidden"), whole, norm
    body: list[Node] = [Embed(others, "hidden")]
    for index, (which, shift) in enumerate(shifts.items()):
        value = f"{which}_word"
        body += [
            Embed((Term(words, "ids", shift=shift),), value),
            _of_columns(whole, f"{which}_transformation", value, index * form.embedding, index == 0),
        ]
    return (*body, norm)


def _of_columns(whole: Linear, name: str, value: str, begin: int, bias: bool) -> Linear:
    """A linear that adds what some of the inputs contribute, those of `value`; one of them has the `bias`."""
    (array,) = whole.weight.arrays
    columns = columns_of(array, begin, begin + array.shape[1] // len(_TRIGRAM))
    return replace(
        whole,
        name=name,
        weight=Parameter(f"{name}_weight", (columns,)),
        bias=replace(whole.bias, name=f"{name}_bias") if bias and whole.bias is not None else None,
        input=value,
    )


def _layers(config: Config, tensors: TensorFile, prefix: str, form: _Form) -> Layers:
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    parts.check_layers(tensors, form.networks, "num_feedforward_networks")
    part = _Parts(tensors, [f"{prefix}{i}." for i in range(count)], form)
    return Layers("encoder_layer", count, _layer(part))


def _layer(part: _Parts) -> tuple[Op, ...]:
    form = part.form
    body: list[Op] = []
    narrow = "narrow" if form.bottleneck else "hidden"
    of_queries, of_values = ("hidden", "hidden") if not form.attends_inside else (narrow, narrow)
    if form.bottleneck:
        body += part.bottleneck("bottleneck_input", "bottleneck.input", narrow)
        # Where attention is inside the file has the second one nevertheless.
        part.tensors.ignore(*(f"{prefix}bottleneck.attention.*" for prefix in part.prefixes if form.attends_inside))
    if form.attention_bottleneck:
        of_queries = "narrow_shared"
        body += part.bottleneck("bottleneck_attention", "bottleneck.attention", of_queries)
    body += (
        part.linear("query", "attention.self.query", of_queries, "query"),
        part.linear("key", "attention.self.key", of_queries, "key"),
        part.linear("value", "attention.self.value", of_values, "value"),
        Attention("query", "key", "value", "context", form.heads),
        part.linear("attention_output", "attention.output.dense", "context", narrow, residual=narrow),
        part.norm("attention_norm", "attention.output.LayerNorm", narrow, form.inside, form.epsilon),
    )
    for i in range(form.networks - 1):
        body += part.feed_forward(f"ffn_{i}_", f"ffn.{i}.", narrow, form.epsilon)
    body += part.feed_forward("", "", narrow, _UNSAID_EPSILON)
    if form.bottleneck:
        body += (
            part.linear("bottleneck_output", "output.bottleneck.dense", narrow, "hidden", residual="hidden"),
            part.norm("bottleneck_output_norm", "output.bottleneck.LayerNorm", "hidden", form.hidden, form.epsilon),
        )
    return tuple(body)


@dataclass(frozen=True)
class _Parts:
    """Ops by what the file calls them behind the prefix of each layer."""

    tensors: TensorFile
    prefixes: Sequence[str]
    form: _Form

    def linear(
        self, name: str, source: str, value: str, out: str, activation: str = "none", residual: str | None = None
    ) -> Linear:
        shape = (self.form.widths[out], self.form.widths[value])
        sources = self.sources(source)
        return parts.linear(self.tensors, name, sources, shape, value, out, activation, residual=residual)

    def norm(self, name: str, source: str, value: str, width: int, epsilon: float) -> Norm:
        made = parts.layer_norm(self.tensors, name, self.sources(source), width, epsilon, value)
        return made if self.form.divides else replace(made, kind="affine", epsilon=None)

    def bottleneck(self, name: str, source: str, out: str) -> tuple[Op, ...]:
        return (
            self.linear(name, f"{source}.dense", "hidden", out),
            self.norm(f"{name}_norm", f"{source}.LayerNorm", out, self.form.inside, self.form.epsilon),
        )

    def feed_forward(self, name: str, source: str, value: str, epsilon: float) -> tuple[Op, ...]:
        return (
            self.linear(f"{name}intermediate", f"{source}intermediate.dense", value, "inner", self.form.activation),
            self.linear(f"{name}output", f"{source}output.dense", "inner", value, residual=value),
            self.norm(f"{name}output_norm", f"{source}output.LayerNorm", value, self.form.inside, epsilon),
        )

    def sources(self, source: str) -> list[str]:
        return [f"{prefix}{source}" for prefix in self.prefixes]
