# SPDX-License-Identifier: Apache-2.0
"""Angles of models that were made to read longer texts than they were first trained on (LongRoPE, Ding et al., 2024).

Each pair of a head's values has two factors: one for texts of the first training's length, one for longer ones. Of a
model with a fixed length the first count, and longer ones are refused."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

from ...errors import printable
from ...load.config import Config
from . import parts
from .rotary import Angles, theta_in

_SHORT, _LONG, FIRST = "short_factor", "long_factor", "original_max_position_embeddings"  # keys
_KEYS = frozenset(
    (*("rope_type", "type", "rope_theta", "partial_rotary_factor", "factor", "attention_factor"), _SHORT, _LONG, FIRST)
)
_LARGEST = 65_536.0  # of a factor, or 1 / it


def longrope_angles(
    values: dict[str, Any], key: str, theta: float, positions: int, first: int, turned: int, tokens: int
) -> Angles:
    """Of texts of at most `tokens`, which are no more than the `first` training's, by the object that is what `key`
    has; `turned` of a head's values are."""
    if tokens > first:
        message = f"{FIRST} {first} is less than {tokens} tokens: lower --max-tokens, of a writer --max-target"
        raise parts.refuse("config-not-supported", message)
    settings = Config.from_json(values)
    if other := sorted(set(values) - _KEYS):
        raise parts.refuse("rotary-not-supported", f"{key} of type longrope has {', '.join(map(printable, other))}")
    short, _ = (_factors(settings, name, turned // 2) for name in (_SHORT, _LONG))
    factor = settings.number("factor", positions / first)
    return Angles(theta_in(settings, key, theta), slower=short, amplitude=_amplitude(settings, factor, first))


def _amplitude(settings: Config, factor: float, first: int) -> float:
    """What the object says, or sqrt(1 + ln factor / ln first)."""
    if settings.values.get("attention_factor") is not None:
        return _checked(settings.number("attention_factor"), "attention_factor")
    if factor <= 1:
        return 1.0
    if first == 1:
        raise parts.refuse("rotary-not-supported", f"{FIRST} is 1")
    with localcontext() as context:
        context.prec = 30
        return float((1 + Decimal(_checked(factor, "factor")).ln() / Decimal(first).ln()).sqrt())


def _factors(settings: Config, key: str, pairs: int) -> tuple[float, ...]:
    """Of each pair."""
    said = settings.values.get(key)
    if not isinstance(said, list) or len(said) != pairs or not all(type(one) in (int, float) for one in said):
        raise parts.refuse("rotary-not-supported", f"{key}: expected a number for each of {pairs} pairs")
    return tuple(_checked(one, key) for one in said)


def _checked(factor: float, key: str) -> float:
    if not 1 / _LARGEST <= factor <= _LARGEST:
        raise parts.refuse("rotary-not-supported", f"{key} {factor:g}: expected 1/{_LARGEST:g} to {_LARGEST:g}")
    return float(factor)
