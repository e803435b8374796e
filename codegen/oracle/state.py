# SPDX-License-Identifier: Apache-2.0
"""What ops are executed with: the values of one text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..ir import graph as g
from ..ir.parameter import Array
from ..ir.stage import Stage
from .functions import F64Array

INTERPRET: Stage[None] = Stage("interpret")


class State:
    """The values of one text: [tokens, width], or [1, width] behind a pooling; [steps, width] in the phase that
    repeats."""

    def __init__(
        self, floats: Callable[[Array], F64Array], ids: Sequence[int], segments: Sequence[int], keys: int | None = None
    ) -> None:
        self._floats = floats
        self.keys = keys
        self.indices: dict[str, NDArray[np.int64]] = {
            "ids": np.asarray(ids, np.int64),
            "segments": np.asarray(segments, np.int64),
            "positions": np.arange(len(ids)),
        }
        self.values: dict[str, F64Array] = {}
        self.layer = 0

    def weight(self, parameter: g.Parameter) -> F64Array:
        return self._floats(parameter.at(self.layer))


def split_heads(rows: F64Array, heads: int) -> F64Array:
    return rows.reshape(len(rows), heads, -1).swapaxes(0, 1)
