# SPDX-License-Identifier: Apache-2.0
"""The weights of a graph, in float, as the checkpoint has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

F32Array = NDArray[np.float32]
FloatArray = NDArray[np.floating[Any]]  # of 32 or 64 bits


class Array(Protocol):
    """A tensor of the checkpoint that is read when needed, so that large models never lie in memory whole; or what is
    computed of some, in float64 where rounding it is the recipe's to do."""

    @property
    def file(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def values(self) -> FloatArray: ...


@dataclass(frozen=True)
class Parameter:
    """A named weight: one array, or one per layer inside `Layers`. Linear weights are [outputs, inputs].

    Layers may share arrays: layer i has arrays[of_layer[i]], where that is given. A `common` parameter inside `Layers`
    has one array, which belongs to no layer.
    """

    name: str
    arrays: tuple[Array, ...]
    of_layer: tuple[int, ...] = ()
    common: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.arrays[0].shape

    def at(self, layer: int) -> Array:
        """The array of one layer, of layer 0 outside `Layers`."""
        return self.arrays[self.index(layer)]

    def index(self, layer: int) -> int:
        """Which one that is."""
        if self.common:
            return 0
        return self.of_layer[layer] if self.of_layer else layer
