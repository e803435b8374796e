# SPDX-License-Identifier: Apache-2.0
"""Arrays that no file holds: what a configuration and other tensors decide is computed at generation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from ...ir.graph import Parameter
from ...ir.parameter import Array, FloatArray

_LARGEST = 100.0  # logarithm of what is computed of one


@dataclass(frozen=True)
class Computed:
    """A `parameter.Array`; `compute` is called whenever the values are needed, and always gives the same."""

    name: str
    shape: tuple[int, ...]
    compute: Callable[[], FloatArray] = field(repr=False)
    file: str = "config.json"

    @property
    def values(self) -> FloatArray:
        return self.compute()


def rows_of(array: Array, begin: int, end: int) -> Computed:
    """Some rows of a tensor that a file stores together with others."""
    shape = (end - begin, *array.shape[1:])
    return Computed(f"{array.name}[{begin}:{end}]", shape, lambda: array.values[begin:end], array.file)


def without_row(array: Array, row: int) -> Computed:
    """A matrix with zeros in the place of one row."""

    def compute() -> FloatArray:
        values = array.values.copy()
        values[row] = 0
        return values

    return Computed(array.name, array.shape, compute, array.file)


def columns_of(array: Array, begin: int, end: int) -> Computed:
    """Some columns of a matrix."""
    shape = (array.shape[0], end - begin)
    return Computed(f"{array.name}[:, {begin}:{end}]", shape, lambda: array.values[:, begin:end], array.file)


def beside(left: Array, right: Array) -> Computed:
    """The columns of `left`, then the rows of `right` as columns."""
    shape = (left.shape[0], left.shape[1] + right.shape[0])
    name = f"{left.name} | {right.name}^T"
    return Computed(name, shape, lambda: np.concatenate([left.values, right.values.T], axis=1), right.file)


def rows_of_heads(array: Array, heads: int, first: int, last: int, count: int) -> Computed:
    """Those from `first` to before `last` of `count` parts of the rows of each head."""
    shape = (array.shape[0] // count * (last - first), *array.shape[1:])

    def compute() -> FloatArray:
        return np.ascontiguousarray(array.values.reshape(heads, count, -1, *shape[1:])[:, first:last].reshape(shape))

    return Computed(f"{array.name}, {first + 1} to {last} of {count}", shape, compute, array.file)


def rows_of_groups(array: Array, groups: int, *spans: tuple[int, int]) -> Computed:
    """Of the rows of each of so many groups those of a span, one group's behind the other's; then those of the next
    span."""
    each = array.shape[0] // groups
    shape = (groups * sum(end - begin for begin, end in spans), *array.shape[1:])

    def compute() -> FloatArray:
        rows = array.values.reshape(groups, each, *shape[1:])
        return np.concatenate([rows[:, begin:end].reshape(-1, *shape[1:]) for begin, end in spans])

    named = " and ".join(f"{begin}:{end}" for begin, end in spans)
    return Computed(f"{array.name}[{named} of each {each}]", shape, compute, array.file)


def repeated_rows(array: Array, times: int) -> Computed:
    """Each row of a matrix so many times."""
    shape = (array.shape[0] * times, *array.shape[1:])
    return Computed(f"{array.name}, {times} times", shape, lambda: np.repeat(array.values, times, axis=0), array.file)


def of_groups(array: Array, groups: int) -> Computed:
    """[outputs, inputs] of a convolution over one place [outputs, inputs / groups, 1]: the outputs of each group are
    made of its inputs alone, the weights of the others are zeros."""
    outputs, inputs = array.shape[0], array.shape[1]

    def compute() -> FloatArray:
        parts = array.values.reshape(groups, outputs // groups, inputs)
        whole = np.zeros((groups, outputs // groups, groups, inputs), parts.dtype)
        whole[range(groups), :, range(groups)] = parts
        return whole.reshape(outputs, groups * inputs)

    return Computed(array.name, (outputs, groups * inputs), compute, array.file)


def of_group_matrices(array: Array) -> Computed:
    """The same of a linear whose groups have a matrix each [groups, inputs, outputs]."""
    groups, inputs, outputs = array.shape
    below = Computed(
        array.name,
        (groups * inputs, outputs),
        lambda: array.values.reshape(groups * inputs, outputs),
        array.file,
    )
    return of_groups(transposed_parts(below, groups), groups)


def one_row(arrays: Sequence[Array]) -> Computed:
    """All their values, one behind the other."""
    count = sum(math.prod(array.shape) for array in arrays)

    def compute() -> FloatArray:
        return np.concatenate([array.values.reshape(-1) for array in arrays])

    return Computed(arrays[0].name, (count,), compute, arrays[0].file)


def depthwise(array: Array) -> Computed:
    """[width, taps] of a convolution with a group for each channel [width, 1, taps]."""
    width, _, taps = array.shape
    return Computed(array.name, (width, taps), lambda: array.values.reshape(width, taps), array.file)


def transposed_parts(array: Array, count: int) -> Computed:
    """Of so many matrices, one below the other, each one with its rows as columns."""
    rows, columns = array.shape[0] // count, array.shape[1]

    def compute() -> FloatArray:
        turned = array.values.reshape(count, rows, columns).swapaxes(1, 2)
        return np.ascontiguousarray(turned).reshape(count * columns, rows)

    return Computed(f"{array.name}^T", (count * columns, rows), compute, array.file)


def below_each_other(arrays: Sequence[Array]) -> Computed:
    """Matrices of as many columns, one below the other."""
    shape = (sum(array.shape[0] for array in arrays), *arrays[0].shape[1:])
    name = f"{arrays[0].name} and {len(arrays) - 1} more"
    return Computed(name, shape, lambda: np.concatenate([array.values for array in arrays]), arrays[0].file)


def columns_of_each(array: Array, part: int, count: int) -> Computed:
    """Of matrices that are stored as one tensor [matrices, rows, columns] every `count`-th column from `part` on, as
    the rows of matrices one below the other."""
    matrices, rows, columns = array.shape
    shape = (matrices * columns // count, rows)

    def compute() -> FloatArray:
        return np.ascontiguousarray(array.values[:, :, part::count].swapaxes(1, 2)).reshape(shape)

    return Computed(f"{array.name}^T, {part + 1} of {count}", shape, compute, array.file)


def every_of(array: Array, part: int, count: int) -> Computed:
    """Of rows of a matrix every `count`-th value from `part` on, one row's behind the other's."""
    shape = (array.shape[0] * array.shape[1] // count,)
    name = array.name if count == 1 else f"{array.name}, {part + 1} of {count}"
    return Computed(name, shape, lambda: np.ascontiguousarray(array.values[:, part::count]).reshape(shape), array.file)


def part_of_each(array: Array, part: int, count: int) -> Computed:
    """Of matrices that are stored as one tensor [matrices, rows, columns] one of `count` parts of their rows each, one
    below the other."""
    matrices, rows, columns = array.shape
    shape = (matrices * rows // count, columns)

    def compute() -> FloatArray:
        parts = array.values.reshape(matrices, count, rows // count, columns)
        return np.ascontiguousarray(parts[:, part]).reshape(shape)

    name = array.name if count == 1 else f"{array.name}, {part + 1} of {count}"
    return Computed(name, shape, compute, array.file)


def times(array: Array, factor: float) -> Computed:
    """A tensor times a number."""
    return Computed(array.name, array.shape, lambda: array.values.astype(np.float64) * factor, array.file)


def scaled(parameter: Parameter, factor: float) -> Parameter:
    """All its tensors times a number."""
    return replace(parameter, arrays=tuple(times(array, factor) for array in parameter.arrays))


def same_values(name: str, width: int, value: float) -> Computed:
    """As many as a row has."""
    return Computed(name, (width,), lambda: np.full(width, value, np.float32))


def repeated_value(array: Array, width: int) -> Computed:
    """The only value of a tensor, as often as a row has values."""
    return Computed(array.name, (width,), lambda: np.repeat(array.values, width), array.file)


def negated(parameter: Parameter) -> Parameter:
    """All its tensors with the other sign, and of the type that they have."""

    def of(array: Array) -> Computed:
        return Computed(array.name, array.shape, lambda: -array.values, array.file)

    return replace(parameter, arrays=tuple(map(of, parameter.arrays)))


def one_more(array: Array) -> Computed:
    """1 + a tensor, of norms whose weights are stored as what they differ from 1 by."""
    return Computed(f"1 + {array.name}", array.shape, lambda: array.values.astype(np.float64) + 1, array.file)


def powers_of_e(logarithms: Array) -> Computed:
    """e to the power of them, the same on every machine; past what bounds allow any, as Decimal ends somewhere."""

    def compute() -> NDArray[np.float64]:
        with localcontext() as context:
            context.prec = 50
            return np.array([float(Decimal(min(float(x), _LARGEST)).exp()) for x in logarithms.values])

    return Computed(f"exp({logarithms.name})", logarithms.shape, compute, logarithms.file)


def times_by_rows(array: Array, factors: Sequence[tuple[int, float]]) -> Array:
    """So many first rows of a tensor times a number, then so many times another one; the tensor where all are 1."""
    if all(factor == 1 for _, factor in factors):
        return array

    def compute() -> NDArray[np.float64]:
        by_row = np.repeat([factor for _, factor in factors], [rows for rows, _ in factors])
        return array.values.astype(np.float64) * by_row.reshape(-1, *(1 for _ in array.shape[1:]))

    return Computed(array.name, array.shape, compute, array.file)


def sum_of(arrays: Sequence[Array]) -> Array:
    """Of tensors of one shape."""
    if len(arrays) == 1:
        return arrays[0]

    def compute() -> NDArray[np.float64]:
        return np.sum([array.values.astype(np.float64) for array in arrays], axis=0)

    return Computed(" + ".join(array.name for array in arrays), arrays[0].shape, compute, arrays[0].file)
