# SPDX-License-Identifier: Apache-2.0
"""Strict JSON: what the standard parser lets through silently is refused here.

Refused beyond malformed text: duplicate keys, NaN and Infinity, numbers that overflow or have absurd lengths, bad
UTF-8, lone surrogates, deep nesting, and texts with so many values that the parsed form would not fit a gigabyte.
"""

from __future__ import annotations

import codecs
import json
import math
from typing import Any

from .refusal import refusal

INFINITY = {"__float__": "Infinity"}  # as transformers 5 writes it in a configuration
MAX_DEPTH = 64
MAX_VALUES = 1_000_000  # a BERT vocabulary has 30 to 120 thousand; a million empty objects take a quarter of a gigabyte
MAX_NON_ASCII_BYTES = 64 << 20  # one character beyond U+FFFF makes Python spend four bytes on every character
MAX_NUMBER_LENGTH = 100  # `model_max_length` is often a 31-digit integer


def parse_json(raw: bytes, name: str, what: str = "JSON", *, endless: bool = False) -> dict[str, Any]:
    """The object that `raw` spells; `name` is the file for messages, `what` the part of it. Where `endless`, Infinity
    is read as `INFINITY`."""
    parsed = _parse(raw, name, what, endless)
    if not isinstance(parsed, dict):
        raise refusal("json-not-an-object", f"{what} must be one object {{…}}", file=name)
    return parsed


def parse_json_list(raw: bytes, name: str, what: str = "JSON") -> list[Any]:
    """The list that `raw` spells."""
    parsed = _parse(raw, name, what)
    if not isinstance(parsed, list):
        raise refusal("json-not-a-list", f"{what} must be one list […]", file=name)
    return parsed


def _parse(raw: bytes, name: str, what: str, endless: bool = False) -> Any:
    text = _decode(raw, name, what)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            seen: set[str] = set()
            twice = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise refusal("json-duplicate-key", f"{what} has the key '{twice[:60]}' twice in one object", file=name)
        return result

    def constant(word: str) -> dict[str, str]:
        if endless and word == "Infinity":
            return dict(INFINITY)
        raise refusal("json-not-finite", f"{what} holds the number {word}", file=name)

    def integer(digits: str) -> int:
        if len(digits) > MAX_NUMBER_LENGTH:
            raise refusal(
                "json-number-too-long",
                f"{what} holds a number of {len(digits)} characters, at most {MAX_NUMBER_LENGTH} are read",
                file=name,
            )
        return int(digits)

    def fraction(digits: str) -> float:
        if len(digits) > MAX_NUMBER_LENGTH:
            integer(digits)
        value = float(digits)
        if not math.isfinite(value):
            raise refusal("json-not-finite", f"{what} holds the number {digits}, beyond a double", file=name)
        return value

    if not text.strip():
        raise refusal("json-malformed", f"{what} is empty: get the file again", file=name)
    try:
        parsed = json.loads(
            text, object_pairs_hook=pairs, parse_constant=constant, parse_int=integer, parse_float=fraction
        )
    except RecursionError:
        raise _too_deep(name, what) from None
    except ValueError as error:
        raise refusal("json-malformed", f"{what} is malformed: {error}", file=name) from None
    _check_depth_and_text(parsed, name, what)
    return parsed


def _decode(raw: bytes, name: str, what: str) -> str:
    if raw.startswith(codecs.BOM_UTF8):
        raise refusal("json-malformed", f"{what} begins with a byte order mark: save it without one", file=name)
    if not raw.isascii() and len(raw) > MAX_NON_ASCII_BYTES:
        raise refusal(
            "json-too-large",
            f"{what} has {len(raw)} bytes, at most {MAX_NON_ASCII_BYTES} are read when it is not pure ASCII",
            file=name,
        )
    # Every value but the first of its container is preceded by a comma, and every container has an opening bracket.
    values = 1 + raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    if values > MAX_VALUES:
        raise refusal("json-too-large", f"{what} may hold {values} values, at most {MAX_VALUES} are read", file=name)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal(
            "json-not-utf8", f"{what} is not UTF-8: {error.reason} at byte {error.start}", file=name
        ) from None


def _check_depth_and_text(root: Any, name: str, what: str) -> None:
    level: list[Any] = [root] if isinstance(root, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for container in level:
            values = container
            if isinstance(container, dict):
                for key in container:
                    _check_text(key, name, what)
                values = container.values()
            for value in values:
                if isinstance(value, str):
                    _check_text(value, name, what)
                elif isinstance(value, (dict, list)):
                    below.append(value)
        if not below:
            return
        level = below
    raise _too_deep(name, what)


def _check_text(text: str, name: str, what: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise refusal(
            "json-lone-surrogate", f"{what} has a string with half a surrogate pair at {error.start}", file=name
        ) from None


def _too_deep(name: str, what: str) -> Exception:
    return refusal("json-too-deep", f"{what} is nested more than {MAX_DEPTH} levels deep", file=name)
