# SPDX-License-Identifier: Apache-2.0
"""A safetensors file, memory-mapped, with every claim of its header checked before a value is read.

Layout: 8 bytes little-endian header length, the header (a JSON object: name -> dtype, shape, data_offsets), the data.
Offsets are relative to the end of the header; the tensors must cover the data exactly, without overlap or hole.
"""

from __future__ import annotations

import fnmatch
import math
import mmap
import os
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .files import CheckpointFolder
from .json_file import parse_json
from .refusal import kind, refusal, shown

MAX_FILE_BYTES = 2 << 30  # tables are linked into a program; 2 GiB is also what small-code-model x86 can address
MAX_HEADER_BYTES = 100 << 20
MAX_RANK = 8
MAX_DIMENSION = 1 << 40
_CHUNK_VALUES = 1 << 20
# What classes of older versions saved besides weights, and none reads: it is made anew, as the configuration says.
_MADE_ANEW = ("position_ids", "rotary_emb.inv_freq")
_INDICES: dict[str, np.dtype[Any]] = {"I32": np.dtype("<i4"), "I64": np.dtype("<i8")}

_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32, "F32": 32,
    "U64": 64, "I64": 64, "F64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
_READABLE: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),  # NumPy has no bfloat16
}


@dataclass(frozen=True)
class Taken:
    """A tensor that passed every check; `values` reads it."""

    file: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    stored: npt.NDArray[Any] = field(repr=False, compare=False)  # as in the file, read-only, not copied

    @property
    def values(self) -> npt.NDArray[np.float32]:
        """The values as float32: a read-only view for F32, an exact conversion, made anew each time, for the others."""
        values = _widened(self.dtype, self.stored)
        values.flags.writeable = False
        return values


@dataclass(frozen=True)
class Entry:
    """A tensor as a header describes it, checked; `data[begin:end]` are its bytes."""

    file: str
    data: mmap.mmap = field(repr=False)
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class TensorFile:
    """The tensors of a checkpoint. The front-end takes or ignores each of them; `finish` refuses what is left."""

    def __init__(self, entries: dict[str, Entry], file: str) -> None:
        """`file` is where a tensor that is missing should have been named."""
        self._entries = entries
        self._file = file
        self._used: set[str] = set()
        self._given: dict[str, Taken] = {}
        self._base = ""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> TensorFile:
        """The file at `path`; its folder is treated as the checkpoint folder."""
        folder, name = os.path.split(os.path.abspath(os.fspath(path)))
        return cls.open_in(CheckpointFolder(folder), name)

    @classmethod
    def open_in(cls, folder: CheckpointFolder, name: str) -> TensorFile:
        """The file `name` of a checkpoint folder."""
        return cls(read_entries(folder, name), name)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted: the order in the file does not matter."""
        return tuple(sorted(self._entries))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._found(name) in self._entries

    def below(self, base: str) -> str:
        """From here on a name with the prefix `base` and the same without it are one: the library reads files of a
        model alone for classes that have it below this name (`base_model_prefix`), and the reverse. Returns `base`."""
        self._base = base
        return base

    def info(self, name: str) -> tuple[str, tuple[int, ...]]:
        """(dtype, shape) of a tensor; `missing-tensor` if there is none."""
        entry = self._entry(self._found(name))
        return entry.dtype, entry.shape

    def stored(self, name: str) -> tuple[str, tuple[int, ...], memoryview]:
        """(dtype, shape, bytes) of a tensor as the file has it, whatever its type."""
        entry = self._entry(self._found(name))
        return entry.dtype, entry.shape, memoryview(entry.data)[entry.begin : entry.end]

    def take(self, name: str, shape: tuple[int, ...], *, legacy: str | None = None) -> Taken:
        """The tensor `name`, or else `legacy` (an older name for it), of exactly this shape and with finite values."""
        if legacy is not None and legacy in self:
            if name in self:
                found = self._found(name)
                raise refusal(
                    "tensor-twice",
                    f"the file also has its older name '{self._found(legacy)}'",
                    file=self._entry(found).file,
                    tensor=found,
                )
            name = legacy
        name = self._found(name)
        if name in self._given and self._given[name].shape == tuple(shape):
            return self._given[name]
        entry = self._entry(name)
        if entry.dtype not in _READABLE:
            readable = ", ".join(_READABLE)
            raise refusal(
                "dtype-not-supported", f"expected one of {readable}, got {entry.dtype}", file=entry.file, tensor=name
            )
        if entry.shape != tuple(shape):
            raise refusal(
                "wrong-shape", f"expected {list(shape)}, got {list(entry.shape)}", file=entry.file, tensor=name
            )
        stored = np.frombuffer(
            entry.data, dtype=_READABLE[entry.dtype], count=math.prod(entry.shape), offset=entry.begin
        )
        _check_finite(name, entry, stored)
        self._used.add(name)
        return Taken(entry.file, name, entry.dtype, entry.shape, stored.reshape(entry.shape))

    def stand_in(self, missing: str, other: str) -> None:
        """Two names of one tensor: where the file has the `other` alone, it is read by the one that is missing."""
        if missing not in self and other in self:
            self._entries[missing] = self._entries.pop(self._found(other))

    def give(self, name: str, whole: Taken) -> None:
        """From here on the tensor `name`, which has been taken, is read as the `whole` of it and others."""
        self._given[self._found(name)] = whole

    def take_indices(self, name: str, below: int) -> npt.NDArray[np.int64]:
        """The tensor `name` of one dimension, rows of another one that has `below` of them."""
        name = self._found(name)
        entry = self._entry(name)
        if entry.dtype not in _INDICES:
            message = f"expected one of {', '.join(_INDICES)}, got {entry.dtype}"
            raise refusal("dtype-not-supported", message, file=entry.file, tensor=name)
        if len(entry.shape) != 1:
            raise refusal("wrong-shape", f"expected [entries], got {list(entry.shape)}", file=entry.file, tensor=name)
        stored = np.frombuffer(
            entry.data, dtype=_INDICES[entry.dtype], count=math.prod(entry.shape), offset=entry.begin
        )
        if stored.size and not 0 <= stored.min() <= stored.max() < below:
            message = f"expected rows 0 to {below - 1}, got {stored.min()} to {stored.max()}"
            raise refusal("index-out-of-range", message, file=entry.file, tensor=name)
        self._used.add(name)
        return stored.astype(np.int64)

    def ignore(self, *patterns: str) -> tuple[str, ...]:
        """Mark as known but not needed what nobody has taken of the tensors whose names match a pattern (`*` and `?`);
        returns those."""
        rest = (name for name in self.names if name not in self._used)
        found = tuple(
            name
            for name in rest
            if any(fnmatch.fnmatchcase(each, pattern) for each in self._spellings(name) for pattern in patterns)
        )
        self._used.update(found)
        return found

    def ignore_outside(self) -> tuple[str, ...]:
        """The same of what stands beside the model that `below` names: heads, where all of that model has its prefix.
        None where it has not."""
        if not any(name.startswith(self._base) for name in self._used if self._base):
            return ()
        found = tuple(name for name in self.names if not name.startswith(self._base) and name not in self._used)
        self._used.update(found)
        return found

    def finish(self) -> None:
        """Refuse a file with tensors that were neither taken nor ignored, but for those that the library makes anew."""
        extra = [name for name in self.names if name not in self._used and not _is_made_anew(name)]
        if extra:
            listed = ", ".join(f"'{name[:80]}'" for name in extra[:3])
            more = f" and {len(extra) - 3} more" if len(extra) > 3 else ""
            raise refusal(
                "unused-tensor",
                f"the model has no place for {len(extra)} of {len(self._entries)} tensors: {listed}{more}",
                file=self._entries[extra[0]].file,
                tensor=extra[0],
            )

    def _spellings(self, name: str) -> tuple[str, ...]:
        """The names that are one with it, itself the first."""
        if not self._base:
            return (name,)
        shorter = (name.removeprefix(self._base),) if name.startswith(self._base) else ()
        return (name, *shorter, f"{self._base}{name}")

    def _found(self, name: str) -> str:
        """The one that the file has. Of what it lacks the one that is like its others'."""
        for each in self._spellings(name):
            if each in self._entries:
                return each
        if not name.startswith(self._base) or any(other.startswith(self._base) for other in self._entries):
            return name
        shorter = name.removeprefix(self._base)
        first, _, _ = shorter.partition(".")
        return shorter if any(other.startswith(f"{first}.") for other in self._entries) else name

    def _entry(self, name: str) -> Entry:
        if name not in self._entries:
            raise refusal(
                "missing-tensor",
                f"the file has no such tensor among its {len(self._entries)}",
                file=self._file,
                tensor=name,
            )
        return self._entries[name]


def _is_made_anew(name: str) -> bool:
    """Positions, 0, 1, 2, …, and frequencies of angles."""
    return any(name == each or name.endswith(f".{each}") for each in _MADE_ANEW)


def read_entries(folder: CheckpointFolder, name: str) -> dict[str, Entry]:
    """The tensors that one safetensors file holds, by name."""
    with folder.open(name, MAX_FILE_BYTES) as (descriptor, size):
        if size < 8:
            raise refusal("safetensors-too-short", f"the file has {size} bytes, its first field alone 8", file=name)
        data = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    (length,) = struct.unpack_from("<Q", data)
    if length > MAX_HEADER_BYTES:
        raise refusal(
            "safetensors-header-too-large",
            f"the header claims {length} bytes, at most {MAX_HEADER_BYTES} are read",
            file=name,
        )
    if length > size - 8:
        raise refusal(
            "safetensors-header-truncated",
            f"the header claims {length} bytes, only {size - 8} follow",
            file=name,
        )
    if length == 0 or data[8:9] != b"{":
        raise refusal("safetensors-header-start", "the header does not start with '{'", file=name)
    header = parse_json(data[8 : 8 + length], name, "the header")
    return _parse_header(header, data, 8 + length, name)


def _widened(dtype: str, stored: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The stored values as float32, exactly."""
    if dtype == "BF16":  # the upper half of a float32
        widened = stored.astype("<u4")
        widened <<= 16
        return widened.view("<f4")
    return np.asarray(stored, dtype=np.float32)


def _check_finite(name: str, entry: Entry, stored: npt.NDArray[Any]) -> None:
    bad, first, value = 0, 0, 0.0
    for begin in range(0, stored.size, _CHUNK_VALUES):
        values = _widened(entry.dtype, stored[begin : begin + _CHUNK_VALUES])
        finite = np.isfinite(values)
        if not finite.all():
            if not bad:
                first = begin + int(np.argmin(finite))
                value = float(values[first - begin])
            bad += int(finite.size - np.count_nonzero(finite))
    if bad:
        place = [int(i) for i in np.unravel_index(first, entry.shape)] if entry.shape else []
        raise refusal(
            "tensor-not-finite",
            f"expected finite values, got {value} at {place} ({bad} of {stored.size} are not finite)",
            file=entry.file,
            tensor=name,
        )


def _parse_header(header: dict[str, Any], data: mmap.mmap, start: int, file: str) -> dict[str, Entry]:
    """The entries of a header whose data begin at `start`."""
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise refusal("safetensors-metadata", "__metadata__ must map strings to strings", file=file)
    entries = {name: _read_entry(name, value, data, start, file) for name, value in header.items()}
    expected = start
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != expected:
            code = "safetensors-overlap" if entry.begin < expected else "safetensors-hole"
            raise refusal(
                code,
                f"data should begin at {expected - start}, begins at {entry.begin - start}",
                file=file,
                tensor=name,
            )
        expected = entry.end
    needed, there = expected - start, len(data) - start
    if needed != there:
        code = "safetensors-data-truncated" if needed > there else "safetensors-trailing-bytes"
        raise refusal(code, f"the tensors need {needed} bytes of data, the file has {there}", file=file)
    return entries


def _read_entry(name: str, value: object, data: mmap.mmap, start: int, file: str) -> Entry:
    def fail(code: str, message: str) -> Exception:
        return refusal(code, message, file=file, tensor=name)

    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise fail("safetensors-entry", "expected an object with exactly dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise fail("safetensors-dtype", f"unknown dtype {shown(dtype)}")
    if not isinstance(shape, list) or len(shape) > MAX_RANK:
        raise fail("safetensors-shape", f"the shape must be a list of at most {MAX_RANK}, got {shown(shape)}")
    for size in shape:
        if type(size) is not int or not 0 <= size <= MAX_DIMENSION:
            raise fail("safetensors-shape", f"a dimension must be an integer in 0..{MAX_DIMENSION}, got {shown(size)}")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(offset) is int for offset in offsets):
        raise fail("safetensors-offsets", f"data_offsets must be two integers, got {_offsets_shown(offsets)}")
    begin, end = offsets
    if not 0 <= begin <= end:
        raise fail("safetensors-offsets", f"data_offsets must be 0 <= begin <= end, got {begin}, {end}")
    bits = math.prod(shape) * _BITS[dtype]
    if bits != 8 * (end - begin):
        raise fail("safetensors-size", f"{dtype} {shape} needs {bits // 8} bytes, data_offsets give {end - begin}")
    return Entry(file, data, dtype, tuple(shape), start + begin, start + end)


def _offsets_shown(offsets: object) -> str:
    if isinstance(offsets, list) and len(offsets) == 2:
        return " and ".join(kind(offset) for offset in offsets)
    return shown(offsets)
