# SPDX-License-Identifier: Apache-2.0
"""NanoChat: Llama's shape with norms that have no parameters, one more behind the embedding, those of heads behind
their turning, which goes the other way round; squares in the place of a gate, and a tanh that bounds the logits. Names
as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Norm
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared.computed import negated
from ..shared.layer_kinds import Seen
from ..shared.llama_stack import (
    HEAD_NORMS,
    MAX_POSITIONS,
    POSITIONS,
    Biases,
    Form,
    Rotation,
    Stack,
    cap_of,
    llama_stack,
    with_squares,
)
from ..shared.rotary import angles_of

MODEL_TYPE = "nanochat"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_THETA, _CAP = 10_000.0, 15.0  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    bias = config.flag("attention_bias", False)
    form = Form(
        Biases(bias, bias, feed_forward=False), head_norms=HEAD_NORMS, norms_behind_turning=True, bare_norms=True
    )
    angles = angles_of(config, _THETA, config.positive_int(POSITIONS, maximum=MAX_POSITIONS))

    def seen_by(width: int) -> Seen:
        seen = Rotation(angles, tokens).seen(width)
        return replace(seen, sines=tuple(map(negated, seen.sines)))

    squares = with_squares(config, form, ("mlp.fc1", "mlp.fc2"))
    stack = llama_stack(config, tensors, prefix, vocabulary, seen_by, squares)
    embed, *layers, norm = stack.body
    assert isinstance(norm, Norm)
    return replace(stack, body=(embed, replace(norm, name="embedding_norm"), *layers, norm))


def _logits_cap(config: Config) -> float | None:
    return cap_of(config, "final_logit_softcapping", _CAP)


FAMILY = Family("NanoChat", "TokenizersBackend", _stack, logits_cap=_logits_cap, padding=1)
