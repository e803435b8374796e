# SPDX-License-Identifier: Apache-2.0
"""Settings of a method, as `quantization_config` of config.json says them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import EtchError
from ...load.refusal import shown
from ..refusal import refusal

FILE = "config.json"


class Settings:
    """The values by key; each is read with what it may be."""

    def __init__(self, values: Mapping[str, Any], what: str) -> None:
        """`what` names them in messages."""
        self._values = values
        self._what = what

    def one_of(self, key: str, allowed: tuple[Any, ...], absent: Any) -> Any:
        """The value, `absent` where there is none; refused where it is not `allowed`, or 4.0 in the place of 4."""
        value = self._values.get(key)
        value = absent if value is None else value
        if not any(value == each and type(value) is type(each) for each in allowed):
            known = ", ".join(shown(each) for each in allowed)
            raise self.refuse(f"{key} {shown(value)} is not read (read: {known})")
        return value

    def count(self, key: str, absent: int | None = None) -> int:
        """A number above 0."""
        value = self._values.get(key, absent)
        if type(value) is not int or not 0 < value <= 1 << 20:
            raise self.refuse(f"{key} must be a number above 0, got {shown(value)}")
        return value

    def sizes(self, key: str) -> tuple[int, ...]:
        """Several numbers above 0."""
        value = self._values.get(key)
        if not isinstance(value, list) or not value or not all(type(size) is int and size > 0 for size in value):
            raise self.refuse(f"{key} must be numbers above 0, got {shown(value)}")
        return tuple(value)

    def pair(self, key: str) -> tuple[int, int]:
        """Two of them."""
        sizes = self.sizes(key)
        if len(sizes) != 2:
            raise self.refuse(f"{key} must be two numbers, got {len(sizes)}")
        return sizes[0], sizes[1]

    def number(self, key: str) -> float:
        """A fraction or an integer."""
        value = self._values.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.refuse(f"{key} must be a number, got {shown(value)}")
        return float(value)

    def check_says_nothing(self, *keys: str) -> None:
        """Refuses what asks for more than is read."""
        for key in keys:
            if self._values.get(key):
                raise self.refuse(f"{key} {shown(self._values[key])} is not read")

    def value(self, key: str) -> Any:
        """Whatever it says."""
        return self._values.get(key)

    def below(self, key: str, value: object) -> Settings:
        """An object of theirs."""
        if not isinstance(value, dict):
            raise self.refuse(f"{key} must be an object, got {shown(value)}")
        return Settings(value, f"{self._what}: {key}")

    def refuse(self, message: str) -> EtchError:
        """An error that names them; raise it."""
        return refusal("quantization-not-supported", f"{self._what}: {message}", file=FILE)
