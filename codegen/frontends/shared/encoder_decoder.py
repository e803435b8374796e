# SPDX-License-Identifier: Apache-2.0
"""An encoder and a decoder that write a text: BART and what descends from it, by their names in `transformers`. Words
are the same for both, and for the logits, in all but FSMT."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from ...ir.graph import Add, Embed, Graph, Head, Layers, Linear, Node, Parameter, Term
from ...load.config import Config
from ...load.generation_config import GenerationSettings
from ...load.safetensors import TensorFile
from ...tasks.translation import Translation
from . import parts
from .computed import Computed
from .decoder_layer import DecoderNames, decoder_layer, decoder_widths
from .encoder_layer import BART_NAMES, LayerNames, LayerShape, post_norm_layer, pre_norm_layer
from .masks import EVERYTHING, Masks
from .sinusoids import halved_sinusoids
from .target_rules import build_target_rules

POSITIONS, VOCABULARY = "max_position_embeddings", "vocab_size"
# Of the library, for one thing.
_OTHER_NAMES = {
    "d_model": "hidden_size",
    "encoder_attention_heads": "num_attention_heads",
    "encoder_layers": "num_hidden_layers",
}
# Training's; the encoder's number of layers once more; a bias that they all have.
_HARMLESS = """
    activation_dropout add_bias_logits attention_dropout classif_dropout decoder_layerdrop dropout encoder_layerdrop
    init_std is_decoder num_hidden_layers
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_LOGITS, _BIAS = "lm_head.weight", "final_logits_bias"
_WORDS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
_FIRST_POSITION = 2  # rows of learned tables before the first token's
_PLACES = "target_places"
_EPSILON = 1e-5  # of the norms; no key says it
_DECODER = DecoderNames(
    self_query="self_attn.q_proj",
    self_key="self_attn.k_proj",
    self_value="self_attn.v_proj",
    self_output="self_attn.out_proj",
    self_norm="self_attn_layer_norm",
    cross_query="encoder_attn.q_proj",
    cross_key="encoder_attn.k_proj",
    cross_value="encoder_attn.v_proj",
    cross_output="encoder_attn.out_proj",
    cross_norm="encoder_attn_layer_norm",
    target_intermediate="fc1",
    target_output="fc2",
    target_norm="final_layer_norm",
)


Positions = Callable[[str, int], Term]  # the term of an embedding: for encoder or decoder, of a width


@dataclass(frozen=True)
class Words:
    """Tables."""

    source: Parameter  # of texts
    target: Parameter  # of what is written
    logits: Parameter  # their weights


def shared_words(config: Config, tensors: TensorFile, root: str, tied: parts.Names, width: int) -> Words:
    """One table. `root` is before its names, `tied` are tensors that are the same once more."""
    names = (*(f"{root}{name}" for name in _WORDS), *tied)
    missing = next((name for name in reversed(names) if name not in tensors), None)
    if not config.flag("tie_word_embeddings", True) and missing is not None:
        raise parts.refuse("missing-tensor", f"tie_word_embeddings is false, and there is no {missing}")
    words = parts.tied_parameter(tensors, "word_embeddings", names, (vocabulary_of(config), width))
    return Words(words, words, words)


@dataclass(frozen=True)
class Form:
    """What families differ in."""

    embedding_norm: bool = False
    norm_of_written_words: bool = False  # a decoder's is that of words, never scaled, to which positions are added then
    pre_norm: bool = False  # norms stand before the blocks, and one behind the last,
    last_norm: str = "layer_norm"  # which is called so
    logits_bias: bool = True
    activation: str = "gelu"  # where config.json says none
    scales_words: bool | None = False  # where it does not say; None: never
    root: str = "model."  # before the names of all tensors but the logits' in files of classes with a head
    encoder: LayerNames = BART_NAMES  # what its layers call their parts,
    masks: Callable[[Config], Masks] = lambda _: EVERYTHING  # and which tokens they see
    attention_bias: Callable[[Config], bool] = lambda _: True  # whether linears of attention have any
    unused: str = ""  # tensors of an encoder's layer that nothing reads, behind its prefix
    words: Callable[[Config, TensorFile, str, parts.Names, int], Words] = shared_words
    source_entries: str = VOCABULARY  # the key of how many the tables of words have
    target_entries: str = VOCABULARY
    source_positions: str = POSITIONS  # the key of how many there are
    target_positions: str = POSITIONS


@dataclass(frozen=True)
class Stacks:
    """The two of a file, each behind the embedding."""

    words: Words
    encoder: tuple[Node, ...]  # its rows are `hidden`
    decoder: tuple[Node, ...]  # its rows are `target`
    width: int  # of both
    widths: dict[str, int]
    notes: tuple[str, ...]


def build_encoder_decoder(
    config: Config,
    tensors: TensorFile,
    limits: tuple[int, int],
    positions: Positions,
    form: Form,
    generation: GenerationSettings | None,
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `limits` are the tokens of a text, and of
    a target behind what it begins with, its end included; `generation` is as in `build_target_rules`."""
    max_source, max_target = limits
    vocabulary = vocabulary_of(config, form.target_entries)
    rules = build_target_rules(config, generation, vocabulary, max_target, has_encoder=True)
    check_tokens(config, form, max_source, rules.steps(max_source))
    stacks = read_stacks(config, tensors, positions, form, (_LOGITS,))
    logits = _vocabulary(tensors, stacks.words.logits, vocabulary, form.logits_bias)
    tensors.finish()
    return Graph(
        stacks.widths | {"logits": vocabulary},
        stacks.encoder,
        (Head(Translation(vocabulary, max_target), "logits"),),
        vocabulary_of(config, form.source_entries),
        1,
        max_source,
        stacks.notes,
        repeat=(*stacks.decoder, logits),
        target_rules=rules,
    )


def read_stacks(
    config: Config,
    tensors: TensorFile,
    positions: Positions,
    form: Form,
    tied: parts.Names = (),
    begin: int | None = None,
) -> Stacks:
    """Of a file where tensors `tied` are the words once more. A decoder that reads the text itself is one token behind
    it, and reads `begin` first; None: it reads what is written."""
    parts.check_other_names(config, _OTHER_NAMES)
    encoder, decoder = _shape(config, "encoder", form), _shape(config, "decoder", form)
    # Of the first files, which nothing reads.
    tensors.ignore(*(f"{form.root}{of}.version" for of in ("encoder", "decoder")))
    unused = tensors.ignore(f"{form.root}encoder.layers.*.{form.unused}") if form.unused else ()
    words = form.words(config, tensors, form.root, tied, encoder.hidden)

    def stack(of: str, shape: LayerShape, out: str, shift: int = 0) -> tuple[Node, ...]:
        scaled = form.scales_words is not None and config.flag("scale_embedding", form.scales_words)
        normed_alone = form.norm_of_written_words and of == "decoder"
        factor = math.sqrt(shape.hidden) if scaled and not normed_alone else None
        table = words.source if of == "encoder" else words.target
        word = Term(table, "ids", factor=factor, shift=shift, outside=begin if shift else None)
        place = positions(of, shape.hidden)
        body: tuple[Node, ...] = (Embed((word, place), out),)
        if form.embedding_norm:
            source = f"{form.root}{of}.layernorm_embedding"
            norm = parts.layer_norm(tensors, f"{of}_embedding_norm", [source], shape.hidden, shape.epsilon, out)
            body += (norm,)
            if normed_alone:
                body = Embed((word,), out), norm, Embed((place,), _PLACES), Add(out, _PLACES, out)
        body += (_layers(config, tensors, of, shape, form),)
        if form.pre_norm:
            source = f"{form.root}{of}.{form.last_norm}"
            body += (parts.layer_norm(tensors, f"{of}_norm", [source], shape.hidden, shape.epsilon, out),)
        return body

    widths = encoder.widths | decoder_widths(decoder)
    if form.norm_of_written_words:
        widths[_PLACES] = decoder.hidden
    if form.pre_norm:
        widths |= {"normed": encoder.hidden, "target_normed": decoder.hidden}
    return Stacks(
        words,
        stack("encoder", encoder, "hidden"),
        stack("decoder", decoder, "target", 0 if begin is None else -1),
        encoder.hidden,
        widths,
        (f"not used: {len(unused)} tensors of tokens that see all others",) if unused else (),
    )


def check_tokens(config: Config, form: Form, source: int, target: int) -> None:
    """EtchError where so many have no positions."""
    for tokens, key in ((source, form.source_positions), (target, form.target_positions)):
        parts.check_max_tokens(tokens, position_count(config, key), key)


def vocabulary_of(config: Config, key: str = VOCABULARY) -> int:
    """Entries of the words."""
    return config.positive_int(key, maximum=parts.MAX_VOCABULARY)


def learned_positions(config: Config, tensors: TensorFile, first: int = _FIRST_POSITION) -> Positions:
    """Tables of the file; the rows before the `first` are no token's."""

    def positions(of: str, width: int) -> Term:
        rows = (position_count(config) + first, width)
        table = parts.parameter(tensors, f"{of}_positions", position_table(of), rows)
        return Term(table, "positions", first)

    return positions


def positions_from_first(config: Config, tensors: TensorFile) -> Positions:
    """The same of tables whose first row is the first token's."""
    return learned_positions(config, tensors, 0)


def computed_positions(config: Config) -> Positions:
    """Sinusoids, one table for both."""

    @cache
    def table(width: int) -> Parameter:
        return halved_sinusoids("position_embeddings", position_count(config), width)

    return lambda of, width: Term(table(width), "positions")


def stored_or_computed_positions(config: Config, tensors: TensorFile) -> Positions:
    """The same where the file has no tables, or the same ones, as older files have: else the library takes these."""
    stored, computed = learned_positions(config, tensors, 0), computed_positions(config)

    def positions(of: str, width: int) -> Term:
        made = computed(of, width)
        if position_table(of) not in tensors:
            return made
        own = stored(of, width)
        return made if np.array_equal(own.table.at(0).values, made.table.at(0).values) else own

    return positions


def position_table(of: str, root: str = "model.") -> str:
    """The name of a tensor."""
    return f"{root}{of}.embed_positions.weight"


def position_count(config: Config, key: str = POSITIONS) -> int:
    """Of a text and of a target."""
    return config.positive_int(key, maximum=parts.MAX_WIDTH)


def _shape(config: Config, of: str, form: Form) -> LayerShape:
    shape = LayerShape(
        hidden=config.positive_int("d_model", maximum=parts.MAX_WIDTH),
        heads=config.positive_int(f"{of}_attention_heads", maximum=parts.MAX_WIDTH),
        intermediate=config.positive_int(f"{of}_ffn_dim", maximum=parts.MAX_WIDTH),
        activation=parts.activation_of(config, "activation_function", form.activation),
        epsilon=_EPSILON,
        masks=form.masks(config) if of == "encoder" else EVERYTHING,
        attention_bias=form.attention_bias(config),
    )
    parts.check_heads(shape.hidden, shape.heads, "d_model", f"{of}_attention_heads")
    return shape


def _layers(config: Config, tensors: TensorFile, of: str, shape: LayerShape, form: Form) -> Layers:
    key = f"{of}_layers"
    count = config.positive_int(key, maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count, key)
    prefixes = [f"{form.root}{of}.layers.{i}." for i in range(count)]
    if of == "encoder":
        layer = pre_norm_layer if form.pre_norm else post_norm_layer
        return Layers("encoder_layer", count, layer(tensors, prefixes, form.encoder, shape))
    return Layers("decoder_layer", count, decoder_layer(tensors, prefixes, _DECODER, shape, "hidden", form.pre_norm))


def _vocabulary(tensors: TensorFile, words: Parameter, vocabulary: int, has_bias: bool) -> Linear:
    """The logits: the weights are the words', the bias is stored as a row. The library makes one of zeros where a file
    has none."""
    if not has_bias or _BIAS not in tensors:
        return Linear("logits", words, None, "target", "logits")
    bias = tensors.take(_BIAS, (1, vocabulary))
    row = Computed(bias.name, (vocabulary,), lambda: bias.values[0], bias.file)
    return Linear("logits", words, Parameter("vocabulary_bias", (row,)), "target", "logits")
