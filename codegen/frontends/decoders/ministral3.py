# SPDX-License-Identifier: Apache-2.0
"""Ministral 3: Mistral with yarn's angles, for texts that are no longer than those of the first training: behind these
the library multiplies queries. Names as in `transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import FULL, SLIDING, Seen
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Biases, Form, Rotation, Stack, llama_stack, window_in
from ..shared.masks import masks_of_past
from ..shared.rotary import angles_in, kind_of, said_in
from ..shared.yarn import yarn_angles
from .mistral import HARMLESS_KEYS

MODEL_TYPE = "ministral3"
_BETA, _FIRST = "llama_4_scaling_beta", "original_max_position_embeddings"
# Where the configuration does not say them.
_HEAD_WIDTH, _KEY_HEADS, _EPSILON, _THETA = 128, 8, 1e-5, 10_000.0
_ANGLES = {
    **{"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0, _FIRST: 16_384, "beta_fast": 32.0, "beta_slow": 1.0},
    **{"mscale": 1.0, "mscale_all_dim": 1.0, _BETA: 0.1},
}
_FORM = Form(
    Biases(attention_inputs=False, attention_output=False, feed_forward=False),
    head_width=_HEAD_WIDTH,
    key_heads=_KEY_HEADS,
    epsilon=_EPSILON,
)

__all__ = ["HARMLESS_KEYS"]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    window = window_in(config)
    kinds = config.strings("layer_types") if config.values.get("layer_types") is not None else ()
    if not set(kinds) <= {FULL if window is None else SLIDING}:
        raise parts.refuse("layers-out-of-range", "layer_types: sliding_window is that of all layers")
    values, key = said_in(config)
    settings = Config.from_json(values or _ANGLES)
    positions, kind = config.positive_int(POSITIONS, maximum=MAX_POSITIONS), kind_of(settings)
    first = settings.positive_int(_FIRST, positions if kind in ("llama3", "yarn") else None)
    if settings.number(_BETA) != 0 and tokens > first:
        message = f"{_FIRST} {first} is less than {tokens} tokens: lower --max-tokens, of a writer --max-target"
        raise parts.refuse("config-not-supported", message)
    theta = config.number("rope_theta", _THETA)
    # The library takes what the object says of positions from elsewhere.
    unread = (_BETA, POSITIONS) if kind in ("llama3", "yarn") else (_BETA, POSITIONS, _FIRST)
    said = {name: value for name, value in settings.values.items() if name not in unread}

    def seen_by(width: int) -> Seen:
        yarn = kind == "yarn"
        angles = yarn_angles(said, key, theta, positions, width) if yarn else angles_in(said, key, theta, positions)
        return Rotation(angles, tokens, masks=masks_of_past([window], tokens)).seen(width)

    return llama_stack(config, tensors, prefix, vocabulary, seen_by, _FORM)


FAMILY = Family("Ministral3", "TokenizersBackend", _stack, padding=11, tags="score")
