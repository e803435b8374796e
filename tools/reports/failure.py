# SPDX-License-Identifier: Apache-2.0
"""Refusals of this tool: the generator's exception with this tool's stage."""

from __future__ import annotations

from codegen.errors import EtchError


def refused(code: str, message: str) -> EtchError:
    return EtchError(code, "report", message)
