# SPDX-License-Identifier: Apache-2.0
"""The linked file as frozen values: what is loaded, and the symbols in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection, SymbolTableSection

from codegen.errors import EtchError, printable

from .failure import refused

_WRITE, _ALLOC, _CODE = 1, 2, 4  # SHF_*
_MACHINES = {"EM_ARM": "ARM", "EM_X86_64": "x86-64", "EM_AARCH64": "AArch64"}
_HOSTED = (".interp", ".dynamic", ".note.ABI-tag", ".note.gnu.build-id")

Kind = Literal["function", "object", "label"]


@dataclass(frozen=True)
class Section:
    """One that is there at run time."""

    name: str
    address: int
    load_address: int  # where its bytes lie until the program starts: initial values are in flash
    size: int
    writable: bool
    code: bool
    data: bytes | None  # None: memory that the file has no bytes for

    @property
    def end(self) -> int:
        return self.address + self.size


@dataclass(frozen=True)
class Symbol:
    name: str
    address: int  # without the bit that marks Thumb code
    size: int
    kind: Kind
    weak: bool
    external: bool  # seen by other objects
    section: str


@dataclass(frozen=True)
class Image:
    name: str
    machine: str
    bits: int
    hosted: bool  # there is an operating system
    sections: tuple[Section, ...]  # by address
    symbols: tuple[Symbol, ...]
    undefined: tuple[str, ...]  # names that come from elsewhere
    segment_bytes: int  # of the file that is loaded, headers and gaps included

    @property
    def in_file(self) -> tuple[Section, ...]:
        """What flash holds, or a program's file: initial values included."""
        return tuple(section for section in self.sections if section.data is not None)

    @property
    def in_ram(self) -> tuple[Section, ...]:
        return tuple(section for section in self.sections if section.writable)

    def section(self, name: str) -> Section:
        return next(section for section in self.sections if section.name == name)


def read_image(path: Path) -> Image:
    """The image of a linked ELF file that has its symbols; EtchError for anything else."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                raise refused("not-elf", f"{path} is not an ELF file")
            file.seek(0)
            return _image(path, file)
    except OSError as error:
        raise refused("cannot-read", f"{path}: {error.strerror}") from error


def _image(path: Path, file: Any) -> Image:
    try:
        elf = ELFFile(file)
        kind, machine = elf["e_type"], elf["e_machine"]
        if kind not in ("ET_EXEC", "ET_DYN"):
            raise refused("not-linked", f"{path} is not a linked program but {kind}")
        if machine not in _MACHINES:
            raise refused("unknown-machine", f"{path} is for {machine}; known are {', '.join(_MACHINES.values())}")
        sections = list(elf.iter_sections())
        segments = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD"]
        loaded = {
            index: _section(section, segments)
            for index, section in enumerate(sections)
            if section["sh_flags"] & _ALLOC and section["sh_size"]
        }
        symbols = [symbol for table in sections if table.name == ".symtab" for symbol in _symbols_of(table)]
        imported = [symbol for table in sections if table.name == ".dynsym" for symbol in _symbols_of(table)]
        if len(symbols) < 2:
            raise refused("stripped", f"{path} has no symbols: link it without -s, and do not strip it")
        return Image(
            name=printable(path.name),
            machine=_MACHINES[machine] + _arm_cpu(sections),
            bits=elf.elfclass,
            hosted=any(section.name in _HOSTED for section in sections),
            sections=tuple(sorted(loaded.values(), key=lambda section: section.address)),
            symbols=tuple(_defined(symbols, loaded, thumb=machine == "EM_ARM")),
            undefined=tuple(sorted(_undefined(symbols + imported))),
            segment_bytes=sum(segment["p_filesz"] for segment in segments),
        )
    except EtchError:
        raise
    except Exception as error:  # the library raises many kinds where a file lies about itself
        raise refused("malformed-elf", f"{path} is damaged: its headers lead elsewhere") from error


def _section(section: Any, segments: list[Any]) -> Section:
    flags = section["sh_flags"]
    in_file = section["sh_type"] != "SHT_NOBITS"
    data = section.data() if in_file else None
    if data is not None and len(data) != section["sh_size"]:
        raise ValueError(f"section {section.name} is longer than the file")
    return Section(
        name=printable(section.name),
        address=section["sh_addr"],
        load_address=section["sh_addr"] + _moved(section, segments),
        size=section["sh_size"],
        writable=bool(flags & _WRITE),
        code=bool(flags & _CODE),
        data=data,
    )


def _moved(section: Any, segments: list[Any]) -> int:
    """From where a section is used to where it is loaded."""
    for segment in segments:
        if segment["p_vaddr"] <= section["sh_addr"] < segment["p_vaddr"] + segment["p_memsz"]:
            return segment["p_paddr"] - segment["p_vaddr"]
    return 0


def _symbols_of(table: Any) -> list[Any]:
    return list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []


def _arm_cpu(sections: list[Any]) -> str:
    """ " (CPU)" where the file names one."""
    for section in sections:
        if isinstance(section, ARMAttributesSection):
            for part in section.subsections:
                for attributes in part.subsubsections:
                    for attribute in attributes.attributes:
                        if attribute.tag == "TAG_CPU_NAME":
                            return f" ({attribute.value})"
    return ""


_KINDS: dict[str, Kind] = {"STT_FUNC": "function", "STT_OBJECT": "object", "STT_NOTYPE": "label"}


def _defined(symbols: list[Any], loaded: dict[int, Section], thumb: bool) -> Iterator[Symbol]:
    for symbol in symbols:
        section = loaded.get(symbol["st_shndx"])
        kind = _KINDS.get(symbol["st_info"]["type"])
        mapping = thumb and symbol.name.startswith("$")  # where code, data begin
        if section is None or kind is None or not symbol.name or mapping:
            continue
        address = symbol["st_value"] & ~1 if thumb and kind == "function" else symbol["st_value"]
        bind = symbol["st_info"]["bind"]
        yield Symbol(
            symbol.name, address, symbol["st_size"], kind, bind == "STB_WEAK", bind != "STB_LOCAL", section.name
        )


def _undefined(symbols: list[Any]) -> set[str]:
    return {symbol.name.split("@")[0] for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name}
