# SPDX-License-Identifier: Apache-2.0
"""Layers of several kinds that have ops of their own: what repeats of the kinds in a row is one loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ...ir.graph import Layers, Op, Parameter
from ...ir.renamed import Renaming

_LONGEST = 16  # layers of a period


@dataclass(frozen=True)
class Period:
    """`times` the same `length` layers, from `first` on."""

    first: int
    length: int
    times: int


def periods_of(kinds: Sequence[str]) -> list[Period]:
    """Those with the fewest layers to write down, then the fewest, then the longest first; each goes on for as long as
    it can."""
    best: list[list[Period]] = [[]]  # by the number of layers left
    for first in reversed(range(len(kinds))):
        left = list(kinds[first:])
        ways = []
        for length in range(1, min(len(left), _LONGEST) + 1):
            times = 1
            while left[times * length :][:length] == left[:length]:
                times += 1
            ways.append([Period(first, length, times), *best[len(left) - length * times]])
        best.append(min(ways, key=_to_write))
    return best[-1]


def _to_write(way: Sequence[Period]) -> tuple[int, int, int]:
    return sum(period.length for period in way), len(way), -way[0].length * way[0].times


def layers_of_kinds(
    kinds: Sequence[str],
    ops_of: Callable[[str, tuple[int, ...]], tuple[Op, ...]],
    widths: Mapping[str, int],
    own: Set[str],
) -> tuple[tuple[Layers, ...], dict[str, int]]:
    """The loops, and the widths of their values. `ops_of` makes the ops of some layers of a kind, which know nothing of
    others; the values `own` get a name for each, as what is kept from token to token is not shared."""
    periods = periods_of(kinds)
    alone = len(periods) == periods[0].length == 1
    found, all_widths = [], dict(widths)
    for period in periods:
        body: list[Op] = []
        for layer in range(period.first, period.first + period.length):
            of_kind = ops_of(kinds[layer], tuple(range(layer, layer + period.length * period.times, period.length)))
            prefix = "" if alone else f"layer_{layer}_"
            body += map(prefixed(prefix, own).op, of_kind)
            all_widths |= {f"{prefix}{value}": widths[value] for value in own}
        found.append(Layers("layer" if len(periods) == 1 else f"group_{period.first}", period.times, tuple(body)))
    return tuple(found), all_widths


def prefixed(prefix: str, own: Set[str]) -> Renaming:
    """Of ops, their parameters and the values `own`; parameters that belong to no layer stay."""

    def parameter(of: Parameter) -> Parameter:
        return of if of.common else replace(of, name=f"{prefix}{of.name}")

    return Renaming(lambda name: prefix + name, lambda value: prefix + value if value in own else value, parameter)
