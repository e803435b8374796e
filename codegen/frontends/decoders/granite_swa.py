# SPDX-License-Identifier: Apache-2.0
"""Granite with windows of the past in most layers, a learned sink of each head, and a theta of each layer, 0 where it
knows no positions. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import FULL, SLIDING, Seen, layer_kinds, seen_by_kind
from ..shared.llama_stack import (
    MAX_POSITIONS,
    POSITIONS,
    Biases,
    Form,
    Stack,
    llama_stack,
    masks_by_kind,
)
from ..shared.rotary import angles_in, rotary_tables, said_in, still_tables, theta_in
from .granite import factors_in, logits_factor

MODEL_TYPE = "granite_swa"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_THETAS, SINKS = "layer_rope_theta", "self_attn.sinks"
# Where the configuration does not say them.
_KEY_HEADS, _EPSILON, _THETA, _WINDOW, _EVERY = 4, 1e-5, 10_000.0, 128, 4


def stack_with_sinks(
    config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int, form: Form
) -> Stack:
    """Of a form whose layers have a sink of each head, too."""
    layers = range(config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS))
    kinds = layer_kinds(config, tuple(SLIDING if i % _EVERY else FULL for i in layers))
    masks, thetas = masks_by_kind(config, kinds, _WINDOW, tokens), _thetas(config, len(layers))
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    values, key = said_in(config)

    def seen_by(width: int) -> Seen:
        tables = {
            name: rotary_tables(name, angles_in({**values, "rope_theta": theta}, key, theta, positions), tokens, width)
            if theta
            else still_tables(name, tokens)
            for name, theta in dict(thetas).items()
        }
        return seen_by_kind([name for name, _ in thetas], tables, masks)

    return llama_stack(config, tensors, prefix, vocabulary, seen_by, replace(form, sinks=SINKS))


def _thetas(config: Config, layers: int) -> list[tuple[str, float]]:
    """Of each layer, behind a name of its tables; 0: nothing is turned."""
    said = config.values.get(_THETAS)
    if said is None:
        values, key = said_in(config)
        return [("rotary", theta_in(Config.from_json(values), key, config.number("rope_theta", _THETA)))] * layers
    if not isinstance(said, list) or len(said) < layers or not all(type(theta) in (int, float) for theta in said):
        raise parts.refuse("layers-out-of-range", f"{_THETAS}: expected a number for each of {layers} layers")
    used = sorted({float(theta) for theta in said[:layers]})
    return [(f"theta_{used.index(theta)}" if theta else "still", float(theta)) for theta in said[:layers]]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    form = Form(Biases.said_in(config), key_heads=_KEY_HEADS, epsilon=_EPSILON, factors=factors_in(config, 1.0))
    return stack_with_sinks(config, tensors, prefix, vocabulary, tokens, form)


FAMILY = Family("GraniteSWA", "TokenizersBackend", _stack, logits_factor=logits_factor, tied=True)
