# SPDX-License-Identifier: Apache-2.0
"""Shorthand for the refusals of this stage."""

from __future__ import annotations

from ..errors import EtchError
from ..load.folder import ADAPTER_FILE
from ..load.refusal import shown

__all__ = ["ADAPTER_FILE", "refusal", "shown"]


def refusal(code: str, message: str, *, file: str = ADAPTER_FILE, tensor: str | None = None) -> EtchError:
    """An `EtchError` of stage `merge`; raise it."""
    return EtchError(code, "merge", message, file=file, tensor=tensor)
