# SPDX-License-Identifier: Apache-2.0
"""Shorthand for the refusals of this stage."""

from __future__ import annotations

from ..errors import EtchError
from ..load.folder import ADAPTER_FILE, ADAPTER_WEIGHTS_FILE


def refusal(code: str, message: str, *, file: str = ADAPTER_FILE, tensor: str | None = None) -> EtchError:
    """An `EtchError` of stage `merge`; raise it."""
    return EtchError(code, "merge", message, file=file, tensor=tensor)


def tensor_refusal(code: str, message: str, tensor: str | None = None) -> EtchError:
    """Of the adapter's tensors."""
    return refusal(code, message, file=ADAPTER_WEIGHTS_FILE, tensor=tensor)
