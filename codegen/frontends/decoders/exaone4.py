# SPDX-License-Identifier: Apache-2.0
"""EXAONE 4: Llama's names with norms behind the blocks, none before them, and norms of each head's queries and keys.
Where some layers have a window of the past, the others know no positions. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import FULL, SLIDING, every_so_manyth, layer_kinds
from ..shared.llama_stack import BEHIND, HEAD_NORMS, Biases, Form, Stack, causal_stack, masks_by_kind

MODEL_TYPE = "exaone4"
HARMLESS_KEYS = frozenset({"attention_dropout", "sliding_window_pattern"})  # training's; layer_types counts more
_KEY_HEADS, _EPSILON, _WINDOW, _EVERY = 32, 1e-5, 4096, 4  # where the configuration does not say them


def form_in(kinds: tuple[str, ...]) -> Form:
    """Of layers of these kinds."""
    return Form(
        Biases(attention_inputs=False, attention_output=False, feed_forward=False),
        head_norms=HEAD_NORMS,
        key_heads=_KEY_HEADS,
        epsilon=_EPSILON,
        norms=BEHIND,
        turned=tuple(kind == SLIDING for kind in kinds),
    )


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    kinds = kinds_in(config)
    return stack(config, tensors, prefix, vocabulary, tokens, form_in(kinds), kinds)


def stack(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    vocabulary: int,
    tokens: int,
    form: Form,
    kinds: tuple[str, ...],
) -> Stack:
    """Of layers of a form and of these kinds."""
    masks = masks_by_kind(config, kinds, _WINDOW, tokens)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


def kinds_in(config: Config) -> tuple[str, ...]:
    """Of each layer, whose queries and keys are turned where it has a window; empty: none has one, and all are."""
    if "sliding_window" in config and config.values.get("sliding_window") is None:
        if set(config.strings("layer_types")) != {FULL}:
            raise parts.refuse("layers-out-of-range", f"layer_types: without a sliding_window, all are {FULL}")
        return ()
    return layer_kinds(config, _usual_kinds(config))


def _usual_kinds(config: Config) -> tuple[str, ...]:
    """Where layer_types does not name them, which counts alone where it does."""
    every = _EVERY
    if config.values.get("layer_types") is None:
        every = config.positive_int("sliding_window_pattern", _EVERY, maximum=parts.MAX_LAYERS)
    return every_so_manyth(config, every)


FAMILY = Family("Exaone4", "TokenizersBackend", _stack, tags="score")
