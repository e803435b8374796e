# SPDX-License-Identifier: Apache-2.0
"""What an op is: a frozen dataclass each of whose fields has a role. What it reads, writes and holds is derived.

    @dataclass(frozen=True)
    class Linear:
        weight: Parameter = weights()
        input: str = read()
        out: str = written()
        activation: str = attribute(default="none")

A field may hold None, one thing, or a tuple of them; a field of `parts` holds a tuple of dataclasses whose fields have
roles of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args

Role = Literal["read", "whole", "packed", "earlier", "written", "updated", "weights", "attribute", "parts"]
AnOp = TypeVar("AnOp")
_ROLES: frozenset[str] = frozenset(get_args(Role))


def read(**options: Any) -> Any:
    """A value or buffer that the op reads."""
    return field(metadata={"role": "read"}, **options)


def whole(**options: Any) -> Any:
    """One of which it reads any rows: all of them are there before the blocks begin that the op is in."""
    return field(metadata={"role": "whole"}, **options)


def packed(**options: Any) -> Any:
    """One that it reads of all rows at once, packed before it begins: keys or values, or what rows behind its own are
    read of. What packs them has gone through every row by then."""
    return field(metadata={"role": "packed"}, **options)


def earlier(**options: Any) -> Any:
    """One that it reads by rows, of each row also those before it in its text."""
    return field(metadata={"role": "earlier"}, **options)


def written(**options: Any) -> Any:
    """One that it writes; nothing of what was there before counts."""
    return field(metadata={"role": "written"}, **options)


def updated(**options: Any) -> Any:
    """One that it reads and writes in place."""
    return field(metadata={"role": "updated"}, **options)


def weights(**options: Any) -> Any:
    """A parameter or weight slot."""
    return field(metadata={"role": "weights"}, **options)


def attribute(**options: Any) -> Any:
    """Anything else that is known at generation."""
    return field(metadata={"role": "attribute"}, **options)


def parts(**options: Any) -> Any:
    """A tuple of dataclasses with roles, such as the terms of a sum."""
    return field(metadata={"role": "parts"}, **options)


def role(of: Field[Any]) -> Role:
    """TypeError where a field has none."""
    found = of.metadata.get("role")
    if found not in _ROLES:
        raise TypeError(f"field '{of.name}' has no role")
    return found


def things(op: Any, *roles: Role) -> Iterator[Any]:
    """All that the fields of these roles hold, in the order of the fields, None left out."""
    for each in fields(op):
        value = getattr(op, each.name)
        found = role(each)
        if found == "parts":
            for part in value:
                yield from things(part, *roles)
        elif found in roles:
            yield from (thing for thing in (value if isinstance(value, tuple) else (value,)) if thing is not None)


def parts_of(op: Any) -> Iterator[Any]:
    """What it is a sum or a row of."""
    for each in fields(op):
        if role(each) == "parts":
            yield from getattr(op, each.name)


def reads(op: Any) -> tuple[Any, ...]:
    """The values or buffers that `op` reads."""
    return tuple(things(op, "read", "whole", "packed", "earlier", "updated"))


def packed_reads(op: Any) -> tuple[Any, ...]:
    """Those of them that are packed, each once."""
    return tuple(dict.fromkeys(things(op, "packed")))


def row_reads(op: Any) -> tuple[Any, ...]:
    """Those that are read as rows, even if packed ones are the same."""
    return tuple(things(op, "read", "whole", "earlier", "updated"))


def whole_reads(op: Any) -> tuple[Any, ...]:
    """Those of which any rows are read."""
    return tuple(things(op, "whole"))


def earlier_reads(op: Any) -> tuple[Any, ...]:
    """Those of which rows before its own are read, too."""
    return tuple(things(op, "earlier"))


def writes(op: Any) -> tuple[Any, ...]:
    """Those that it writes."""
    return tuple(things(op, "written", "updated"))


def carried(body: Iterable[Any]) -> set[Any]:
    """The values that are read before they are written: what comes from before, or from one layer to the next."""
    made: set[Any] = set()
    found: set[Any] = set()
    for op in body:
        found |= set(reads(op)) - made
        made |= set(writes(op))
    return found


def slots(op: Any) -> tuple[Any, ...]:
    """Its parameters or weight slots."""
    return tuple(things(op, "weights"))


@dataclass(frozen=True)
class ByLayer:
    """An attribute that has another value in each layer of the loop that its op is in."""

    values: tuple[Any, ...]


def by_layer(op: Any) -> dict[str, ByLayer]:
    """The attributes of `op` that differ by layer, by the names of their fields."""
    values = {each.name: getattr(op, each.name) for each in fields(op)}
    return {name: value for name, value in values.items() if isinstance(value, ByLayer)}


def at_layer(op: AnOp, layer: int) -> AnOp:
    """`op` with the attributes that it has in one layer."""
    varying = by_layer(op)
    if not varying:
        return op
    return replace(op, **{name: value.values[layer] for name, value in varying.items()})  # type: ignore[type-var]


def map_slots(op: AnOp, change: Callable[[Any], Any]) -> AnOp:
    """`op` with each of its parameters or slots changed."""

    def changed(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(changed, value))
        return None if value is None else change(value)

    values: dict[str, Any] = {}
    for each in fields(op):  # type: ignore[arg-type]
        value = getattr(op, each.name)
        if role(each) == "parts":
            values[each.name] = tuple(map_slots(part, change) for part in value)
        elif role(each) == "weights":
            values[each.name] = changed(value)
    return replace(op, **values)  # type: ignore[type-var]
