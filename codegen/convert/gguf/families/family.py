# SPDX-License-Identifier: Apache-2.0
"""What is known of an architecture: its configuration, and where its tensors come from.

llama.cpp's converter renames tensors and changes some; here each change is taken back (convert_hf_to_gguf.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....frontends.shared.parts import MAX_LAYERS
from ..file import GgufFile
from ..metadata import Metadata

Config = dict[str, Any]
Shape = tuple[int, ...]
Change = Callable[[NDArray[np.float32]], NDArray[np.float32]]
_NAME = re.compile(r"(?:blk\.(?P<layer>0|[1-9][0-9]{0,5})\.)?(?P<part>[a-z0-9_]+)\.(?P<end>weight|bias)")


@dataclass(frozen=True)
class Reorder:
    """A tensor's values in another order, which needs no floats."""

    values: Callable[[NDArray[Any]], NDArray[Any]]
    shape: Callable[[Shape], Shape]


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

    @property
    def layers(self) -> int:
        """How many there are."""
        return self.meta.count("block_count", most=MAX_LAYERS)

    def check_sees_all(self) -> None:
        """Refuses an encoder that does not."""
        if self.meta.flag("attention.causal", False):
            message = "attention.causal: an encoder whose tokens see those before them alone"
            raise self.meta.refuse("gguf-not-supported", message)

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
    tokenizers: tuple[str, ...] = ("gpt2", "llama")  # which kinds it may have
    linears: tuple[str, ...] = ()  # of an embedding, behind its pooling

    def tensors(self, opened: Opened) -> dict[str, Made]:
        """Name in the folder -> of what it is made; a tensor that has no place is refused."""
        found: dict[str, Made] = {}
        count = opened.layers
        for name in opened.file.tensors:
            if name in self.unread or name in self.linears:
                continue
            match = _NAME.fullmatch(name)
            layer, part, end = match.group("layer", "part", "end") if match else (None, "", "")
            known = self.outer if layer is None else self.inner
            if part not in known:
                message = f"a model of the architecture {opened.meta.architecture} has no place for it here"
                raise opened.file.refuse("unused-tensor", message, tensor=name)
            if layer is not None and int(layer) >= count:
                message = f"layer {layer} of {count} layers"
                raise opened.file.refuse("unused-tensor", message, tensor=name)
            inside = "" if layer is None else f"{self.layers}.{layer}."
            found[f"{inside}{known[part]}.{end}"] = self.made(opened, part, name)
        return found


def less_one(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of norms that multiply by 1 + weight, of which the file has the sum."""
    return values - np.float32(1)


# Of linears that the folder has as [inputs, outputs].
TRANSPOSED = Reorder(lambda values: values.T, lambda shape: shape[::-1])


def paired(heads: int) -> Reorder:
    """Of rows of queries or keys: llama.cpp turns neighbours with each other, `transformers` the halves of a head."""

    def reorder(values: NDArray[Any]) -> NDArray[Any]:
        pairs = values.reshape(heads, len(values) // heads // 2, 2, *values.shape[1:])
        return pairs.swapaxes(1, 2).reshape(values.shape)

    return Reorder(reorder, lambda shape: shape)
