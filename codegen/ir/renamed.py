# SPDX-License-Identifier: Apache-2.0
"""Ops with other names of what they read, write and hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from .graph import Parameter
from .op import AnOp, role


@dataclass(frozen=True)
class Renaming:
    """What becomes of the name of an op, of the names of its values, and of its parameters."""

    name: Callable[[str], str]
    value: Callable[[str], str]
    parameter: Callable[[Parameter], Parameter]

    def op(self, op: AnOp) -> AnOp:
        """The op, or a part of it."""
        changes = {each.name: self._field(each, getattr(op, each.name)) for each in fields(op)}  # type: ignore[arg-type]
        return replace(op, **changes)  # type: ignore[type-var]

    def _field(self, each: Any, value: Any) -> Any:
        if value is None:
            return None
        kind = role(each)
        if kind == "parts":
            return tuple(map(self.op, value))
        if kind == "attribute":
            return self.name(value) if each.name == "name" else value
        change = self.parameter if kind == "weights" else self.value
        return tuple(map(change, value)) if isinstance(value, tuple) else change(value)
