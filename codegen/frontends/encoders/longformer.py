# SPDX-License-Identifier: Apache-2.0
"""Longformer (Beltagy et al., 2020, arXiv:2004.05150): an encoder with the head of one of its classes, or of
sentence-transformers. Names as in `transformers`.

It is RoBERTa whose queries see so many tokens to each side. Beside these some tokens see all others by projections of
their own and are seen by all: in classifiers of texts the first one, in classes that answer those of the question, in
those for choices those of the choice. The other classes have none, and files have the projections all the same. A
separator that one of two texts spells out counts as the first where it is; `transformers` refuses such texts.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.global_rows import Before, Behind, GlobalRows
from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ..bases import bert_like
from ..bases.architecture import CLASSIFIER_ENDING
from ..bases.roberta_like import Family
from ..shared import parts
from ..shared.attention_windows import HARMLESS_KEYS, windowed

__all__ = ["HARMLESS_KEYS"]

MODEL_TYPE = "longformer"
_FAMILY = Family("Longformer", "LongformerTokenizer", "longformer.")
_CLASSIFIER = f"{_FAMILY.name}{CLASSIFIER_ENDING}"
_ANSWERS = "LongformerForQuestionAnswering"
_CHOICES = "LongformerForMultipleChoice"
_LAYER = replace(
    bert_like.LAYER,
    global_query="attention.self.query_global",
    global_key="attention.self.key_global",
    global_value="attention.self.value_global",
)
_UNUSED = tuple(f"encoder.layer.*.{name}.*" for name in (_LAYER.global_query, _LAYER.global_key, _LAYER.global_value))

read_limits = _FAMILY.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    global_rows = 0 if checkpoint.sentence is not None else _global_rows(checkpoint)
    form = bert_like.Form(_LAYER, masks=replace(windowed(config, "num_hidden_layers"), global_rows=global_rows))
    prefix = tensors.below(_FAMILY.prefix)
    unused = () if global_rows else tensors.ignore(*(f"{prefix}{name}" for name in _UNUSED))
    graph = replace(_FAMILY, form=form).build_graph(checkpoint, max_tokens)
    if not unused:
        return graph
    return replace(graph, notes=(*graph.notes, f"not used: {len(unused)} tensors of tokens that see all others"))


def _global_rows(checkpoint: Checkpoint) -> GlobalRows:
    """The tokens that see all others in the class that the checkpoint was saved from; 0: none."""
    named = checkpoint.config.architectures or (_CLASSIFIER,)  # which is what a folder without a name would be
    if _CLASSIFIER in named:
        return 1
    if _ANSWERS in named:
        return Before(_separator(checkpoint))
    return Behind(_separator(checkpoint)) if _CHOICES in named else 0


def _separator(checkpoint: Checkpoint) -> int:
    """What is behind the first of two texts; the library asks for three of it."""
    separator = checkpoint.config.natural_int("sep_token_id", 2, maximum=parts.MAX_VOCABULARY)
    pair = [part.content for part in checkpoint.tokenizer.template.pair]
    if pair.count(separator) != 3 or pair.index(separator) != pair.index("A") + 1:
        message = f"sep_token_id {separator} is not what the tokenizer has behind the first of two texts and twice more"
        raise parts.refuse("config-value", message)
    return separator
