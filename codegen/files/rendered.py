# SPDX-License-Identifier: Apache-2.0
"""A file that is to be written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rendered:
    """Its name and its content in pieces."""

    name: str
    content: Iterable[bytes | memoryview]
