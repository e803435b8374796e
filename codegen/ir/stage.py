# SPDX-License-Identifier: Apache-2.0
"""What one stage of the generator does with each type of op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ..errors import EtchError

Entry = TypeVar("Entry", bound=Callable[..., Any])
Result = TypeVar("Result")


class Stage(Generic[Result]):
    """A table from the type of an op to a function of the op; an op that has no entry is refused by name.

    emulate = Stage("emulate")

    @emulate.on(Pool)
    def _pool(op: Pool, ...): ...

    emulate(op, ...)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._entries: dict[type, Callable[..., Result]] = {}

    def on(self, *types: type) -> Callable[[Entry], Entry]:
        """Registers a function for these types."""

        def register(entry: Entry) -> Entry:
            for each in types:
                if each in self._entries:
                    raise TypeError(f"stage {self.name} has two entries for {each.__name__}")
                self._entries[each] = entry
            return entry

        return register

    @property
    def types(self) -> frozenset[type]:
        """Those that have an entry."""
        return frozenset(self._entries)

    def __call__(self, op: Any, *arguments: Any, **options: Any) -> Result:
        """EtchError where the stage has no entry for this type of op."""
        entry = self._entries.get(type(op))
        if entry is None:
            raise EtchError("op-not-supported", self.name, f"this stage has no entry for the op {type(op).__name__}")
        return entry(op, *arguments, **options)
