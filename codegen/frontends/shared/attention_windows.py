# SPDX-License-Identifier: Apache-2.0
"""Windows of Longformer and LED, as their configurations say them."""

from __future__ import annotations

from ...ir import graph as g
from ...load.config import Config
from . import parts
from .masks import Masks, masks_both_ways

# Of the first files, and of an export.
HARMLESS_KEYS = frozenset(("attention_mode", "ignore_attention_mask", "onnx_export"))


def windowed(config: Config, layers_key: str) -> Masks:
    """Of each layer; `layers_key` says how many there are. A window is that of both sides."""
    layers = config.positive_int(layers_key, maximum=parts.MAX_LAYERS)
    said = config.values.get("attention_window", 512)
    windows = said if isinstance(said, list) else [said] * layers
    if len(windows) != layers:
        raise parts.refuse("config-value", f"attention_window has {len(windows)} values for {layers} layers")
    if any(type(window) is not int or not 0 < window <= g.MAX_WINDOW or window % 2 for window in windows):
        message = f"attention_window must be even, for both sides of a token, and from 2 to {g.MAX_WINDOW}"
        raise parts.refuse("config-value", message)
    return masks_both_ways([window // 2 for window in windows])
