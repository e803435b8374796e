# SPDX-License-Identifier: Apache-2.0
"""Shorthand for the refusals of this stage."""

from __future__ import annotations

from ..errors import EtchError


def refusal(code: str, message: str, *, file: str | None = None, tensor: str | None = None) -> EtchError:
    """An `EtchError` of stage `convert`; raise it."""
    return EtchError(code, "convert", message, file=file, tensor=tensor)
