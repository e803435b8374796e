# SPDX-License-Identifier: Apache-2.0
"""What is known of an architecture: its configuration, and where its tensors come from.

llama.cpp's converter renames tensors and changes some; here each change is taken back (convert_hf_to_gguf.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..file import GgufFile
from ..metadata import Metadata

Config = dict[str, Any]
# Of a tensor: its values are in another order, which needs no floats, or other ones.
Reorder = Callable[[NDArray[Any]], NDArray[Any]]
Change = Callable[[NDArray[np.float32]], NDArray[np.float32]]
LAYER = "blk."


@dataclass(frozen=True)
class Made:
    """A tensor of the folder, of one of the file."""

    source: str
    reorder: Reorder | None = None
    change: Change | None = None


@dataclass(frozen=True)
class Opened:
    """What a family is asked about."""

    file: GgufFile
    meta: Metadata

    def has(self, tensor: str) -> bool:
        """Whether the file has it."""
        return tensor in self.file.tensors

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Of a tensor, which must be there."""
        if tensor not in self.file.tensors:
            raise self.file.refuse("missing-tensor", "the file has no such tensor", tensor=tensor)
        return self.file.tensors[tensor].shape

    def vector(self, tensor: str) -> NDArray[np.float32]:
        """The values of a small tensor of one dimension that lies there as F32."""
        found = self.file.tensors[tensor]
        if found.type.name != "F32" or len(found.shape) != 1:
            message = f"expected one dimension of F32, got {list(found.shape)} of {found.type.name}"
            raise self.file.refuse("gguf-tensor", message, tensor=tensor)
        return np.frombuffer(found.data, "<f4")


@dataclass(frozen=True)
class Family:
    """Names are what stands before `.weight` or `.bias`: in the file behind `blk.I.` for layer I, in the folder behind
    `layers`, a dot and I."""

    model_type: str
    architectures: tuple[str, ...]
    config: Callable[[Opened], Config]
    outer: Mapping[str, str]
    inner: Mapping[str, str]
    layers: str
    # How (the file's name without layer and ending) is changed.
    made: Callable[[Opened, str, str], Made] = lambda _, __, source: Made(source)
    unread: frozenset[str] = frozenset()  # tensors that the configuration says
    writes: bool = True  # it has logits of a vocabulary

    def tensors(self, opened: Opened) -> dict[str, Made]:
        """Name in the folder -> of what it is made; a tensor that has no place is refused."""
        found: dict[str, Made] = {}
        count = opened.meta.count("block_count")
        for name in opened.file.tensors:
            if name in self.unread:
                continue
            stem, dot, end = name.rpartition(".")
            layer, part = "", stem
            if name.startswith(LAYER):
                _, layer, part = stem.split(".", 2) if stem.count(".") >= 2 else ("", "", "")
            known = self.inner if layer else self.outer
            in_range = not layer or (layer.isascii() and layer.isdecimal() and str(int(layer)) == layer)
            if not dot or end not in ("weight", "bias") or part not in known or not in_range:
                message = f"a model of the architecture {opened.meta.architecture} has no place for it here"
                raise opened.file.refuse("unused-tensor", message, tensor=name)
            if layer and int(layer) >= count:
                message = f"layer {layer} of {count} layers"
                raise opened.file.refuse("unused-tensor", message, tensor=name)
            inside = f"{self.layers}.{layer}." if layer else ""
            found[f"{inside}{known[part]}.{end}"] = self.made(opened, part, name)
        return found


def less_one(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of norms that multiply by 1 + weight, of which the file has the sum."""
    return values - np.float32(1)


def transposed(values: NDArray[Any]) -> NDArray[Any]:
    """Of linears that the folder has as [inputs, outputs]."""
    return values.T


def paired(heads: int) -> Reorder:
    """Of rows of queries or keys: llama.cpp turns neighbours with each other, `transformers` the halves of a head."""

    def reorder(values: NDArray[Any]) -> NDArray[Any]:
        pairs = values.reshape(heads, len(values) // heads // 2, 2, *values.shape[1:])
        return pairs.swapaxes(1, 2).reshape(values.shape)

    return reorder
