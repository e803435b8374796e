# SPDX-License-Identifier: Apache-2.0
"""etch.json, which says what made a generated folder: read as strictly as a checkpoint, for such a folder may come from
somewhere else. Every field that is used anywhere has its type and range checked here."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

from ..asked import POOLINGS
from ..errors import EtchError
from ..files.outside_files import read_member
from ..ir.chat import Trim
from ..load.json_file import parse_json
from ..load.refusal import shown
from ..names import MANIFEST, checked_name
from ..targets import TARGETS
from ..tasks import verbs

CMAKE_FILE = "CMakeLists.txt"
TERMS_SUFFIX = "_terms.txt"
MAX_BYTES = 16 << 20
_MAX_IDS = 1 << 24
_MAX_SIZE = 1 << 40  # bytes of anything

_Check = Callable[[Any], bool]


def _text(pattern: str) -> _Check:
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _integer(least: int, most: int) -> _Check:
    return lambda value: type(value) is int and least <= value <= most


def _among(*values: object) -> _Check:
    return lambda value: type(value) in map(type, values) and value in values


def _mapping(key: _Check, value: _Check) -> _Check:
    return lambda values: isinstance(values, dict) and all(key(k) and value(v) for k, v in values.items())


def _list(item: _Check) -> _Check:
    return lambda values: isinstance(values, list) and all(map(item, values))


def _object(**fields: _Check) -> _Check:
    return lambda value: (
        isinstance(value, dict) and set(value) == set(fields) and all(fields[key](value[key]) for key in fields)
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_SHA256 = _text(r"[0-9a-f]{64}")
_SIZE = _integer(0, _MAX_SIZE)
_INDEX = _integer(0, 1 << 20)
_WORD = _text(r"[A-Za-z0-9_.\[\]]{1,100}")
_REGION = _text(r"[a-z][a-z0-9]{0,15}")  # regions.parse_room
_LAYERS = _list(_INDEX)
_CODES = _list(_text(r"[a-z]{2,3}(_[A-Za-z]{2,4})?"))  # as languages.py reads them
_BITS = _among(8, 4)  # quantize.bits.WIDTHS, which needs NumPy: --help does not

_TRIM = _among(*get_args(Trim))

_REQUIRED: dict[str, _Check] = {
    "generator": _text(r"[0-9A-Za-z.+-]{1,40}"),
    "abi": _integer(0, 1 << 16),
    "name": _text(r"[a-z][a-z0-9_]{0,39}"),
    "task": lambda value: isinstance(value, str) and value in verbs(),
    "recipe": _text(r"[a-z0-9]{1,20}"),
    "target": _among(*TARGETS),
    "checkpoint_sha256": _SHA256,
    "max_tokens": _integer(1, 1 << 20),
    "table_bytes": _SIZE,
    "arena_bytes": _SIZE,
    "stack_budget": _SIZE,
    "files": _mapping(lambda name: isinstance(name, str), _SHA256),
}
_OPTIONAL: dict[str, _Check] = {
    "heads": _mapping(_text(r"[a-z][a-z0-9_]{0,39}"), lambda value: isinstance(value, str) and value in verbs()),
    "embedding_bits": _BITS,
    "bits": _mapping(_WORD, _BITS),
    "calibration_sha256": _SHA256,
    "smoothing_sha256": _SHA256,
    "pooling": _among(*POOLINGS),
    "dimensions": _integer(1, 1 << 16),
    "tables": _among("c", "incbin"),
    "gpu": _among(True, False),
    "beams": _integer(1, 8),  # search.MOST_BEAMS
    "chat": _object(
        **dict.fromkeys(("before", "before_answer", "behind_answer", "ask", "thinking_end"), _is_text),
        **dict.fromkeys(("trim_system", "trim_user", "trim_answer", "trim_behind_thinking"), _TRIM),
        system=lambda value: value is None or (_list(_is_text)(value) and len(value) == 2),
    ),
    "languages": lambda value: _CODES(value) and len(value) == 2,
    "max_target": _integer(1, 1 << 20),
    "kept_ids": _text(rf"[1-9a-f][0-9a-f]{{0,{_MAX_IDS // 4}}}"),
    "arena_lower_bound": _SIZE,
    "table_list": _mapping(
        _WORD, _object(part=_WORD, layers=lambda value: _INDEX(value) or _LAYERS(value), bytes=_SIZE)
    ),
    "regions": _mapping(_REGION, _object(bytes=_SIZE, lower_bound=_SIZE, room=_SIZE, cost=_integer(1, 1000))),
    "region_buffers": _mapping(
        _WORD, _object(region=_REGION, offset=_SIZE, bytes=_SIZE, first_op=_INDEX, last_op=_INDEX)
    ),
    "table_places": _mapping(
        _REGION,
        _object(bytes=_SIZE, room=_SIZE, cost=_integer(1, 1000), copied=_among(True, False), tables=_list(_WORD)),
    ),
    "arena_ops": _list(_WORD),
    "arena_buffers": _mapping(_WORD, _object(offset=_SIZE, bytes=_SIZE, first_op=_INDEX, last_op=_INDEX)),
}


def id_set(ids: tuple[int, ...]) -> str:
    """Ids as bits, from the lowest on, in hexadecimal digits."""
    bits = bytearray(max(ids) // 8 + 1)
    for i in ids:
        bits[i // 8] |= 1 << i % 8
    return f"{int.from_bytes(bits, 'little'):x}"


def ids_of(text: str) -> tuple[int, ...]:
    """The ids of `id_set`."""
    return tuple(i for i, bit in enumerate(reversed(f"{int(text, 16):b}")) if bit == "1")


def read_manifest(directory: Path, stage: str = "verify") -> dict[str, Any]:
    """The checked manifest of a generated folder; EtchError of `stage` where it is none.

    A field that is not known here is handed on as it is; nothing may use it.
    """
    refuse = partial(_refuse, stage)
    try:
        raw = read_member(directory / MANIFEST, MAX_BYTES, refuse)
        content = parse_json(raw, MANIFEST)
    except EtchError as error:
        if (directory / "config.json").is_file():
            message = f"{directory} is a checkpoint; etch generate makes a folder of it, which is asked for here"
        elif not directory.is_dir():
            message = f"'{directory}' is not a folder; a generated folder is wanted"
        else:
            message = f"{directory} is not a folder that etch generated: {error.message}"
        raise refuse("not-generated", message) from None
    missing = [field for field in _REQUIRED if field not in content]
    if missing:
        raise refuse("not-generated", f"the field '{missing[0]}' is missing: generate the folder again")
    for field, check in (_REQUIRED | _OPTIONAL).items():
        if field in content and not check(content[field]):
            raise refuse("manifest-malformed", f"'{field}' is not what etch writes there: {shown(content[field])}")
    name = _checked_name(content["name"], stage)
    for file in content["files"]:
        if not is_file_of(name, file):
            raise refuse("manifest-malformed", f"etch writes no file {shown(file)} for a model '{name}'")
    return content


def check_one_arena(manifest: dict[str, Any], stage: str) -> None:
    """EtchError of `stage` where a model works in other regions than its workspace, or has tables in several places:
    this stage gives it none."""
    fields = {"regions": "--region", "table_places": "--table-region"}
    option = next((option for name, option in fields.items() if name in manifest), None)
    if option is not None:
        message = f"'{manifest['name']}' was generated with {option}, for a program that gives it this memory"
        raise _refuse(stage, "regions-not-supported", message)


def is_file_of(name: str, file: str) -> bool:
    """Whether a generated folder of a model may hold a file of this name: plain, and beginning with the model's."""
    return (
        file in (CMAKE_FILE, name + TERMS_SUFFIX)
        or re.fullmatch(rf"{name}(_[a-z0-9_]{{1,40}})?\.(h|hpp|cpp|S|tables)", file) is not None
    )


def _checked_name(name: str, stage: str) -> str:
    try:
        return checked_name(name)
    except EtchError as error:
        raise _refuse(stage, "manifest-malformed", error.message) from None


def _refuse(stage: str, code: str, message: str) -> EtchError:
    return EtchError(code, stage, message, file=MANIFEST)
