# SPDX-License-Identifier: Apache-2.0
"""Tensors that are others when they are read: some rows, scaled channels, another name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .parameter import Array, FloatArray

Values = FloatArray


@dataclass(frozen=True)
class Derived:
    """A tensor made of `whole` each time that its values are asked for; what is not given is that of `whole`. A
    `parameter.Array` itself."""

    whole: Array
    of_values: Callable[[Values], Values] | None = None
    of_shape: Callable[[tuple[int, ...]], tuple[int, ...]] | None = None
    called: str | None = None

    @property
    def file(self) -> str:
        return self.whole.file

    @property
    def name(self) -> str:
        return self.whole.name if self.called is None else self.called

    @property
    def shape(self) -> tuple[int, ...]:
        return self.whole.shape if self.of_shape is None else self.of_shape(self.whole.shape)

    @property
    def values(self) -> Values:
        return self.whole.values if self.of_values is None else self.of_values(self.whole.values)
