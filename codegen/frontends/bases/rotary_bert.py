# SPDX-License-Identifier: Apache-2.0
"""BERT with angles, or scores that fall with the distance, in the place of positions and, in most, a gate: GTE's,
Nomic's, Jina's and Mosaic's encoders. Names as `transformers` 5.23 saves them, or as they were published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...ir.graph import Add, Attention, Embed, Graph, Layers, Linear, Multiply, Node, Op, Parameter, Rotary, Term
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.alibi import alibi
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from ..shared.rotary import angles_of, check_head_dim, check_pairs, limits_of, rotary_tables
from ..shared.stacked import stacked_linears
from . import bert_like, roberta_like
from .architecture import check_architecture
from .heads import Classifier, Encoder, FamilyHeads, graph_with_head

_INPUTS = ("query", "key", "value")
_TURNED = _INPUTS[:2]


@dataclass(frozen=True)
class LayerForm:
    """What a family calls the parts of a layer, behind `prefix` and the layer's number, and which have a bias."""

    prefix: str
    attention_inputs: tuple[str, ...]  # of queries, keys and values, or of all three as one tensor
    attention_output: str
    attention_norm: str
    intermediate: str
    gate: str | None  # None: there is none; the same as `intermediate`: one tensor, the gate below,
    output: str
    output_norm: str
    attention_bias: bool
    intermediate_bias: bool
    output_bias: bool
    gate_first: bool = False  # or above
    input_norms: tuple[str, ...] = ()  # of whole rows of queries and of keys, where there are such
    attended_norm: str | None = None  # of what attention adds to the rows, which has them added before, too

    def more_widths(self, shape: LayerShape) -> dict[str, int]:
        """Of values that few have."""
        gate = {} if self.gate is None else {"gate": shape.intermediate}
        return gate | ({} if self.attended_norm is None else {"attended": shape.hidden})


@dataclass(frozen=True)
class Family:
    """What it has of its own; usual values are those where the configuration says none."""

    name: str  # of its classes
    prefix: str  # of the encoder in a file with a head
    embedding_norm: str
    layer: LayerForm
    tokenizer_class: str
    theta: float
    activation: str
    epsilon: float
    segments: int
    classifier: tuple[str, str]  # the last linear of a sequence classifier, and the one before, by the file
    prediction: Callable[[LayerShape], Prediction]
    # By what a row knows where it stands; a table is RoBERTa's, which begins behind the padding token's position.
    places: Literal["angles", "slopes", "table"] = "angles"
    pairs: bool = False  # whether there are classes for two texts

    def read_limits(self, config: Config) -> Limits:
        """As `rotary.limits_of`, or RoBERTa's."""
        return (roberta_like.limits_of if self.places == "table" else limits_of)(config, self.tokenizer_class)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        return _graph_of(checkpoint, max_tokens, self)


def _graph_of(checkpoint: Checkpoint, max_tokens: int, family: Family) -> Graph:
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, family.name)
    bert_like.check_encoder_only(config)
    limits, shape = family.read_limits(config), _read_shape(config, family)
    parts.check_max_tokens(max_tokens, limits.positions, limits.positions_key)
    prefix = tensors.below(family.prefix)
    prediction = family.prediction(shape).giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    segments = config.natural_int("type_vocab_size", family.segments, maximum=256)
    body: tuple[Node, ...] = (
        _embed(checkpoint, prefix, family, limits.vocabulary, segments, shape.hidden),
        parts.layer_norm(
            tensors, "embedding_norm", [f"{prefix}{family.embedding_norm}"], shape.hidden, shape.epsilon, "hidden"
        ),
        _layers(config, tensors, prefix, family.layer, shape, _places(config, family, shape, max_tokens)),
    )
    pooler = ("pooler", f"{prefix}pooler.dense", "tanh")
    last, before = family.classifier
    dense = pooler if before == "pooler.dense" else ("classifier_dense", before, "tanh")
    widths = shape.widths | family.layer.more_widths(shape)
    encoder = Encoder(body, widths, limits.vocabulary, segments or parts.SEGMENTS)
    heads = FamilyHeads(
        Classifier(last, dense, pairs=family.pairs),
        prediction,
        left_out=(
            f"{prefix}pooler.dense.weight",
            f"{prefix}pooler.dense.bias",
            *((bert_like.other_head(config, family.name),) if family.pairs else ()),
        ),
    )
    return graph_with_head(checkpoint, max_tokens, family.name, encoder, heads)


def _read_shape(config: Config, family: Family) -> LayerShape:
    shape = bert_like.read_shape(config, family.activation)
    shape = replace(shape, epsilon=parts.epsilon_of(config, default=family.epsilon))
    width = shape.hidden // shape.heads
    if family.places == "angles":
        check_pairs(width)
    check_head_dim(config, width)
    return shape


def _places(
    config: Config, family: Family, shape: LayerShape, max_tokens: int
) -> tuple[tuple[Rotary, ...], Parameter | None]:
    """What turns queries and keys, and what is added to scores."""
    if family.places != "angles":
        return (), alibi(shape.heads, max_tokens, both_sides=True) if family.places == "slopes" else None
    angles = angles_of(config, family.theta, family.read_limits(config).positions)
    cosines, sines = rotary_tables("rotary", angles, max_tokens, shape.hidden // shape.heads)
    return tuple(Rotary((cosines,), (sines,), shape.heads, value) for value in _TURNED), None


def _embed(checkpoint: Checkpoint, prefix: str, family: Family, vocabulary: int, segments: int, width: int) -> Embed:
    """The same with a table of positions, where there is one."""
    config, tensors = checkpoint.config, checkpoint.tensors
    found = embed(tensors, prefix, vocabulary, segments, width)
    if family.places != "table":
        return found
    first = roberta_like.first_position(config)
    bert_like.check_padding(checkpoint.tokenizer, first - 1)
    entries = config.positive_int("max_position_embeddings", maximum=parts.MAX_WIDTH)
    source = f"{prefix}embeddings.position_embeddings.weight"
    positions = parts.parameter(tensors, "position_embeddings", source, (entries, width))
    return replace(found, terms=(*found.terms, Term(positions, "positions", first)))


def embed(tensors: TensorFile, prefix: str, vocabulary: int, segments: int, width: int, out: str = "hidden") -> Embed:
    """Words, and segments where there are any."""
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{bert_like.WORDS}", (vocabulary, width))
    terms = [Term(words, "ids")]
    if segments:
        source = f"{prefix}embeddings.token_type_embeddings.weight"
        terms.append(Term(parts.parameter(tensors, "segment_embeddings", source, (segments, width)), "segments"))
    return Embed(tuple(terms), out)


def _layers(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    form: LayerForm,
    shape: LayerShape,
    places: tuple[tuple[Rotary, ...], Parameter | None],
) -> Layers:
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    prefixes = [f"{prefix}{form.prefix}{i}." for i in range(count)]
    hidden, inner = shape.hidden, shape.intermediate

    def sources(name: str) -> list[str]:
        return [f"{of}{name}" for of in prefixes]

    def norm(name: str, source: str, value: str = "hidden") -> Op:
        return parts.layer_norm(tensors, name, sources(source), hidden, shape.epsilon, value)

    def added(name: str, source: str, value: str, width: int, bias: bool) -> Linear:
        size = (hidden, width)
        return parts.linear(tensors, name, sources(source), size, value, "hidden", residual="hidden", bias=bias)

    def widened(name: str, source: str, out: str, activation: str) -> Linear:
        bias = form.intermediate_bias
        return parts.linear(tensors, name, sources(source), (inner, hidden), "hidden", out, activation, bias=bias)

    def attended() -> tuple[Op, ...]:
        output = added("attention_output", form.attention_output, "context", hidden, form.attention_bias)
        if form.attended_norm is None:
            return (output,)
        normed = norm("attended_norm", form.attended_norm, "attended")
        return replace(output, out="attended"), normed, Add("hidden", "attended", "hidden")

    if form.gate is None:
        between: tuple[Op, ...] = (widened("intermediate", form.intermediate, "inner", shape.activation),)
    elif form.gate == form.intermediate:
        both = (("intermediate", "inner", "none"), ("gate", "gate", shape.activation))
        bias, size = form.intermediate_bias, (inner, hidden)
        made = both[::-1] if form.gate_first else both
        between = stacked_linears(tensors, sources(form.gate), made, size, "hidden", bias=bias)
    else:
        up = widened("intermediate", form.intermediate, "inner", "none")
        between = (up, widened("gate", form.gate, "gate", shape.activation))
    if form.gate is not None:
        between += (Multiply("gate", "inner", "inner"),)
    turned, bias_of_scores = places
    layer = (
        *_attention_inputs(tensors, prefixes, form, hidden),
        *(norm(f"{value}_norm", source, value) for value, source in zip(_TURNED, form.input_norms, strict=False)),
        *turned,
        Attention(*_INPUTS, "context", shape.heads, bias=bias_of_scores),
        *attended(),
        norm("attention_norm", form.attention_norm),
        *between,
        added("output", form.output, "inner", inner, form.output_bias),
        norm("output_norm", form.output_norm),
    )
    return Layers("encoder_layer", count, layer)


def _attention_inputs(tensors: TensorFile, prefixes: Sequence[str], form: LayerForm, hidden: int) -> tuple[Linear, ...]:
    """Queries, keys and values of `hidden`."""
    sources, size = [[f"{of}{name}" for of in prefixes] for name in form.attention_inputs], (hidden, hidden)
    if len(sources) == 1:
        made = tuple((name, name, "none") for name in _INPUTS)
        return stacked_linears(tensors, sources[0], made, size, "hidden", bias=form.attention_bias)
    return tuple(
        parts.linear(tensors, name, of, size, "hidden", name, bias=form.attention_bias)
        for name, of in zip(_INPUTS, sources, strict=True)
    )
