# SPDX-License-Identifier: Apache-2.0
"""Adapters of low rank (Hu et al., 2021, arXiv:2106.09685) inside of a checkpoint's own file, one for each task, as
PyTorch saves a weight that is parametrized: `X.parametrizations.weight.original` and, of all tasks,
`X.parametrizations.weight.0.lora_A` and `.lora_B`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...load.safetensors import Taken, TensorFile

_ORIGINAL = ".parametrizations.weight.original"
_FACTORS = (".parametrizations.weight.0.lora_A", ".parametrizations.weight.0.lora_B")
_ROWS = 4096  # at a time, in float64


@dataclass(frozen=True)
class Adapted(Taken):
    """A weight [rows, columns] with `scale` times left [rows, rank] right [rank, columns] added, rounded once."""

    left: NDArray[np.float32] = field(repr=False, compare=False)
    right: NDArray[np.float32] = field(repr=False, compare=False)
    scale: float

    @property
    def values(self) -> NDArray[np.float32]:
        """Made anew each time."""
        values = np.array(super().values)
        right = self.right.astype(np.float64) * self.scale
        for begin in range(0, len(values), _ROWS):
            rows = slice(begin, begin + _ROWS)
            values[rows] = values[rows] + self.left[rows].astype(np.float64) @ right
        values.flags.writeable = False
        return values


@dataclass(frozen=True)
class Adapters:
    """Those of a file, whose weights have their usual names from here on."""

    tensors: TensorFile
    names: tuple[str, ...]  # of modules

    @classmethod
    def of_file(cls, tensors: TensorFile) -> Adapters | None:
        """None where there are none."""
        names = tuple(name.removesuffix(_ORIGINAL) for name in tensors.names if name.endswith(_ORIGINAL))
        for name in names:
            tensors.stand_in(f"{name}.weight", f"{name}{_ORIGINAL}")
        return cls(tensors, names) if names else None

    def leave_out(self) -> None:
        """None is used."""
        self.tensors.ignore(*(f"{name}{factor}" for name in self.names for factor in _FACTORS))

    def add(self, task: int, tasks: int, rank: int, scale: float) -> None:
        """That of one task, to every weight. Of linears [outputs, inputs] it is B A, of tables [entries, width] A B."""
        for name in self.names:
            weight = f"{name}.weight"
            shape = self.tensors.info(weight)[1]
            rows, columns = shape if len(shape) == 2 else (0, 0)
            is_table = "embeddings" in name
            a, b = ((rows, rank), (rank, columns)) if is_table else ((rank, columns), (rows, rank))
            first, second = (
                self.tensors.take(f"{name}{factor}", (tasks, *size)).values[task]
                for factor, size in zip(_FACTORS, (a, b), strict=True)
            )
            left, right = (first, second) if is_table else (second, first)
            plain = self.tensors.take(weight, (rows, columns))
            whole = Adapted(plain.file, plain.name, plain.dtype, plain.shape, plain.stored, left, right, scale)
            self.tensors.give(weight, whole)
