# SPDX-License-Identifier: Apache-2.0
"""What every check of a graph refuses it by."""

from __future__ import annotations

from ..errors import EtchError

STAGE = "check"


def unsound(message: str) -> EtchError:
    """A front-end, or what it reads, is wrong."""
    return EtchError("graph-not-sound", STAGE, message)
