# SPDX-License-Identifier: Apache-2.0
"""Longformer (Beltagy et al., 2020, arXiv:2004.05150) as it attends within a window: an encoder with the head of one of
its classes, or of sentence-transformers. Names as in `transformers`.

It is RoBERTa whose queries see so many tokens to each side. Classifiers of texts, answers and choices have tokens that
see all others by projections of their own and are seen by all, which is not supported; the other classes have none.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir.graph import Graph
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.limits import Limits
from . import roberta
from .shared import bert_like, parts
from .shared.heads import CLASSIFIER_ENDING
from .shared.masks import masks_both_ways

MODEL_TYPE = "longformer"
CLASSIFIER = "LongformerForSequenceClassification"
ENCODER = "LongformerModel"
# Of the first files, and of an export.
HARMLESS_KEYS = frozenset(("attention_mode", "ignore_attention_mask", "onnx_export"))
_PREFIX = "longformer."
_HEADS = ("LongformerForMaskedLM", "LongformerForTokenClassification")
_GLOBAL = (CLASSIFIER_ENDING, "ForQuestionAnswering", "ForMultipleChoice")
_UNUSED = tuple(f"encoder.layer.*.attention.self.{name}_global.*" for name in ("query", "key", "value"))


def read_limits(config: Config) -> Limits:
    """As RoBERTa's."""
    return roberta.limits_of(config, "LongformerTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    if checkpoint.sentence is None:
        _check_local(config)
    form = bert_like.Form(masks=masks_both_ways(_windows(config)))
    prefix = parts.prefix_of(checkpoint, _PREFIX, bert_like.WORDS)
    unused = tensors.ignore(*(f"{prefix}{name}" for name in _UNUSED))
    graph = roberta.graph_of(checkpoint, max_tokens, CLASSIFIER, ENCODER, _PREFIX, form)
    if not unused:
        return graph
    return replace(graph, notes=(*graph.notes, f"not used: {len(unused)} tensors of tokens that see all others"))


def _check_local(config: Config) -> None:
    """That no token sees all others in the class that the checkpoint was saved from."""
    family = CLASSIFIER.removesuffix(CLASSIFIER_ENDING)
    named = config.architectures or (CLASSIFIER,)  # which is what a folder without a name would be
    if any(name == f"{family}{ending}" for name in named for ending in _GLOBAL):
        message = f"{named[0]} has tokens that see all others by projections of their own (global attention): not"
        raise parts.refuse("architecture-not-supported", f"{message} supported (supported: {', '.join(_HEADS)})")


def _windows(config: Config) -> tuple[int, ...]:
    """Of each layer, to one side."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    said = config.values.get("attention_window", 512)
    windows = said if isinstance(said, list) else [said] * layers
    if len(windows) != layers:
        raise parts.refuse("config-value", f"attention_window has {len(windows)} values for {layers} layers")
    if any(type(window) is not int or window <= 0 or window % 2 for window in windows):
        raise parts.refuse("config-value", "attention_window must be even, for both sides of a token, and above 0")
    return tuple(window // 2 for window in windows)
