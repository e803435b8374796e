# SPDX-License-Identifier: Apache-2.0
"""T5 as a writer, `T5ForConditionalGeneration`: what predicts words is the embedding or a linear of its own, which the
configuration says in several keys."""

from __future__ import annotations

from ...ir.graph import Graph, Head, Linear, Parameter
from ...load.config import Config
from ...load.generation_config import GenerationSettings
from ...load.safetensors import TensorFile
from ...tasks.translation import Translation
from . import parts
from .t5_stack import ROOT, UNREAD, Form, Stack, check_pad, embedded, read_shape, read_words
from .target_rules import build_target_rules

_LOGITS = "lm_head.weight"


def writer_graph(
    config: Config,
    tensors: TensorFile,
    limits: tuple[int, int],
    generation: GenerationSettings | None,
    form: Form,
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `limits` are the tokens of a text, and of
    a target behind the token that it begins with, its end included; `form` is what a family has of its own."""
    max_source, max_target = limits
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    check_pad(config)
    rules = build_target_rules(config, generation, vocabulary, max_target, has_encoder=True)
    for tokens in (max_source, rules.steps(max_source)):
        parts.check_max_tokens(tokens, parts.MAX_WIDTH, "of what has no positions")
    shape = read_shape(config, form)
    tensors.below(ROOT)
    tensors.ignore(UNREAD)
    tied = (_LOGITS,) if config.flag("tie_word_embeddings", True) else ()
    words = read_words(tensors, "", ("encoder", "decoder"), (vocabulary, shape.hidden), tied)
    projection, scale = _logits(config, tensors, words, form)
    encoder = Stack(config, tensors, shape, "encoder", "hidden")
    decoder = Stack(config, tensors, shape, "decoder", "target", "target_")
    repeat = (
        embedded(words, "target"),
        *decoder.decoded(rules.steps(max_source), scale),
        Linear("logits", projection, None, "target", "logits"),
    )
    body = (embedded(words, "hidden"), *encoder.encoded(max_source))
    tensors.finish()
    return Graph(
        encoder.widths | decoder.widths | {"logits": vocabulary},
        body,
        (Head(Translation(vocabulary, max_target), "logits"),),
        vocabulary,
        1,
        max_source,
        repeat=repeat,
        target_rules=rules,
    )


def _logits(config: Config, tensors: TensorFile, words: Parameter, form: Form) -> tuple[Parameter, float]:
    """Their weights, and what rows are multiplied by before. Version 1.0 has the words for weights and scales,
    version 1.1 does neither; what the library saves of it says that it is tied, and not scaled. Of a family that always
    scales, weights of its own count where the file has them."""
    tied = config.flag("tie_word_embeddings", True)
    scaled = form.scaling == "said" and config.flag("scale_decoder_outputs", tied)
    if scaled and not tied:
        raise parts.refuse("config-value", "scale_decoder_outputs is true, tie_word_embeddings is not")
    if scaled or (tied and _LOGITS not in tensors):
        parts.check_copies(tensors, words.arrays[0].name, (_LOGITS,))
        projection = words
    else:
        projection = parts.parameter(tensors, "vocabulary_weight", _LOGITS, words.shape)
    return projection, words.shape[1] ** -0.5 if scaled or form.scaling == "always" else 1.0
