# SPDX-License-Identifier: Apache-2.0
"""ESM Cambrian (ESM Team, 2024), encoders of proteins: with the head of one of their classes, or of
sentence-transformers. Names as in `transformers` 5.23, whose input `sequence_id` is not used.

They are Llama's layers without a mask, with layer norms, whole queries and keys normalized; the deeper a model, the
less a block adds to the rows.
"""

from __future__ import annotations

import math

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.tokenizer_files.folders.esmc import TOKENIZER_CLASS
from ..bases.architecture import check_architecture
from ..bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.llama_stack import Biases, Factors, Form, Rotation, llama_stack
from ..shared.masks import EVERYTHING
from ..shared.prediction_head import Prediction
from ..shared.rotary import angles_of, check_head_dim, limits_of

MODEL_TYPE = "esmc"
NAME = "Esmc"
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
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME, others=_HEADS)
    _check_settings(config)
    limits = read_limits(config)
    parts.check_max_tokens(max_tokens, limits.positions)
    prefix = tensors.below(_PREFIX)
    rotation = Rotation(angles_of(config, _THETA, limits.positions), max_tokens, masks=EVERYTHING)
    stack = llama_stack(config, tensors, prefix, limits.vocabulary, rotation.seen, _form(config))
    encoder = Encoder(stack.body, stack.widths, limits.vocabulary, value=stack.rows)
    dense = ("classifier_dense", "classifier.dense", "tanh")
    classifier = Classifier("classifier.out_proj", dense, pairs=False)
    heads = FamilyHeads(classifier, _prediction(stack.width), tags="score")
    notes = () if checkpoint.sentence is None else parts.left_out(tensors, _WORDS_HEAD)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads, notes)


def _check_settings(config: Config) -> None:
    width, heads = config.positive_int("hidden_size"), config.positive_int("num_attention_heads")
    check_head_dim(config, width // heads)
    if config.values.get("num_key_value_heads") not in (None, heads):
        message = f"num_key_value_heads is not num_attention_heads, {heads}: the class has no heads that share keys"
        raise parts.refuse("config-not-supported", message)


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
