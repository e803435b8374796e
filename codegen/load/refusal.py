# SPDX-License-Identifier: Apache-2.0
"""Shorthand for the refusals of this stage."""

from __future__ import annotations

from ..errors import EtchError


def refusal(code: str, message: str, *, file: str | None = None, tensor: str | None = None) -> EtchError:
    """An `EtchError` of stage `load`; raise it."""
    return EtchError(code, "load", message, file=file, tensor=tensor)


def kind(value: object) -> str:
    """How a parsed JSON value is named in a message."""
    names: dict[type, str] = {
        bool: "true/false",
        int: "an integer",
        float: "a fraction",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return "null" if value is None else names[type(value)]


def shown(value: object, limit: int = 60) -> str:
    """A parsed JSON value for a message, short whatever its size."""
    if isinstance(value, (list, dict)):
        return f"{kind(value)} of {len(value)}"
    if isinstance(value, str):
        return f"'{value[:limit]}…'" if len(value) > limit else f"'{value}'"
    if value is None or isinstance(value, bool):
        return str({None: "null", True: "true", False: "false"}[value])
    return f"{value!r}"
