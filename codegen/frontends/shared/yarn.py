# SPDX-License-Identifier: Apache-2.0
"""Angles of rope_type yarn (Peng et al., 2023, arXiv:2309.00071): slow pairs of a head turn slower by a factor, fast
ones as before, those between by a mean of both; scores are larger."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from ...errors import printable
from ...load.config import Config
from . import parts
from .rotary import Angles, theta_in

_FIRST, _FAST, _SLOW, _AMPLITUDE = "original_max_position_embeddings", "beta_fast", "beta_slow", "attention_factor"
_CUT = "truncate"  # whether the pairs between are counted in whole ones
_SCALES = ("mscale", "mscale_all_dim")  # of the amplitude, where both are there: one divides by the other
_KEYS = frozenset(("rope_type", "type", "rope_theta", "factor", _FIRST, _FAST, _SLOW, _AMPLITUDE, _CUT, *_SCALES))
_LARGEST = 65_536.0  # of a factor
_USUAL_FAST, _USUAL_SLOW = 32.0, 1.0  # turns in the first training's positions, where the object does not say them


def yarn_angles(values: dict[str, Any], key: str, theta: float, positions: int, width: int) -> Angles:
    """Of heads of `width` values, by the object that is what `key` has."""
    settings = Config.from_json(values)
    if other := sorted(set(values) - _KEYS):
        raise parts.refuse("rotary-not-supported", f"{key} of type yarn has {', '.join(map(printable, other))}")
    theta, first = theta_in(settings, key, theta), settings.positive_int(_FIRST, positions)
    factor = _checked(settings.number("factor"), "factor")
    fast, slow = (
        _checked(settings.number(of, usual), of) for of, usual in ((_FAST, _USUAL_FAST), (_SLOW, _USUAL_SLOW))
    )
    with localcontext() as context:
        context.prec = 30
        # The pair that turns so often, of the first training's positions.
        fastest, slowest = (
            width * (Decimal(first) / (Decimal(turns) * 2 * Decimal(math.pi))).ln() / (2 * Decimal(theta).ln())
            for turns in (fast, slow)
        )
        above, below = _scales(settings)
        logarithm = Decimal("0.1") * Decimal(factor).ln()
        amplitude = float((above * logarithm + 1) / (below * logarithm + 1))
    if settings.values.get(_AMPLITUDE) is not None:
        amplitude = _checked(settings.number(_AMPLITUDE), _AMPLITUDE)
    begin, end = (math.floor(fastest), math.ceil(slowest)) if settings.flag(_CUT, True) else (fastest, slowest)
    ramp = _ramp(max(float(begin), 0.0), min(float(end), width - 1.0), width // 2)
    return Angles(theta, factor, amplitude=amplitude, slow=ramp)


def _scales(settings: Config) -> tuple[Decimal, Decimal]:
    """Without both, the amplitude is that of the factor alone."""
    if not all(settings.values.get(key) for key in _SCALES):
        return Decimal(1), Decimal(0)
    above, below = (Decimal(_checked(settings.number(key), key, 1 / _LARGEST)) for key in _SCALES)
    return above, below


def _ramp(begin: float, end: float, pairs: int) -> tuple[float, ...]:
    """0 up to pair `begin`, 1 from `end` on."""
    steps = np.float32(end - begin if end != begin else 0.001)
    return tuple(np.clip((np.arange(pairs, dtype=np.float32) - np.float32(begin)) / steps, 0, 1).tolist())


def _checked(value: float, key: str, least: float = 1.0) -> float:
    if not least <= value <= _LARGEST:
        raise parts.refuse("rotary-not-supported", f"{key} {value:g}: expected {least:g} to {_LARGEST:g}")
    return value
