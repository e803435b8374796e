# SPDX-License-Identifier: Apache-2.0
"""ESM Cambrian (ESM Team, 2024), encoders of proteins: with the head of one of their classes, or of
sentence-transformers. Names as in `transformers` 5.23, whose input `sequence_id` is not used.

They are Llama's layers without a mask, with layer norms, whole queries and keys normalized; the deeper a model, the
less a block adds to the rows.
"""

from __future__ import annotations

import math

from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from ..load.config import Config
from ..load.limits import Limits
from ..load.tokenizer_files.folders.esmc import TOKENIZER_CLASS
from .bases.architecture import check_architecture
from .bases.heads import read_head
from .shared import parts
from .shared.classifier_head import classifier_head
from .shared.llama_stack import WORDS, Biases, Factors, Form, Rotation, llama_stack
from .shared.masks import EVERYTHING
from .shared.prediction_head import Prediction
from .shared.rotary import angles_of, check_head_dim, limits_of

MODEL_TYPE = "esmc"
CLASSIFIER = "EsmcForSequenceClassification"
ENCODER = "EsmcModel"
HARMLESS_KEYS = frozenset({"attention_dropout", "mask_token_id"})
_HEADS = ("EsmcForMaskedLM", "EsmcForTokenClassification")
_PREFIX = "esmc."
_WORDS_HEAD = "lm_head.*"  # which published encoders have, whatever is made of their rows
_THETA = 10_000.0  # where the configuration does not say it
_EPSILON = 1e-5  # of all norms; no key says another one
_UNSCALED_LAYERS = 36  # of a model whose blocks add to the rows what they compute


def read_limits(config: Config) -> Limits:
    """Angles have no end, the positions only bound the texts."""
    return limits_of(config, TOKENIZER_CLASS)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors, sentence = checkpoint.config, checkpoint.tensors, checkpoint.sentence
    check_architecture(config, encoder=ENCODER, classifier=CLASSIFIER, sentence=sentence is not None, others=_HEADS)
    _check_settings(config)
    limits = read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    prefix = parts.prefix_of(checkpoint, _PREFIX, WORDS)
    rotation = Rotation(angles_of(config, _THETA, limits.positions), max_tokens, masks=EVERYTHING)
    stack = llama_stack(config, tensors, prefix, limits.vocabulary, rotation.seen, _form(config))
    dense = ("classifier_dense", "classifier.dense", "tanh")
    head, widths, result, notes = read_head(
        checkpoint,
        CLASSIFIER,
        stack.rows,
        stack.width,
        lambda: classifier_head(config, tensors, stack.rows, stack.width, "classifier.out_proj", dense),
        body=stack.body,
        prediction=_prediction(stack.width),
        tags="score",
    )
    notes += () if sentence is None else parts.left_out(tensors, _WORDS_HEAD)
    tensors.finish()
    return Graph(
        stack.widths | widths, stack.body + head, (result,), limits.vocabulary, parts.SEGMENTS, max_tokens, notes
    )


def _check_settings(config: Config) -> None:
    width, heads = config.positive_int("hidden_size"), config.positive_int("num_attention_heads")
    check_head_dim(config, width // heads)
    if config.values.get("num_key_value_heads") not in (None, heads):
        message = f"num_key_value_heads is not num_attention_heads, {heads}: the class has no heads that share keys"
        raise parts.refuse("config-not-supported", message)
    if not config.flag("token_classification_bias", True):
        raise parts.refuse("config-not-supported", "token_classification_bias is false: only with a bias")


def _form(config: Config) -> Form:
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    return Form(
        Biases.said_in(config),
        row_norms=True,
        epsilon=_EPSILON,
        epsilon_key=None,
        layer_norms=True,
        norm_biases="blocks",
        factors=Factors(blocks=1 / math.sqrt(layers / _UNSCALED_LAYERS)),
    )


def _prediction(width: int) -> Prediction:
    """By RoBERTa's names, but for the last linear, which has its own weights and bias, whatever is said to be tied."""
    return Prediction(
        dense="lm_head.dense",
        norm="lm_head.layer_norm",
        bias="lm_head.decoder.bias",
        decoder="lm_head.decoder",
        activation="gelu",
        epsilon=_EPSILON,
        width=width,
        tied=None,
    )
