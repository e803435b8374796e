# SPDX-License-Identifier: Apache-2.0
"""Cohere's Command-R: Llama's shape with one layer norm before attention and feed-forward, which are beside each other,
angles that turn two neighbours of a head, and a factor of the logits. Names as in `transformers`, which has no
classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import COHERE_TOKENIZER
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.llama_stack import HEAD_NORMS, Biases, Form, Stack, causal_stack

MODEL_TYPE = "cohere"
# Training's, and those of Cohere's files that the class does not read.
HARMLESS_KEYS = frozenset({"attention_dropout", "model_max_length", "pretraining_tp"})
# Where the configuration does not say them.
_THETA, _EPSILON, _LOGITS = 500_000.0, 1e-5, 0.0625


def cohere_form(config: Config, theta: float, *, head_norms: bool, turned: tuple[bool, ...] = ()) -> Form:
    """Of all models of the family; `theta` where the configuration does not say it."""
    bias = config.flag("attention_bias", False)
    return Form(
        Biases(bias, bias, feed_forward=False),
        head_norms=HEAD_NORMS if head_norms else None,
        own_head_norms="stacked",
        epsilon=_EPSILON,
        epsilon_key="layer_norm_eps",
        theta=theta,
        layer_norms=True,
        norm_biases="none",
        parallel=True,
        turned=turned,
        pairs=True,
    )


def logits_factor(config: Config) -> float:
    """Of a writer."""
    return parts.factor_of(config, "logit_scale", _LOGITS)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    form = cohere_form(config, _THETA, head_norms=config.flag("use_qk_norm", False))
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("Cohere", COHERE_TOKENIZER, _stack, logits_factor=logits_factor, tied=True, padding=0)
