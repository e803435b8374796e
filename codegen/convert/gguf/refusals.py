# SPDX-License-Identifier: Apache-2.0
"""Shorthand for refusals of a GGUF file, whose name stands in all of them."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import EtchError
from ..refusal import refusal

Refuse = Callable[..., EtchError]


def refusals_of(file: str) -> Refuse:
    """(code, message, tensor=None) -> an error that names the file; raise it."""

    def refuse(code: str, message: str, tensor: str | None = None) -> EtchError:
        return refusal(code, message, file=file, tensor=tensor)

    return refuse
