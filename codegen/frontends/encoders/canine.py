# SPDX-License-Identifier: Apache-2.0
"""CANINE (Clark et al., 2021, arXiv:2103.06874): no vocabulary, a row per character, found by hash functions of its
code point, and layers that work on a row for every few characters. Names as in `transformers`.

A first layer attends to characters of the same block, a convolution makes a row of each group of them (`molecules`),
the layers in the middle go over these. Classes that read the first row of a text end there; for those that read a row
of every character a convolution over characters and their groups' rows and a last layer follow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...ir.character_models import CODE_POINTS
from ...ir.graph import Embed, Graph, Layers, Linear, Node, Parameter, Term
from ...ir.hashes import PRIMES
from ...ir.parameter import Array, FloatArray
from ...ir.renamed import Renaming
from ...ir.row_groups import MOST_RATE, FirstRow, GroupRows, SpreadRows
from ...ir.task import Task
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..bases.architecture import CLASSIFIER_ENDING, check_architecture
from ..bases.bert_like import EMBEDDING_NORM, LAYER, check_no_decoder, read_shape
from ..bases.heads import Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.computed import Computed, below_each_other
from ..shared.encoder_layer import LayerShape, post_norm_layer
from ..shared.masks import EVERYTHING, Masks
from ..shared.rows import HeadOps

MODEL_TYPE = "canine"
NAME = "Canine"
_OF_ONE_ROW = (CLASSIFIER_ENDING, "ForMultipleChoice")
_OF_EVERY_ROW = ("ForQuestionAnswering", "ForTokenClassification")
HARMLESS_KEYS = frozenset(("vocab_size",))  # of a head that no class has
_EMBEDDINGS = "char_embeddings."
_HASHED = "HashBucketCodepointEmbedder_"
_ROWS, _GROUPS, _OF_TOKENS = "hidden", "molecules", "characters"


def read_limits(config: Config) -> Limits:
    """Ids are code points; positions are looked up in a table of as many rows as hash functions have."""
    key = "max_position_embeddings"
    positions = min(config.positive_int(key, 16_384), config.positive_int("num_hash_buckets", 16_384))
    return Limits(config.positive_int("hidden_size", 768), CODE_POINTS, positions, key, "CanineTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    others = [f"{NAME}{ending}" for ending in (*_OF_ONE_ROW[1:], *_OF_EVERY_ROW)]
    check_architecture(checkpoint, NAME, others=others)
    check_no_decoder(config)
    of_one_row = any(f"{NAME}{ending}" in config.architectures for ending in _OF_ONE_ROW)
    of_one_row = of_one_row or not (config.architectures or checkpoint.sentence)
    form = _read_form(config)
    parts.check_max_tokens(max_tokens, read_limits(config).positions)
    prefix = tensors.below("canine.")
    body = _middle(config, tensors, prefix, form, max_tokens)
    last = tuple(f"{prefix}{name}*" for name in ("projection.", "final_char_encoder."))
    value, unread = _GROUPS, last
    if not of_one_row:
        body, value, unread = (*body, *_end(tensors, prefix, form)), _OF_TOKENS, ()

    def classifier(source: str = "classifier", task: Task | None = None) -> HeadOps:
        dense = ("pooler", f"{prefix}pooler.dense", "tanh")
        return classifier_head(config, tensors, value, form.layer.hidden, source, dense, task=task)

    pooler = (f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias")
    heads = FamilyHeads(classifier, pooled=classifier, left_out=pooler, unread=unread)
    encoder = Encoder(body, form.widths, CODE_POINTS, form.segments, value)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


@dataclass(frozen=True)
class _Form:
    """Of all parts."""

    layer: LayerShape
    hashes: int
    buckets: int
    segments: int
    block: int  # characters that attend to each other in the first layer
    rate: int  # characters of a group
    taps: int  # of the convolution behind the layers

    @property
    def widths(self) -> dict[str, int]:
        """Of the values that layers and convolutions read and write."""
        width = self.layer.hidden
        of_parts = {"group": self.rate * width, "around": 2 * self.taps * width}
        return self.layer.widths | {_GROUPS: width, _OF_TOKENS: width} | of_parts


def _read_form(config: Config) -> _Form:
    layer = read_shape(config)
    hashes = config.positive_int("num_hash_functions", 8, maximum=len(PRIMES))
    if layer.hidden % hashes:
        message = f"hidden_size {layer.hidden} is not a multiple of num_hash_functions {hashes}"
        raise parts.refuse("config-value", message)
    return _Form(
        layer,
        hashes,
        config.positive_int("num_hash_buckets", 16_384, maximum=parts.MAX_VOCABULARY // hashes),
        config.positive_int("type_vocab_size", 16, maximum=256),
        config.positive_int("local_transformer_stride", 128),
        config.positive_int("downsampling_rate", 4, maximum=min(MOST_RATE, parts.MAX_WIDTH // layer.hidden)),
        config.positive_int("upsampling_kernel_size", 4, maximum=min(MOST_RATE, parts.MAX_WIDTH // layer.hidden // 2)),
    )


def _middle(config: Config, tensors: TensorFile, prefix: str, form: _Form, max_tokens: int) -> tuple[Node, ...]:
    """Ids to the rows of groups behind the layers in the middle; `hidden` has those of characters behind the first."""
    count = config.positive_int("num_hidden_layers", 12, maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    in_blocks = Masks("blocks", form.block) if form.block < max_tokens else EVERYTHING
    first = replace(form.layer, masks=in_blocks)
    epsilon, width = form.layer.epsilon, form.layer.hidden

    def norm(name: str, source: str, value: str) -> Node:
        return parts.layer_norm(tensors, name, [f"{prefix}{source}"], width, epsilon, value)

    return (
        _embed(tensors, f"{prefix}{_EMBEDDINGS}", form),
        norm("embedding_norm", f"{_EMBEDDINGS}{EMBEDDING_NORM.removeprefix('embeddings.')}", _ROWS),
        _layers(tensors, [f"{prefix}initial_char_encoder.layer.0."], "first_layer", first, _ROWS),
        GroupRows(form.rate, _ROWS, "group"),
        _convolution(tensors, f"{prefix}chars_to_molecules", "grouping", form, form.rate, "group", _GROUPS),
        FirstRow(_ROWS, _GROUPS),
        norm("grouping_norm", "chars_to_molecules.LayerNorm", _GROUPS),
        _layers(tensors, [f"{prefix}encoder.layer.{i}." for i in range(count)], "layer", form.layer, _GROUPS),
    )


def _end(tensors: TensorFile, prefix: str, form: _Form) -> tuple[Node, ...]:
    """Rows of characters behind the first layer and of groups to those of characters. The convolution has as many
    zeros around a text as leave it its length, of an odd number one more behind it."""
    before = (form.taps - 1) // 2
    source = f"{prefix}projection"
    return (
        SpreadRows(form.rate, form.taps, before, _ROWS, _GROUPS, "around"),
        _convolution(tensors, source, "projection", form, form.taps, "around", _OF_TOKENS),
        parts.layer_norm(
            tensors, "projection_norm", [f"{source}.LayerNorm"], form.layer.hidden, form.layer.epsilon, _OF_TOKENS
        ),
        _layers(tensors, [f"{prefix}final_char_encoder.layer.0."], "last_layer", form.layer, _OF_TOKENS),
    )


def _embed(tensors: TensorFile, source: str, form: _Form) -> Embed:
    width = form.layer.hidden
    shape = (form.buckets, width // form.hashes)
    tables = [tensors.take(f"{source}{_HASHED}{i}.weight", shape) for i in range(form.hashes)]
    segments = parts.parameter(
        tensors, "segment_embeddings", f"{source}token_type_embeddings.weight", (form.segments, width)
    )
    positions = parts.parameter(
        tensors, "position_embeddings", f"{source}char_position_embeddings.weight", (form.buckets, width)
    )
    tensors.ignore(f"{source}position_ids")  # 0, 1, 2, ...: a buffer of older files, not a weight
    hashed = Parameter("character_embeddings", (below_each_other(tables),))
    terms = Term(hashed, "hashes", hashes=form.hashes), Term(segments, "segments"), Term(positions, "positions")
    return Embed(terms, _ROWS)


def _layers(tensors: TensorFile, prefixes: list[str], name: str, shape: LayerShape, rows: str) -> Layers:
    """BERT's, on `rows`."""

    def parameter(of: Parameter) -> Parameter:
        return replace(of, name=f"{name}_{of.name}")

    renaming = Renaming(lambda op: f"{name}_{op}", lambda value: rows if value == _ROWS else value, parameter)
    return Layers(name, len(prefixes), tuple(map(renaming.op, post_norm_layer(tensors, prefixes, LAYER, shape))))


def _convolution(tensors: TensorFile, source: str, name: str, form: _Form, taps: int, value: str, out: str) -> Linear:
    """Of rows that lie side by side in `value`, those of one tap behind those of the one before."""
    width, inputs = form.layer.hidden, form.widths[value] // taps
    weight = _by_taps(tensors.take(f"{source}.conv.weight", (width, inputs, taps)))
    bias = parts.parameter(tensors, f"{name}_bias", f"{source}.conv.bias", (width,))
    return Linear(name, Parameter(f"{name}_weight", (weight,)), bias, value, out, form.layer.activation)


def _by_taps(kernel: Array) -> Computed:
    """[outputs, taps * inputs] of [outputs, inputs, taps]."""
    outputs, inputs, taps = kernel.shape

    def values() -> FloatArray:
        return np.ascontiguousarray(kernel.values.swapaxes(1, 2)).reshape(outputs, taps * inputs)

    return Computed(kernel.name, (outputs, taps * inputs), values, kernel.file)
