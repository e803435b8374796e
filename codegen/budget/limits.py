# SPDX-License-Identifier: Apache-2.0
"""What the user allows, and what a program takes beside the model's own tables and workspace."""

from __future__ import annotations

from dataclasses import dataclass

STAGE = "budget"


@dataclass(frozen=True)
class Limits:
    """Bytes; None is no limit."""

    flash: int | None = None
    ram: int | None = None
    stack: int | None = None
    accuracy: float | None = None  # the least that the measure may be, from 0 to 1
    min_tokens: int | None = None  # texts may be cut at so few; None: at no fewer than asked for

    def hold(self, size: Size) -> bool:
        """Whether a model of this size keeps within them."""
        return not self.excess(size) > 1

    def excess(self, size: Size) -> float:
        """The largest share of a limit that is used."""
        pairs = ((size.flash, self.flash), (size.ram, self.ram), (size.stack, self.stack))
        return max((taken / limit for taken, limit in pairs if limit is not None), default=0.0)


@dataclass(frozen=True, order=True)
class Size:
    """Bytes: flash is tables and code; RAM is arena, the model's stack budget, and what else is static."""

    flash: int
    ram: int
    stack: int


@dataclass(frozen=True)
class Allowance:
    """What a program takes beside tables, arena and the model's stack: bytes, checked against what is linked."""

    code: int  # and constants, and the tables of libetch.a
    static: int  # variables, and stack that no model uses


# m-profile: the firmware of firmware-demo on the largest of its boards. host: a model's program with all kernel
# sets of x86-64.
ALLOWANCES: dict[str, Allowance] = {
    "m-profile": Allowance(code=75 << 10, static=2560),
    "host": Allowance(code=448 << 10, static=24 << 10),
}
