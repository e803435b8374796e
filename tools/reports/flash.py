# SPDX-License-Identifier: Apache-2.0
"""What the file's loaded bytes are: tables by part of the model, code by area, constants, and the rest by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codegen.building.symbol_names import scope

from .attribution import Piece, attribute
from .elf_file import Image
from .linker_map import LinkerMap
from .model_folder import Model

Category = Literal["tables", "code", "constants", "initial values", "loading", "alignment"]
CATEGORIES: tuple[Category, ...] = ("tables", "code", "constants", "initial values", "loading", "alignment")

_RUNTIME = Path(__file__).resolve().parents[2] / "runtime" / "src"
KERNEL_SETS = frozenset(path.name for path in (_RUNTIME / "kernels").iterdir() if path.is_dir())
_LOADING = (".interp", ".note", ".gnu.", ".dyn", ".rel", ".plt", ".got", ".init_array", ".fini_array", ".hash")
_UNWINDING = (".eh_frame", ".gcc_except_table", ".ARM.ex")
_VECTORS = (".vectors", ".isr_vector")


@dataclass(frozen=True)
class Entry:
    category: Category
    group: str
    name: str
    bytes: int


@dataclass(frozen=True)
class Flash:
    entries: tuple[Entry, ...]
    bytes: int  # of the sections that the file has bytes for
    segment_bytes: int  # with headers and gaps between sections

    def groups(self, category: Category) -> list[tuple[str, int]]:
        """Largest first, layers in their order."""
        sums: dict[str, int] = {}
        for entry in self.entries:
            if entry.category == category:
                sums[entry.group] = sums.get(entry.group, 0) + entry.bytes
        return sorted(sums.items(), key=lambda item: (-item[1], _natural(item[0])))

    def category(self, category: Category) -> int:
        return sum(entry.bytes for entry in self.entries if entry.category == category)


def flash_of(image: Image, models: list[Model], linker_map: LinkerMap | None, names: dict[str, str]) -> Flash:
    """`names`: of symbols, as people read them."""
    entries: list[Entry] = []
    for section in image.in_file:
        for piece in attribute(section, image, linker_map):
            entries += _entries(piece, models, names)
    return Flash(tuple(entries), sum(section.size for section in image.in_file), image.segment_bytes)


def _entries(piece: Piece, models: list[Model], names: dict[str, str]) -> Iterator[Entry]:
    if piece.padding:
        yield Entry("alignment", "between symbols", piece.section.name, piece.size)
        return
    for model in models:
        for table, symbol in model.symbols.items():
            if symbol is piece.symbol:
                yield from _table_entries(model, table, piece.size, several=len(models) > 1)
                return
    category, group = _area(piece, models)
    yield Entry(category, group, _name(piece, names), piece.size)


def _table_entries(model: Model, name: str, size: int, several: bool) -> Iterator[Entry]:
    table = model.table(name)
    prefix = f"{model.name}: " if several else ""
    if not table.layers:
        yield Entry("tables", prefix + table.part.replace("_", " "), name, size)
    for index, layer in enumerate(table.layers):
        yield Entry("tables", f"{prefix}layer {layer}", f"{name}[{index}]", size // len(table.layers))


def _name(piece: Piece, names: dict[str, str]) -> str:
    if piece.symbol is not None:
        return names.get(piece.symbol.name, piece.symbol.name)
    source = f" of {_object_name(piece)}" if piece.origin else ""
    return f"without a symbol in {piece.section.name}{source}"


def _object_name(piece: Piece) -> str:
    assert piece.origin is not None
    return f"{piece.origin.archive}({piece.origin.object})" if piece.origin.archive else Path(piece.origin.object).name


def _area(piece: Piece, models: list[Model]) -> tuple[Category, str]:
    section = piece.section
    if section.name.startswith(_VECTORS):
        return "code", "vectors"
    if section.name.startswith(_UNWINDING):
        return "loading", "unwind tables"
    if section.name.startswith(_LOADING):
        return "loading", "dynamic loading and start"
    if section.writable:
        return "initial values", section.name
    category: Category = "code" if section.code else "constants"
    symbol = piece.symbol
    parts = scope(symbol.name) if symbol else ()
    if parts[:1] == ("etch",):
        area = parts[2] if len(parts) > 3 else ""
        if area == "tokenizer" and symbol is not None and symbol.kind == "object":
            return "tables", "Unicode"
        if area in KERNEL_SETS:
            return category, f"kernels: {area}"
        if area == "tokenizer":
            return category, "tokenizer"
        if len(parts) > 2 and any(parts[1] == model.name for model in models):
            return category, "model"
    return category, _area_of_object(piece, models, runtime=parts[:1] == ("etch",) and parts[1:2] != ("cli",))


def _area_of_object(piece: Piece, models: list[Model], runtime: bool) -> str:
    """By the object that the map names; without a map by what the symbol's name says."""
    if piece.origin is None:
        if piece.symbol is None:
            return "not attributed"
        prefixes = tuple(f"etch_{model.name}_" for model in models)
        return "model" if piece.symbol.name.startswith(prefixes) else "runtime" if runtime else "program"
    archive, source = piece.origin.archive, Path(piece.origin.object).name.split(".")[0]
    path = piece.origin.object.replace("\\", "/")
    if any(source in (m.name, f"{m.name}_c", f"{m.name}_self_test", f"{m.name}_tables") for m in models):
        return "model"
    if any(source == f"{m.name}_tokenizer" for m in models):
        return "tokenizer"
    if archive == "libetch.a":
        folders = {file.relative_to(_RUNTIME).parts for file in _RUNTIME.rglob(f"{source}.cpp")}
        first = {parts[0] if len(parts) > 1 else "" for parts in folders}
        area = first.pop() if len(first) == 1 else ""
        return area or "runtime"
    if archive == "libgcc.a":
        return "compiler's library"
    if archive:
        return f"library {archive}"
    if ".dir/" in path:
        folder = Path(path.split(".dir/", 1)[1].replace("__/", "")).parent.as_posix()
        return "program" if folder == "." else f"program: {folder}"
    return "start files" if source.startswith(("crt", "Scrt", "rcrt", "Mcrt")) else "program"


def _natural(text: str) -> tuple[str, int]:
    stem = text.rstrip("0123456789")
    return stem, int(text[len(stem) :] or 0)
