# SPDX-License-Identifier: Apache-2.0
"""ModernBERT as a decoder, which Ettin's are: its layers see the past alone, and queries, keys and values are linears
of their own. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family, Names
from ..shared import modernbert_parts, parts
from ..shared.classifier_head import POOLED, classifier_head
from ..shared.layer_kinds import SLIDING, windows_by_kind
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Stack
from ..shared.masks import masks_of_past
from ..shared.modernbert_parts import WORDS, Parts, dense_and_norm, head_norm, read_shape, tables_of
from ..shared.rows import HeadOps

MODEL_TYPE = "modernbert-decoder"
HARMLESS_KEYS = modernbert_parts.HARMLESS_KEYS
_NAMES = Names(
    words=WORDS, logits="decoder.weight", logits_bias="decoder.bias", between=("lm_head.dense.*", "lm_head.norm.*")
)
_POSITIONS = 8192  # where the configuration does not say it
_PREDICTED = "predicted"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    shape = read_shape(config)
    if SLIDING in shape.kinds and shape.window < 2:
        message = "local_attention: half of it is a window of the token itself, which the library keeps all tokens for"
        raise parts.refuse("config-not-supported", message)
    parts.check_layers(tensors, len(shape.kinds))
    positions = config.positive_int(POSITIONS, _POSITIONS, maximum=MAX_POSITIONS)
    part = Parts(
        *(tensors, prefix, shape, tables_of(config, shape, positions, tokens)),
        masks_of=lambda kinds: masks_of_past(windows_by_kind(kinds, shape.window), tokens),
        loop="layer",
        steps=True,
    )
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, shape.hidden))
    return Stack(part.rows(words), part.widths, words, shape.hidden)


def _predicted(config: Config, tensors: TensorFile, stack: Stack) -> Stack:
    ops = dense_and_norm(config, tensors, read_shape(config), "lm_head", _PREDICTED)
    widths = stack.widths | {_PREDICTED: stack.width}
    return replace(stack, body=stack.body + ops, widths=widths, rows=_PREDICTED)


def _classifier(config: Config, tensors: TensorFile, stack: Stack) -> HeadOps:
    bias, activation = config.flag("classifier_bias", False), parts.activation_of(config, "classifier_activation")
    return classifier_head(
        *(config, tensors, stack.rows, stack.width, "classifier"),
        ("classifier_dense", "head.dense", activation),
        dense_bias=bias,
        norm=head_norm(tensors, read_shape(config), "head", POOLED),
        pooling="last",
        bias=bias,
    )


FAMILY = Family(
    "ModernBertDecoder",
    AS_IN_JSON,
    _stack,
    behind=_predicted,
    classifier=_classifier,
    names=_NAMES,
    bias_key="decoder_bias",
    usual_positions=_POSITIONS,
    tied=True,
    padding=50_283,
)
