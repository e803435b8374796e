# SPDX-License-Identifier: Apache-2.0
"""Angles that queries and keys are turned by, as `rope_parameters` of `transformers` says them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .family import Opened

FACTORS = "rope_freqs.weight"
_THETA = 10_000.0
_UNSCALED = ("none", "")
# Of Llama 3, of which the file has what comes of them: how much slower each pair is.
_LOW, _HIGH, _POSITIONS = 1.0, 4.0, 8192
_CLOSE = 1e-5


def theta_of(opened: Opened, usual: float = _THETA) -> float:
    """The base of all angles."""
    return opened.meta.number("rope.freq_base", usual)


def angles_of(opened: Opened, width: int, usual: float = _THETA) -> dict[str, Any]:
    """Of heads of `width` values that are turned whole."""
    meta = opened.meta
    check_turned_whole(opened, width)
    theta = theta_of(opened, usual)
    slower = linear_factor(opened)
    if opened.has(FACTORS):
        if slower != 1:
            raise meta.refuse("gguf-not-supported", f"{FACTORS} and rope.scaling.factor at once")
        return _of_llama3(opened, theta, width)
    if slower == 1:
        return {"rope_type": "default", "rope_theta": theta}
    return {"rope_type": "linear", "rope_theta": theta, "factor": slower}


def check_turned_whole(opened: Opened, width: int) -> None:
    """Refuses heads of `width` values of which a part is turned."""
    if opened.meta.count("rope.dimension_count", width) != width:
        raise opened.meta.refuse("gguf-not-supported", "rope.dimension_count: a part of each head is turned")


def linear_factor(opened: Opened) -> float:
    """How much slower all pairs are; 1 where the file says nothing."""
    meta = opened.meta
    kind = meta.text("rope.scaling.type", "none")
    factor = meta.number("rope.scaling.factor", meta.number("rope.scale_linear", 1.0))
    if kind in _UNSCALED:
        return 1.0
    if kind != "linear":
        raise meta.refuse("gguf-not-supported", f"rope.scaling.type '{kind[:40]}' is not read (read: none, linear)")
    if factor < 1:
        raise meta.refuse("gguf-key", f"rope.scaling.factor {factor:g} is less than 1")
    return factor


def _of_llama3(opened: Opened, theta: float, width: int) -> dict[str, Any]:
    slower = opened.vector(FACTORS)
    factor = float(str(np.float32(slower.max(initial=1))))
    positions = opened.meta.count("rope.scaling.original_context_length", _POSITIONS)
    if slower.shape != (width // 2,) or not np.allclose(slower, _slower(theta, width, factor, positions), rtol=_CLOSE):
        message = "factors of angles that are not Llama 3's (low_freq_factor 1, high_freq_factor 4, 8192 positions)"
        raise opened.file.refuse("gguf-not-supported", message, tensor=FACTORS)
    return {
        "rope_type": "llama3",
        "rope_theta": theta,
        "factor": factor,
        "low_freq_factor": _LOW,
        "high_freq_factor": _HIGH,
        "original_max_position_embeddings": positions,
    }


def _slower(theta: float, width: int, factor: float, positions: int) -> np.ndarray:
    """As `_compute_llama3_parameters` of `transformers`, of each pair the usual frequency by that one."""
    lengths = 2 * math.pi * theta ** (np.arange(width // 2) * 2.0 / width)
    smooth = (positions / lengths - _LOW) / (_HIGH - _LOW)
    between = 1 / ((1 - smooth) / factor + smooth)
    found = np.where(lengths < positions / _HIGH, 1.0, between)
    return np.where(lengths > positions / _LOW, factor, found)
