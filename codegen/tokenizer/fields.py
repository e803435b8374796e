# SPDX-License-Identifier: Apache-2.0
"""What a part's compiler hands over: const arrays, and the initializer of the part's struct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Field:
    """One field of a struct of the runtime: exactly one of the three is set."""

    name: str
    array: str | None = None  # an array's name
    literal: str | None = None  # a number, `true`, `false` or `nullptr`
    group: tuple[Field, ...] | None = None


@dataclass(frozen=True)
class Part:
    """One part of a tokenizer."""

    cpp_type: str
    fields: tuple[Field, ...]  # in the order of the struct's
    arrays: tuple[tuple[str, np.ndarray], ...] = ()
    scratch_bytes: int = 0  # for one word
    stack_bytes: int = 0  # more than of the parts that need least
    most_pieces: int = 0  # etch::most_pieces


def boolean(name: str, value: bool) -> Field:
    return Field(name, literal="true" if value else "false")


def unsigned(name: str, value: int) -> Field:
    return Field(name, literal=f"{value}u")


def signed(name: str, value: int) -> Field:
    return Field(name, literal=str(value))


def byte_array(text: bytes) -> np.ndarray:
    return never_empty(np.frombuffer(text, np.uint8))


def never_empty(array: np.ndarray) -> np.ndarray:
    """C++ has no empty arrays."""
    return array if len(array) else np.zeros(1, array.dtype)
