# SPDX-License-Identifier: Apache-2.0
"""RoCBert (Su et al., 2022): BERT whose words come with shapes and pronunciations, by two files beside vocab.txt. A
linear makes one row of the three, which is one row of each word. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...ir.graph import Embed, Graph, Parameter, Term
from ...ir.parameter import Array
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ..bases.bert_like import Family, Tables
from ..shared import parts
from ..shared.computed import Computed
from ..shared.encoder_layer import LayerShape
from ..shared.ordered_linear import F64Array, ordered_linear

MODEL_TYPE = "roc_bert"
_SHAPES, _SOUNDS = "word_shape.json", "word_pronunciation.json"
# By file: the names of keys and tensors, entries and width where no key says them; in the order of the linear's inputs.
_FEATURES = {_SHAPES: ("shape", 24_858, 512), _SOUNDS: ("pronunciation", 910, 768)}


def read_limits(config: Config) -> Limits:
    """As BERT's, with the files of its tokenizer."""
    return replace(usual_limits(config), word_files=(_SHAPES, _SOUNDS))


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    if not checkpoint.config.flag("concat_input", True):
        message = "concat_input is false: means of words, shapes and pronunciations are not supported"
        raise parts.refuse("config-not-supported", message)
    found: list[Parameter] = []

    def words(_: Checkpoint, prefix: str, shape: LayerShape, tables: Tables) -> tuple[Term, ...]:
        found.append(_words(checkpoint, prefix, shape.hidden, tables.vocabulary))
        return ()

    graph = Family("RoCBert", "roc_bert.", terms=words).build_graph(checkpoint, max_tokens)
    embedding, *rest = graph.body
    assert isinstance(embedding, Embed)
    # Behind the head, whose last linear is the file's own table.
    terms = tuple(replace(term, table=found[0]) if term.by == "ids" else term for term in embedding.terms)
    return replace(graph, body=(replace(embedding, terms=terms), *rest))


def _words(checkpoint: Checkpoint, prefix: str, width: int, vocabulary: int) -> Parameter:
    """[vocabulary, width]: what the linear makes of each word, with its shape and its pronunciation."""
    config, tensors, embeddings = checkpoint.config, checkpoint.tensors, f"{prefix}embeddings."
    tensors.ignore(f"{embeddings}token_type_ids")  # zeros: a buffer, not a weight
    features: list[tuple[Array, NDArray[np.intp]]] = []
    for file, (name, usual_entries, usual_width) in _FEATURES.items():
        entries = config.positive_int(f"{name}_vocab_size", usual_entries, maximum=parts.MAX_VOCABULARY)
        columns = config.positive_int(f"{name}_embed_dim", usual_width, maximum=parts.MAX_WIDTH)
        learned = tensors.take(f"{embeddings}{name}_embed.weight", (entries, columns))
        if config.flag(f"enable_{name}", True):
            features.append((learned, _numbers_of(checkpoint, file, vocabulary, entries, f"{name}_vocab_size")))
    inputs = width + sum(learned.shape[1] for learned, _ in features)
    source = f"{embeddings}map_inputs_layer"
    weight, bias = tensors.take(f"{source}.weight", (width, inputs)), tensors.take(f"{source}.bias", (width,))
    words = tensors.take(f"{embeddings}word_embeddings.weight", (vocabulary, width))

    @cache  # of a published vocabulary half a minute
    def compute() -> F64Array:
        of_inputs, begin = weight.values, width
        rows = ordered_linear(words.values, of_inputs[:, :width], bias.values)
        for learned, numbers in features:
            end = begin + learned.shape[1]
            rows += ordered_linear(learned.values, of_inputs[:, begin:end])[numbers]
            begin = end
        return rows

    return Parameter("joined_embeddings", (Computed(words.name, (vocabulary, width), compute, words.file),))


def _numbers_of(checkpoint: Checkpoint, file: str, vocabulary: int, entries: int, key: str) -> NDArray[np.intp]:
    """Of each id; those without a word have that of the first one, whatever it is."""
    numbers = np.zeros(vocabulary, np.intp)
    said = checkpoint.word_numbers[file][:vocabulary]
    numbers[: len(said)] = said
    if numbers.max() >= entries:
        message = f"{file} numbers words up to {numbers.max()}, {key} is {entries}"
        raise parts.refuse("config-value", message)
    return numbers
