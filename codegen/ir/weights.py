# SPDX-License-Identifier: Apache-2.0
"""Weights as a recipe stores them, and the places that a program has for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class S8Matrix:
    """w[n][k] = q[n][k] * scales[n]."""

    q: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        return self.q.shape  # type: ignore[return-value]


@dataclass(frozen=True)
class S7Matrix(S8Matrix):
    """The same of 7 bits: q in [-63, 63], a byte each."""


GROUP = 32  # etch::kS4Group


@dataclass(frozen=True)
class S4Matrix:
    """w[n][k] = (q[n][k] * factors[n][k // 32]) * scales[n]; q in [-8, 7], factors >= 1, |q * factor| <= 127."""

    q: NDArray[np.int8]
    factors: NDArray[np.uint8]  # [n][groups]
    scales: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        return self.q.shape  # type: ignore[return-value]

    @property
    def expanded(self) -> S8Matrix:
        """The 8-bit matrix that it stands for."""
        factors = np.repeat(self.factors.astype(np.int8), GROUP, axis=1)[:, : self.q.shape[1]]
        return S8Matrix(self.q * factors, self.scales)


Integers = S8Matrix | S4Matrix


@dataclass(frozen=True)
class F32Matrix:
    values: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape  # type: ignore[return-value]


@dataclass(frozen=True)
class LinearWeights:
    """`source` is the checkpoint's name of the weight; `table` the slot of the embedding table that the matrix is,
    which then stores it. Of several `experts` there is a matrix each, one below the other."""

    matrix: Integers | F32Matrix
    bias: NDArray[np.float32] | None
    source: str
    table: str | None = None
    experts: int = 1


@dataclass(frozen=True)
class NormWeights:
    """`beta` is None where there is none: of a layer norm it counts as 0. An affine norm, which divides nothing, has
    neither epsilon nor width."""

    gamma: NDArray[np.float32]
    beta: NDArray[np.float32] | None
    epsilon: np.float32 | None
    inverse_width: np.float32 | None
    source: str


@dataclass(frozen=True)
class XieluWeights:
    """The numbers of an activation that was trained."""

    square: np.float32
    power: np.float32
    most: np.float32
    linear: np.float32
    source: str


@dataclass(frozen=True)
class ConvolutionWeights:
    """Of a depthwise convolution: `taps` [taps, width], the earliest row's first."""

    taps: NDArray[np.float32]
    bias: NDArray[np.float32] | None
    source: str


@dataclass(frozen=True)
class DeltaWeights:
    """Of a delta rule: `rates` [heads], by which states decay, times log2(e)."""

    rates: NDArray[np.float32]
    source: str


@dataclass(frozen=True)
class ExpertBias:
    """Of a mixture: `values` [experts], by which its experts are chosen."""

    values: NDArray[np.float32]
    source: str


@dataclass(frozen=True)
class StateSpaceWeights:
    """Of a state space: `rates` [heads], by which states decay, times log2(e), and `skips` [heads]."""

    rates: NDArray[np.float32]
    skips: NDArray[np.float32]
    source: str


@dataclass(frozen=True)
class EmbeddingWeights:
    """A table of entries; one that is `tied`, which a linear has as its weights, lies as these do."""

    matrix: Integers | F32Matrix
    source: str
    tied: bool = False


def of_table(weights: LinearWeights | EmbeddingWeights) -> bool:
    """Whether these are a linear's whose matrix an embedding table stores."""
    return isinstance(weights, LinearWeights) and weights.table is not None


@dataclass(frozen=True)
class FloatTable:
    """Floats that are looked up as they are: a bias of attention, cosines, sines."""

    values: NDArray[np.float32]
    source: str


@dataclass(frozen=True)
class IndexTable:
    """Rows of other tables, looked up by distance."""

    values: NDArray[np.uint16]
    source: str


@dataclass(frozen=True)
class RelativeWeights:
    """Relative keys or queries of an attention: of each head a matrix [rows, head width], one below the other."""

    matrix: S8Matrix | F32Matrix
    heads: int
    source: str

    @property
    def by_head(self) -> tuple[int, int, int]:
        """Heads, rows, head width."""
        rows, width = self.matrix.shape
        return self.heads, rows // self.heads, width


LookedUp = FloatTable | IndexTable  # as they are: the generated code has no struct for them
Weights = (
    LinearWeights
    | NormWeights
    | XieluWeights
    | ConvolutionWeights
    | DeltaWeights
    | ExpertBias
    | StateSpaceWeights
    | EmbeddingWeights
    | FloatTable
    | IndexTable
    | RelativeWeights
)


@dataclass(frozen=True)
class WeightSlot:
    """A place for weights in the generated code.

    Inside a loop layer i has stored[of_layer[i]], or stored[i] where of_layer is empty. A slot that is `common` to the
    layers, like one outside loops, has one entry.
    """

    name: str
    stored: tuple[Weights, ...]
    of_layer: tuple[int, ...] = ()
    common: bool = False

    def at(self, layer: int) -> Weights:
        """The weights of one layer, of layer 0 outside loops."""
        return self.stored[self.entry(layer)]

    def entry(self, layer: int) -> int:
        """Which of the stored ones a layer has."""
        if self.common:
            return 0
        return self.of_layer[layer] if self.of_layer else layer

    @property
    def layers(self) -> int:
        """How many layers it serves; 1 outside loops."""
        return len(self.of_layer) or len(self.stored)
