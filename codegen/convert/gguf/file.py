# SPDX-License-Identifier: Apache-2.0
"""A GGUF file (ggml's docs/gguf.md, versions 2 and 3), memory-mapped, with every claim of its header checked before a
value is read. The `gguf` package has a reader, too, which believes a file; of it are the types of tensors.

Layout: magic, version, how many tensors and keys; keys with their values; name, dimensions (that which varies fastest
first), type and offset of each tensor; from the next multiple of the alignment on, the data.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...files.outside_files import open_member
from ...load.refusal import shown
from ...load.safetensors import MAX_FILE_BYTES
from .reader import Reader
from .refusals import Refuse, refusals_of
from .stored_tensor import StoredTensor, TensorType
from .types import type_of

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MAX_KEYS = _MAX_TENSORS = 1 << 16
_MAX_NAME = 1 << 16
_MAX_RANK = 4
_MAX_VALUES = 1 << 40
_ALIGNMENT, _MAX_ALIGNMENT = 32, 1 << 20
_SHORTEST = 24


@dataclass(frozen=True)
class GgufFile:
    """What a file holds; `name` is for messages."""

    name: str
    values: dict[str, Any] = field(repr=False)
    tensors: dict[str, StoredTensor] = field(repr=False)

    @property
    def refuse(self) -> Refuse:
        """An error that names the file."""
        return refusals_of(self.name)


@contextmanager
def open_gguf(path: Path) -> Iterator[GgufFile]:
    """The file at `path`, which may be a link as all that a user names; mapped until the end."""
    refuse = refusals_of(path.name)
    with open_member(os.path.realpath(path), 2 * MAX_FILE_BYTES, refuse) as (descriptor, size):
        if size < _SHORTEST:
            raise refuse("gguf-malformed", f"the file has {size} bytes, its first fields alone {_SHORTEST}")
        data = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    yield _parsed(data, path.name, refuse)


def _parsed(data: mmap.mmap, name: str, refuse: Refuse) -> GgufFile:
    reader = Reader(data, refuse)
    tensors, keys = _counts(reader, data, refuse)
    values: dict[str, Any] = {}
    for _ in range(keys):
        key = reader.text("a key", _MAX_NAME)
        if key in values:
            raise refuse("gguf-malformed", f"the key {shown(key)} is there twice")
        values[key] = reader.value(key)
    described: dict[str, tuple[TensorType, tuple[int, ...], int]] = {}
    for _ in range(tensors):
        tensor = reader.text("the name of a tensor", _MAX_NAME)
        if tensor in described:
            raise refuse("gguf-malformed", "two tensors have this name", tensor=tensor)
        described[tensor] = _described(reader, tensor, refuse)
    alignment = _alignment(values, refuse)
    start = -(-reader.at // alignment) * alignment
    return GgufFile(name, values, _placed(described, data, start, alignment, refuse))


def _counts(reader: Reader, data: mmap.mmap, refuse: Refuse) -> tuple[int, int]:
    """(tensors, keys)"""
    if data[:4] != _MAGIC:
        raise refuse("gguf-malformed", "the file does not begin with 'GGUF'")
    reader.at = 4
    version = reader.number("I")
    if version not in _VERSIONS:
        big_endian = version and not version & 0xFFFF
        what = "its numbers are big-endian" if big_endian else f"its version is {version}"
        raise refuse("gguf-not-supported", f"{what}; read are versions 2 and 3, little-endian")
    tensors, keys = reader.number("Q"), reader.number("Q")
    if tensors > _MAX_TENSORS or keys > _MAX_KEYS:
        message = f"{tensors} tensors and {keys} keys, at most {_MAX_TENSORS} of each are read"
        raise refuse("gguf-malformed", message)
    return tensors, keys


def _described(reader: Reader, name: str, refuse: Refuse) -> tuple[TensorType, tuple[int, ...], int]:
    """(type, shape, offset)"""
    rank = reader.number("I")
    if not 1 <= rank <= _MAX_RANK:
        raise refuse("gguf-malformed", f"{rank} dimensions, 1 to {_MAX_RANK} are read", tensor=name)
    shape = tuple(reader.number("Q") for _ in range(rank))[::-1]
    if not all(shape) or math.prod(shape) > _MAX_VALUES:
        raise refuse("gguf-malformed", f"the shape {list(shape)} has no values, or too many", tensor=name)
    found = type_of(reader.number("I"), name, refuse)
    if shape[-1] % found.block:
        raise refuse("gguf-malformed", f"rows of {shape[-1]} values in blocks of {found.block}", tensor=name)
    return found, shape, reader.number("Q")


def _alignment(values: dict[str, Any], refuse: Refuse) -> int:
    alignment = values.get("general.alignment", _ALIGNMENT)
    if type(alignment) is not int or not 8 <= alignment <= _MAX_ALIGNMENT or alignment & (alignment - 1):
        raise refuse("gguf-malformed", f"general.alignment must be a power of two from 8 on, got {shown(alignment)}")
    return alignment


def _placed(
    described: dict[str, tuple[TensorType, tuple[int, ...], int]],
    data: mmap.mmap,
    start: int,
    alignment: int,
    refuse: Refuse,
) -> dict[str, StoredTensor]:
    """The tensors with their bytes, of which each belongs to one."""
    found: dict[str, StoredTensor] = {}
    end = 0
    for name, (kind, shape, offset) in sorted(described.items(), key=lambda item: item[1][2]):
        size = math.prod(shape) // kind.block * kind.bytes
        if offset % alignment:
            raise refuse("gguf-malformed", f"it begins at {offset}, no multiple of {alignment}", tensor=name)
        if offset < end:
            raise refuse("gguf-malformed", "its data overlap another tensor's", tensor=name)
        end = offset + size
        if end > len(data) - start:
            message = f"its data end at {end}, the file has {max(0, len(data) - start)} bytes of data"
            raise refuse("gguf-malformed", message, tensor=name)
        found[name] = StoredTensor(name, kind, shape, memoryview(data)[start + offset : start + end])
    return found


def is_gguf(path: Path) -> bool:
    """Whether a user names a file, not a folder, that is called so or begins so."""
    if path.suffix.lower() == ".gguf" and not path.is_dir():
        return True
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
