# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as codegen/convert/unpickle.py uses, over NumPy: for machines without PyTorch.

`save` writes pickles of its own; `load` reads them as weights_only=True does, by an unpickler that knows no class but
those that tensors are made of.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

__version__ = os.environ.get("STUB_TORCH_VERSION", "2.6.0+stub")
strided = "torch.strided"


class Tensor:
    """A view of `storage`, which may be shared."""

    def __init__(self, storage: np.ndarray, shape: tuple[int, ...], transposed: bool = False, dtype: str = "") -> None:
        self._values = storage.reshape(shape).T if transposed else storage.reshape(shape)
        self.dtype = f"torch.{dtype or storage.dtype.name}"
        self.layout = strided

    shape = property(lambda self: self._values.shape)

    def numel(self) -> int:
        return self._values.size

    def element_size(self) -> int:
        return self._values.itemsize

    def stride(self) -> tuple[int, ...]:
        return self._values.strides

    def data_ptr(self) -> int:
        return self._values.ctypes.data

    def detach(self) -> Tensor:
        return self

    def contiguous(self) -> Tensor:
        whole = np.ascontiguousarray(self._values)
        return Tensor(whole.reshape(-1), whole.shape, dtype=self.dtype.removeprefix("torch."))


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name == "Tensor":
            return Tensor
        if (module, name) == ("collections", "OrderedDict") or module.split(".", maxsplit=1)[0] == "numpy":
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not …")


def save(value: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Pickles `value`."""
    with open(path, "wb") as file:
        pickle.dump(value, file)


def load(file: BinaryIO, *, map_location: str, weights_only: bool) -> Any:
    """As PyTorch's, with these arguments only."""
    assert map_location == "cpu"
    assert weights_only is True
    print("what a library prints is no answer")
    return _Unpickler(file).load()
