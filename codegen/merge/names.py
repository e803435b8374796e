# SPDX-License-Identifier: Apache-2.0
"""Names of the base's file, and those of the class that was adapted: one may have a prefix that the other lacks.

A file of `BertModel` has `encoder.layer.0…`, of `BertForSequenceClassification` `bert.encoder.layer.0…`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from .refusal import tensor_refusal


@dataclass(frozen=True)
class Naming:
    """How the adapted class calls a tensor of the base."""

    removed: str = ""  # from the beginning of a name of the base
    added: str = ""

    def of(self, name: str) -> str | None:
        """The name of the base's tensor `name`; None where the class has no such tensor."""
        return self.added + name.removeprefix(self.removed) if name.startswith(self.removed) else None


def find_naming(base: Iterable[str], needed: Collection[str]) -> Naming:
    """By which the base has each tensor that is `needed`, by the class's names; where there is none, it is refused."""
    base = tuple(base)
    first = {f"{name.partition('.')[0]}." for name in needed}
    ways = [Naming()]
    ways += [Naming(added=prefix) for prefix in first if len(first) == 1]
    ways += [Naming(removed=prefix) for prefix in sorted({f"{name.partition('.')[0]}." for name in base})]
    missing = [sorted(set(needed) - {way.of(name) for name in base}) for way in ways]
    best = min(range(len(ways)), key=lambda at: len(missing[at]))
    if missing[best]:
        names = ", ".join(f"'{name[:80]}'" for name in missing[best][:3])
        message = f"it changes {len(needed)} tensors, {len(missing[best])} of which the base does not have: {names}"
        raise tensor_refusal("adapter-mismatch", message)
    return ways[best]
