# SPDX-License-Identifier: Apache-2.0
"""Names of outputs in a report."""

from __future__ import annotations

from ..errors import printable

_SHOWN = 12


def printable_name(name: str) -> str:
    """One of them, for a line of text."""
    return printable(name, 40)


def listed(names: tuple[str, ...], noun: str) -> str:
    """How many there are, and the first of them."""
    shown = [printable_name(name) for name in names[:_SHOWN]]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)} {noun}{'' if len(names) == 1 else 's'}: {', '.join(shown)}{more}"
