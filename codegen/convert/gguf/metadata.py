# SPDX-License-Identifier: Apache-2.0
"""What the keys of a GGUF file say, each checked where it is read; what nobody reads of an architecture's keys would
change what the model computes and is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import EtchError
from ...load.refusal import shown
from .file import GgufFile

# Of an architecture, and say nothing that the tensors do not say, or nothing of what is computed.
_SAID_BY_OTHERS = frozenset({"vocab_size", "tensor_data_layout", "rope.scaling.finetuned"})


_MAX_COUNT = (1 << 31) - 1
_MAX_NUMBERS = 1 << 22  # of a list


class Metadata:
    """Keys without a beginning of their own are those of the architecture: `block_count` is `llama.block_count`."""

    def __init__(self, file: GgufFile) -> None:
        self._file = file
        self.architecture = ""
        self._asked: set[str] = set()
        self.architecture = self.text("general.architecture")

    def has(self, key: str) -> bool:
        """Whether the file says anything of it."""
        return self._full(key) in self._file.values

    def count(self, key: str, absent: int | None = None, *, least: int = 1, most: int = _MAX_COUNT) -> int:
        """A whole number from `least` to `most`."""
        value = self._get(key, absent)
        if type(value) is not int or not least <= value <= most:
            raise self._wrong(key, f"a whole number, {least} to {most}", value)
        return value

    def number(self, key: str, absent: float | None = None) -> float:
        """Finite. What the file has as float32 is the shortest number that is the same as float32, as 1e-06."""
        value = self._get(key, absent)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise self._wrong(key, "a number", value)
        rounded = np.float32(value)
        return float(str(rounded)) if float(rounded) == value else float(value)

    def flag(self, key: str, absent: bool) -> bool:
        """True or false."""
        value = self._get(key, absent)
        if not isinstance(value, bool):
            raise self._wrong(key, "true/false", value)
        return value

    def text(self, key: str, absent: str | None = None) -> str:
        """A text."""
        value = self._get(key, absent)
        if not isinstance(value, str):
            raise self._wrong(key, "a text", value)
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts; empty where there is none."""
        value = self._get(key, [])
        if not isinstance(value, list):
            raise self._wrong(key, "a list of texts", value)
        return value

    def numbers(self, key: str, absent: list[float] | None = None) -> list[Any]:
        """A list of numbers, finite."""
        value = self._get(key, absent)
        if isinstance(value, list) and not value:
            return value
        if not isinstance(value, np.ndarray) or len(value) > _MAX_NUMBERS or not np.isfinite(value).all():
            raise self._wrong(key, "a list of numbers", value)
        return value.tolist()

    def check_all_read(self) -> None:
        """Refuses a key of the architecture that nobody has read."""
        begin = f"{self.architecture}."
        left = sorted(
            key
            for key in self._file.values
            if key.startswith(begin) and key not in self._asked and key.removeprefix(begin) not in _SAID_BY_OTHERS
        )
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            message = f"the key {shown(left[0])}{more}: what it asks for is not known here"
            raise self._file.refuse("gguf-not-supported", message)

    def refuse(self, code: str, message: str) -> EtchError:
        """An error that names the file; raise it."""
        return self._file.refuse(code, message)

    def _full(self, key: str) -> str:
        return key if key.startswith(("general.", "tokenizer.", "split.")) else f"{self.architecture}.{key}"

    def _get(self, key: str, absent: object) -> Any:
        full = self._full(key)
        self._asked.add(full)
        value = self._file.values.get(full, absent)
        if value is None:
            raise self.refuse("gguf-key", f"the key {shown(full)} is missing")
        return value

    def _wrong(self, key: str, expected: str, value: object) -> EtchError:
        got = f"{len(value)} values" if isinstance(value, (list, np.ndarray)) else shown(value)
        return self.refuse("gguf-key", f"{shown(self._full(key))} must be {expected}, got {got}")
