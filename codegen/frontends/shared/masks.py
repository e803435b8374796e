# SPDX-License-Identifier: Apache-2.0
"""Which tokens the layers of a model see: all, those so far, or a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...ir.global_rows import GlobalRows
from ...ir.graph import ByLayer, Mask


@dataclass(frozen=True)
class Masks:
    """Of layers, as `Attention` takes them."""

    mask: Mask | ByLayer
    window: int | ByLayer | None = None
    global_rows: GlobalRows = 0  # which see all by projections of their own, and are seen by all


EVERYTHING = Masks("none")
CAUSAL = Masks("causal")


def masks_both_ways(windows: Sequence[int | None]) -> Masks:
    """Of layers that see all tokens or, where they have one, a window of so many to each side."""
    return _masks(windows, "none", "window")


def masks_of_past(windows: Sequence[int | None], tokens: int) -> Masks:
    """Of layers that see the tokens so far or, where they have one, a window of them, in which a token itself is one. A
    window that holds all `tokens` is none."""
    behind = [None if window is None or window >= tokens else window - 1 for window in windows]
    return _masks(behind, "causal", "past")


def _masks(windows: Sequence[int | None], without: Mask, within: Mask) -> Masks:
    return Masks(of_layers([without if window is None else within for window in windows]), of_layers(windows))


def of_layers(values: Sequence[Any]) -> Any:
    """One value where all are the same."""
    return values[0] if len(set(values)) == 1 else ByLayer(tuple(values))
