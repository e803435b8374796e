# SPDX-License-Identifier: Apache-2.0
"""ESM-1b and ESM-2 (Lin et al., 2023, doi:10.1126/science.ade2574), encoders of proteins, and those of genomes that are
the same: with the head of one of their classes, or of sentence-transformers. Names as in `transformers`.

They are RoBERTa with norms before attention and feed-forward, and positions that are a table or turn queries and keys.
Words are scaled as dropout in training would: masks count as dropped (`token_dropout`), so that all other words are
larger where a text has some. The head that predicts which residues touch each other is not used.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...ir.graph import Embed, Graph, Layers, Node, Rotary, Term
from ...ir.parameter import F32Array
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.folders.esm import TOKENIZER_CLASS
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..bases.roberta_like import limits_of
from ..shared import parts, rotary
from ..shared.encoder_layer import LayerShape, pre_norm_layer
from ..shared.prediction_head import Prediction

MODEL_TYPE = "esm"
NAME = "Esm"
# Activations are gelu, whatever it says; the others are of the tokenizer, and of a model of folding.
HARMLESS_KEYS = frozenset(("esmfold_config", "hidden_act", "mask_token_id", "rope_theta", "vocab_list"))
_HEADS = ("EsmForMaskedLM", "EsmForTokenClassification")
_PREFIX = "esm."
_WORDS_HEAD = "lm_head.*"  # which published encoders have, whatever is made of their rows
_UNUSED = ("contact_head.regression", "pooler.dense")  # of which most files have both
_ABSOLUTE, _ROTARY = "absolute", "rotary"
_LAYER = replace(bert_like.LAYER, attention_norm="attention.LayerNorm", output_norm="LayerNorm")
_EMBEDDING_NORM, _LAST_NORM = "embeddings.layer_norm", "encoder.emb_layer_norm_after"
_DROPPED = 0.15 * 0.8  # of the words, in training
# Where a file has what positions are multiplied by: the model's own, or, before `transformers` 5, each layer's; its
# version 5.23 saves one with a star.
_FREQUENCIES = "rotary_embeddings.inv_freq"
_OF_LAYER = "encoder.layer.{}.attention.self." + _FREQUENCIES


def read_limits(config: Config) -> Limits:
    """A table of positions begins as RoBERTa's does; angles have no end, and only bound the texts."""
    if _position(config) == _ROTARY:
        return rotary.limits_of(config, TOKENIZER_CLASS)
    config.natural_int("pad_token_id")  # which RoBERTa need not say
    return limits_of(config, TOKENIZER_CLASS)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config = checkpoint.config
    check_architecture(checkpoint, NAME, others=_HEADS)
    _check_settings(config)
    limits, shape = read_limits(config), _read_shape(config)
    parts.check_max_tokens(max_tokens, limits.positions, limits.positions_key)
    prefix = checkpoint.tensors.below(_PREFIX)
    prediction = Prediction.as_roberta(shape).giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
    body = _body(checkpoint, prefix, shape, limits, max_tokens)
    encoder = Encoder(body, bert_like.Form(pre_norm=True).widths(shape), limits.vocabulary)
    heads = FamilyHeads(
        Classifier("classifier.out_proj", ("classifier_dense", "classifier.dense", "tanh"), pairs=False),
        prediction,
        unread=(*(f"{prefix}{of}.*" for of in _UNUSED), *(() if checkpoint.sentence is None else (_WORDS_HEAD,))),
    )
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _check_settings(config: Config) -> None:
    bert_like.check_no_decoder(config)
    if _flag(config, "is_folding_model"):
        raise parts.refuse("config-not-supported", "is_folding_model is true: no model of folding is supported")


def _position(config: Config) -> str:
    kind = config.text("position_embedding_type", _ABSOLUTE)
    if kind not in (_ABSOLUTE, _ROTARY):
        message = f"position_embedding_type '{kind}' (supported: {_ABSOLUTE}, {_ROTARY})"
        raise parts.refuse("position-embedding-not-supported", message)
    return kind


def _flag(config: Config, key: str) -> bool:
    """That may be null, which is false."""
    return config.values.get(key) is not None and config.flag(key)


def _read_shape(config: Config) -> LayerShape:
    shape = bert_like.shape_of(config, "gelu")
    if _position(config) == _ROTARY:
        rotary.check_pairs(shape.hidden // shape.heads)
        rotary.check_head_dim(config, shape.hidden // shape.heads)
    return shape


def _body(checkpoint: Checkpoint, prefix: str, shape: LayerShape, limits: Limits, max_tokens: int) -> tuple[Node, ...]:
    config, tensors = checkpoint.config, checkpoint.tensors
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, layers)
    terms = [_words(config, tensors, prefix, limits, shape)]
    turned: tuple[Rotary, ...] = ()
    positions = f"{prefix}embeddings.position_embeddings.weight"
    if _position(config) == _ABSOLUTE:
        first = config.natural_int("pad_token_id") + 1
        bert_like.check_padding(checkpoint.tokenizer, first - 1)
        size = (limits.positions + first, shape.hidden)
        terms.append(Term(parts.parameter(tensors, "position_embeddings", positions, size), "positions", first))
    else:
        tensors.ignore(positions)  # of files that have one all the same
        turned = _turned(config, tensors, prefix, shape, layers, max_tokens)

    def norm(name: str, source: str) -> Node:
        return parts.layer_norm(tensors, name, [f"{prefix}{source}"], shape.hidden, shape.epsilon, "hidden")

    prefixes = [f"{prefix}encoder.layer.{i}." for i in range(layers)]
    return (
        Embed(tuple(terms), "hidden"),
        *((norm("embedding_norm", _EMBEDDING_NORM),) if _flag(config, "emb_layer_norm_before") else ()),
        Layers("encoder_layer", layers, pre_norm_layer(tensors, prefixes, _LAYER, shape, turned)),
        norm("final_norm", _LAST_NORM),
    )


def _words(config: Config, tensors: TensorFile, prefix: str, limits: Limits, shape: LayerShape) -> Term:
    source = f"{prefix}{bert_like.WORDS}"
    words = parts.parameter(tensors, "word_embeddings", source, (limits.vocabulary, shape.hidden))
    if not _flag(config, "token_dropout"):
        return Term(words, "ids")
    return Term(words, "ids", factor=1 - _DROPPED, dropped=config.natural_int("mask_token_id"))


def _turned(
    config: Config, tensors: TensorFile, prefix: str, shape: LayerShape, layers: int, max_tokens: int
) -> tuple[Rotary, ...]:
    """Queries and keys."""
    frequencies = _frequencies(config, tensors, prefix, layers, shape.hidden // shape.heads)
    cosines, sines = rotary.tables_of_frequencies("rotary", frequencies, max_tokens)
    return tuple(Rotary((cosines,), (sines,), shape.heads, value) for value in ("query", "key"))


def _frequencies(config: Config, tensors: TensorFile, prefix: str, layers: int, head: int) -> F32Array:
    """Those of the file, maybe rounded, before those that `rope_theta` says."""
    names = [f"{prefix}{name}" for name in (_FREQUENCIES, *map(_OF_LAYER.format, ("*", *range(layers))))]
    found = [tensors.take(name, (head // 2,)) for name in names if name in tensors]
    if not found:
        theta = config.number("rope_theta", 10_000.0)
        return rotary.angles_in({"rope_theta": theta}, "config.json", theta, 1).frequencies(head)
    other = next((each.name for each in found if not np.array_equal(each.values, found[0].values)), None)
    if other is not None:
        message = f"{other} is not {found[0].name}: all layers have the same angles"
        raise parts.refuse("tied-tensors-differ", message)
    return found[0].values
