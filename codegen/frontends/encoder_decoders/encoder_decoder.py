# SPDX-License-Identifier: Apache-2.0
"""Two encoders as one that reads and one that writes (Rothe et al., 2020, arXiv:1907.12461): BERT's, RoBERTa's or
BertGeneration's layers, those of the second with attention to the rows of the first. A padding token that one like
RoBERTa writes counts as any other here; `transformers` gives it no position of its own. Names as in `transformers`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...ir.graph import Embed, Graph, Head, Layers, Node, Term
from ...ir.parameter import Array, Parameter
from ...load.checkpoint import Checkpoint
from ...load.config import Asked, Config
from ...load.config_keys import check_keys, unused_keys
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ...tasks.translation import Translation
from ..bases import bert_like
from ..bases.roberta_like import first_position
from ..shared import parts
from ..shared.checked_keys import ALL, PAST, check_is_causal, check_windows
from ..shared.computed import Computed
from ..shared.decoder_layer import DecoderNames, decoder_layer, decoder_widths
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from ..shared.target_rules import build_behind_encoder, build_target_rules, check_begin

MODEL_TYPE = "encoder-decoder"
HARMLESS_KEYS = frozenset({"encoder", "decoder", "vocab_size"})  # the halves have one each
WRITER = "EncoderDecoderModel"
_POSITIONS = "max_position_embeddings"
_LAYER = DecoderNames(
    self_query="attention.self.query",
    self_key="attention.self.key",
    self_value="attention.self.value",
    self_output="attention.output.dense",
    self_norm="attention.output.LayerNorm",
    cross_query="crossattention.self.query",
    cross_key="crossattention.self.key",
    cross_value="crossattention.self.value",
    cross_output="crossattention.output.dense",
    cross_norm="crossattention.output.LayerNorm",
    target_intermediate="intermediate.dense",
    target_output="output.dense",
    target_norm="output.LayerNorm",
)


def _as_bert(shape: LayerShape) -> Prediction:
    head = "decoder.cls.predictions"
    return Prediction.as_bert(head, f"{head}.transform", shape, shape.hidden)


def _as_roberta(shape: LayerShape) -> Prediction:
    return Prediction.as_roberta(shape, "decoder.lm_head")


def _one_linear(shape: LayerShape) -> Prediction:
    head = "decoder.lm_head"
    return Prediction(None, None, f"{head}.bias", f"{head}.decoder", "none", 0.0, shape.hidden)


@dataclass(frozen=True)
class _Kind:
    """What the classes of a family are here."""

    tokenizer_class: str
    root: str  # of a decoder's tensors
    head: Callable[[LayerShape], Prediction]  # what makes logits of its rows
    has_segments: bool = True
    counts_from_padding: bool = False  # whether a text's first position is behind that of the padding token


_ROBERTA = _Kind("RobertaTokenizer", "decoder.roberta.", _as_roberta, counts_from_padding=True)
_KINDS = {
    "bert": _Kind("BertTokenizer", "decoder.bert.", _as_bert),
    "bert-generation": _Kind("BertGenerationTokenizer", "decoder.bert.", _one_linear, has_segments=False),
    "camembert": replace(_ROBERTA, tokenizer_class="CamembertTokenizer"),
    "roberta": _ROBERTA,
    "xlm-roberta": replace(_ROBERTA, tokenizer_class="XLMRobertaTokenizer"),
}


@dataclass(frozen=True)
class _Half:
    """One of the two, as its part of the configuration says."""

    kind: _Kind
    config: Config
    shape: LayerShape
    tables: bert_like.Tables
    first: int  # row of the positions that is a text's first token's

    @property
    def positions(self) -> int:
        return self.tables.positions - self.first


def read_limits(config: Config) -> Limits:
    """Texts have as many tokens as the encoder has positions; the decoder may have words of its own."""
    encoder, decoder = _halves(config)
    return Limits(
        encoder.shape.hidden,
        encoder.tables.vocabulary,
        encoder.positions,
        f"encoder.{_POSITIONS}",
        encoder.kind.tokenizer_class,
        writes_texts=True,
        target_entries=decoder.tables.vocabulary,
    )


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As `build_behind_encoder`; no text may have the padding token where positions are counted from it."""
    encoder, decoder = _halves(checkpoint.config)
    if encoder.kind.counts_from_padding:
        bert_like.check_padding(checkpoint.tokenizer, encoder.first - 1)
    return build_behind_encoder(checkpoint, WRITER, graph_of, max_tokens, decoder.positions)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `max_source` are the tokens of a text,
    `max_target` those of a target behind what it begins with, its end included; `generation` is as in
    `build_target_rules`."""
    encoder, decoder = _halves(config)
    vocabulary = decoder.tables.vocabulary
    rules = build_target_rules(config, generation, vocabulary, max_target, has_encoder=True)
    parts.check_max_tokens(max_source, encoder.positions, f"encoder.{_POSITIONS}")
    parts.check_max_tokens(rules.steps(max_source), decoder.positions, f"decoder.{_POSITIONS}")
    check_begin(rules, decoder.first - 1 if decoder.kind.counts_from_padding else None)
    body = bert_like.encoder_body(
        encoder.config, tensors, "encoder.", encoder.tables, encoder.shape, bert_like.BERT, encoder.first
    )
    tensors.ignore("encoder.pooler.dense.weight", "encoder.pooler.dense.bias")  # of a class that nothing reads
    memory = "hidden"
    if encoder.shape.hidden != decoder.shape.hidden:
        memory, size = "memory", (decoder.shape.hidden, encoder.shape.hidden)
        body += (parts.linear(tensors, "encoder_projection", ["enc_to_dec_proj"], size, "hidden", memory),)
    head = decoder.kind.head(decoder.shape)
    head.lend_words(decoder.config, tensors, f"{decoder.kind.root}{bert_like.WORDS}")
    written = _decoder(decoder, tensors, memory)
    logits, widths = head.logits(decoder.config, tensors, written, "target", decoder.shape.hidden)
    tensors.finish()
    notes = tuple(note for half in (encoder, decoder) for note in unused_keys(half.config, frozenset()))
    graph = Graph(
        {memory: decoder.shape.hidden} | encoder.shape.widths | decoder_widths(decoder.shape) | widths,
        body,
        (Head(Translation(vocabulary, max_target), "logits"),),
        encoder.tables.vocabulary,
        encoder.tables.segments or parts.SEGMENTS,
        max_source,
        notes,
        repeat=(*written, *logits),
        target_rules=rules,
    )
    check_windows(decoder.config, graph)
    return graph


def _halves(config: Config) -> tuple[_Half, _Half]:
    return _half(config, "encoder"), _half(config, "decoder")


def _half(config: Config, name: str) -> _Half:
    values = config.values.get(name)
    if not isinstance(values, dict):
        raise parts.refuse("config-type", f"'{name}' must be an object")
    part = replace(config, values=Asked(values))
    kind = _KINDS.get(part.model_type)
    if kind is None:
        message = f"{name}.model_type '{part.model_type}' is not supported here: {', '.join(_KINDS)}"
        raise parts.refuse("model-type-not-supported", message)
    check_keys(part, may_decode=False)
    for key in ("is_decoder", "add_cross_attention"):
        if part.flag(key, False) != (name == "decoder"):
            raise parts.refuse("config-value", f"{name}.{key} is {str(name != 'decoder').lower()}")
    check_is_causal(part, {PAST if name == "decoder" else ALL}, f"{name}.")
    bert_like.check_positions(part)
    tables = bert_like.read_tables(part)
    if not kind.has_segments:
        tables = replace(tables, segments=0)
    first = first_position(part) if kind.counts_from_padding else 0
    if first >= tables.positions:
        raise parts.refuse("config-value", f"{name}.{_POSITIONS} {tables.positions} leaves no position for a token")
    return _Half(kind, part, bert_like.read_shape(part), tables, first)


def _decoder(half: _Half, tensors: TensorFile, memory: str) -> tuple[Node, ...]:
    """What is written so far to `target`, a row for each token."""
    shape, tables, root = half.shape, half.tables, half.kind.root
    count = half.config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    embeddings = f"{root}embeddings."
    words = parts.parameter(tensors, "target_words", f"{root}{bert_like.WORDS}", (tables.vocabulary, shape.hidden))
    places: Array = tensors.take(f"{embeddings}position_embeddings.weight", (tables.positions, shape.hidden))
    if half.kind.has_segments:
        segments = tensors.take(f"{embeddings}token_type_embeddings.weight", (tables.segments, shape.hidden))
        places = _of_first_segment(places, segments)
    norm = [f"{root}{bert_like.EMBEDDING_NORM}"]
    prefixes = [f"{root}encoder.layer.{i}." for i in range(count)]
    return (
        Embed((Term(words, "ids"), Term(Parameter("target_positions", (places,)), "positions", half.first)), "target"),
        parts.layer_norm(tensors, "target_embedding_norm", norm, shape.hidden, shape.epsilon, "target"),
        Layers("decoder_layer", count, decoder_layer(tensors, prefixes, _LAYER, shape, memory, pre_norm=False)),
    )


def _of_first_segment(places: Array, segments: Array) -> Computed:
    """Positions of what is written: all of it is of the first segment, which is added to them beforehand."""

    def compute() -> np.ndarray:
        return places.values.astype(np.float64) + segments.values[0]

    return Computed(f"{places.name} + {segments.name}[0]", places.shape, compute, places.file)
