# SPDX-License-Identifier: Apache-2.0
"""OLMo 3: OLMo 2 with windows of the past in some layers, and angles by kind of layer. Names as in `transformers`."""

from __future__ import annotations

from typing import Any

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared.layer_kinds import (
    FULL,
    SLIDING,
    Seen,
    angles_by_kind,
    every_so_manyth,
    layer_kinds,
    older_scaling,
    seen_by_kind,
    tables_by_kind,
)
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Stack, llama_stack, masks_by_kind
from ..shared.rotary import Angles, angles_in, kind_of
from ..shared.yarn import yarn_angles
from .olmo2 import HARMLESS_KEYS, form_in

MODEL_TYPE = "olmo3"
_THETA, _WINDOW, _EVERY = 500_000.0, 4096, 4  # where the configuration does not say them
_THETA_KEYS = {FULL: ("rope_theta", _THETA), SLIDING: (None, _THETA)}

__all__ = ["HARMLESS_KEYS"]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    kinds = layer_kinds(config, every_so_manyth(config, _EVERY))
    masks = masks_by_kind(config, kinds, _WINDOW, tokens)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)

    def seen_by(width: int) -> Seen:
        def read(values: Any, key: str, theta: float, positions: int) -> Angles:
            is_yarn = isinstance(values, dict) and kind_of(Config.from_json(values)) == "yarn"
            if is_yarn:
                return yarn_angles(values, key, theta, positions, width)
            return angles_in(values, key, theta, positions)

        angles = angles_by_kind(config, _THETA_KEYS, positions, older_scaling(config), read)
        return seen_by_kind(kinds, tables_by_kind(angles, kinds, tokens, width), masks)

    return llama_stack(config, tensors, prefix, vocabulary, seen_by, form_in(config))


FAMILY = Family("Olmo3", AS_IN_JSON, _stack, padding=1)
