# SPDX-License-Identifier: Apache-2.0
"""The models in a linked file, and what their generated folders say of them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.building.symbol_names import scope
from codegen.errors import EtchError
from codegen.folders.manifest import read_manifest

from .elf_file import Image, Symbol
from .failure import refused

_FIRST_TABLE = "word_embeddings_table"
_ROLES = ("weights", "nibbles", "factors", "scales", "bias", "gamma", "beta", "table", "values")
_FIELDS = ("table_list", "arena_ops", "arena_buffers", "arena_bytes", "arena_lower_bound", "stack_budget")
_CACHE = "CMakeCache.txt"
_SOURCE = "_source"  # behind the name of a table that is copied: where its bytes come from


@dataclass(frozen=True)
class Table:
    part: str
    layers: tuple[int, ...]  # none: in no layer


@dataclass(frozen=True)
class Model:
    name: str
    symbols: dict[str, Symbol]  # of the tables, by their names
    manifest: dict[str, Any] | None  # etch.json; None: no folder of this model is known

    @property
    def copied(self) -> set[str]:
        """Tables that are copied to RAM before the first call."""
        places = (self.manifest or {}).get("table_places", {}).values()
        return {table for place in places if place["copied"] for table in place["tables"]}

    def table(self, name: str) -> Table:
        """`name`: of the table, or of what it is copied from."""
        name = name.removesuffix(_SOURCE)
        if self.manifest is not None:
            entry = self.manifest["table_list"][name]
            layers = entry["layers"]
            return Table(entry["part"], tuple(layers if isinstance(layers, list) else range(layers)))
        stem, _, role = name.rpartition("_")
        return Table(stem if role in _ROLES else "tokenizer", ())


def models_of(image: Image, elf: Path, folders: list[Path]) -> list[Model]:
    """Each model in the file; its folder is one of `folders`, or found beside the build that made the file."""
    tables: dict[str, dict[str, Symbol]] = {}
    for symbol in image.symbols:
        owner = _table_name(symbol.name)
        if owner is not None and owner[1] == _FIRST_TABLE:
            tables[owner[0]] = {}
    if not tables:
        raise refused("no-model", f"{elf} has no model of etch linked into it")
    for symbol in image.symbols:
        if symbol.kind == "object" and symbol.size:
            owners = [(name, _table_of(symbol.name, name)) for name in sorted(tables, key=len, reverse=True)]
            name, table = next(((name, table) for name, table in owners if table), ("", None))
            if table:
                tables[name][table] = symbol
    given = {folder: _manifest(folder) for folder in folders}
    for folder, manifest in given.items():
        if manifest["name"] not in tables:
            raise refused("another-model", f"{folder} is of '{manifest['name']}', {elf} holds {', '.join(tables)}")
        _check_tables(image, tables[manifest["name"]], manifest, folder)
    return [Model(name, found, _manifest_of(name, image, found, elf, given)) for name, found in sorted(tables.items())]


def _table_name(symbol: str) -> tuple[str, str] | None:
    """Model and table of the symbol of a first table, in assembly or in C++."""
    parts = scope(symbol)
    if len(parts) == 3 and parts[0] == "etch":
        return parts[1], parts[2]
    named = re.fullmatch(rf"etch_([a-z0-9_]+)_({_FIRST_TABLE})", symbol)
    return (named[1], named[2]) if named else None


def _table_of(symbol: str, model: str) -> str | None:
    """The table that a symbol is of; other constants of a model are called kNames."""
    parts = scope(symbol)
    if symbol.startswith(f"etch_{model}_"):
        table = symbol.removeprefix(f"etch_{model}_")
    elif len(parts) == 3 and parts[:2] == ("etch", model):
        table = parts[2]
    else:
        return None
    return table if re.fullmatch(r"[a-z0-9_]+", table) else None


def _manifest(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(folder, "report")
    missing = [field for field in _FIELDS if field not in manifest]
    if missing:
        raise refused("old-manifest", f"{folder}/etch.json lacks {', '.join(missing)}: generate the folder again")
    return manifest


def _check_tables(image: Image, symbols: dict[str, Symbol], manifest: dict[str, Any], folder: Path) -> None:
    """Refuses a folder whose tables are not those of the file, by size and, where it has one, by the blob's SHA-256."""
    digest = hashlib.sha256()
    for name, entry in manifest["table_list"].items():
        symbol = symbols.get(name)
        if symbol is None or symbol.size != entry["bytes"]:
            raise refused("another-model", f"{folder}: table {name} is not that of {image.name}")
        symbol = symbols.get(f"{name}{_SOURCE}", symbol)
        section = image.section(symbol.section)
        begin = symbol.address - section.address
        digest.update((section.data or b"")[begin : begin + symbol.size])
    _check_places(manifest, folder)
    blob = manifest["files"].get(f"{manifest['name']}.tables")
    if blob is not None and blob != digest.hexdigest():
        raise refused("another-model", f"{folder}: the tables of {image.name} hold other bytes")


def _check_places(manifest: dict[str, Any], folder: Path) -> None:
    """Of a model that has all tables in one place nothing is said of it."""
    if "table_places" not in manifest:
        return
    placed = [table for place in manifest["table_places"].values() for table in place["tables"]]
    if sorted(placed) != sorted(manifest["table_list"]):
        raise refused("manifest-malformed", f"{folder}/etch.json: 'table_places' has not each table once")


def _manifest_of(
    name: str, image: Image, symbols: dict[str, Symbol], elf: Path, given: dict[Path, dict[str, Any]]
) -> dict[str, Any] | None:
    for manifest in given.values():
        if manifest["name"] == name:
            return _without_strangers(symbols, manifest)
    for folder in _candidates(name, elf):
        try:
            manifest = _manifest(folder)
            _check_tables(image, symbols, manifest, folder)
        except EtchError:
            continue
        return _without_strangers(symbols, manifest)
    return None


def _without_strangers(symbols: dict[str, Symbol], manifest: dict[str, Any]) -> dict[str, Any]:
    """In `symbols` only tables stay: a model's functions for C have names like theirs."""
    for name in [name for name in symbols if name.removesuffix(_SOURCE) not in manifest["table_list"]]:
        del symbols[name]
    return manifest


def _candidates(name: str, elf: Path) -> list[Path]:
    """Folders of a model of this name in the build folder of the file and in the sources that it was made from."""
    build = build_folder(elf)
    if build is None:
        return []
    found = sorted(path.parent for path in build.rglob("etch.json") if path.parent.name == name)
    found += sorted(path.parent for path in build.rglob("etch.json") if path.parent not in found)
    cache = (build / _CACHE).read_text(encoding="utf-8", errors="replace")
    values = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.MULTILINE))
    found += [Path(folder) for folder in values.get("ETCH_MODEL_DIRS", "").split(";") if folder]
    home = Path(values.get("CMAKE_HOME_DIRECTORY", ""))
    return [*found, home / "generated" / name, home]


def build_folder(elf: Path) -> Path | None:
    """The CMake build folder that the file lies in."""
    return next((folder for folder in elf.resolve().parents if (folder / _CACHE).is_file()), None)
