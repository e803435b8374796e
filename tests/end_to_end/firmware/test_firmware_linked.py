# SPDX-License-Identifier: Apache-2.0
"""What the linked file says: sizes against the chip's, nothing before main, no heap, no table in RAM."""

from __future__ import annotations

import re

import pytest
from board_build import ROOT
from boards import README_BOARD, Firmware

from codegen.budget.limits import ALLOWANCES

pytestmark = pytest.mark.sweep

FLASH = 1 << 20  # of an STM32F405, and what the small model was made for
RAM = 96 << 10  # arena, stack and all variables
HEAP = re.compile(r"malloc|calloc|realloc|\bfree\b|sbrk|operator new|operator delete|__cxa_(throw|allocate)")


def test_everything_lies_in_the_board_s_memory(firmware: Firmware) -> None:
    assert firmware.regions.keys() >= {"CODE", "RAM"}
    for section in firmware.sections:
        end = section.address + section.size
        within = [begin <= section.address and end <= begin + length for begin, length in firmware.regions.values()]
        assert any(within) or not section.loaded or section.size == 0, section


def test_nothing_runs_before_main(firmware: Firmware) -> None:
    before = [one for one in firmware.sections if re.match(r"\.(pre)?init|\.fini|\.ctors|\.dtors", one.name)]
    assert sum(section.size for section in before) == 0, before


def test_there_is_no_heap_and_no_c_library(firmware: Firmware) -> None:
    assert not [symbol for symbol in firmware.symbols if HEAP.search(symbol.name)]
    assert not [symbol for symbol in firmware.symbols if symbol.kind in "Uu"]
    archives = set(re.findall(r"[^/\s(]+\.a(?=\()", firmware.linker_map))
    assert archives <= {"libetch.a", "libfirmware_model.a", "libgcc.a"}, archives


def test_tables_are_read_where_they_lie(firmware: Firmware) -> None:
    tables = firmware.section(".tables")
    assert sum(table.size for table in firmware.tables) > 500_000
    for table in firmware.tables:
        assert tables.holds(table.address), table
    assert firmware.section(".data").size <= 64
    ram, length = firmware.regions["RAM"]
    assert not ram <= tables.address < ram + length


def test_the_stack_lies_at_the_bottom_of_ram(firmware: Firmware) -> None:
    stack = firmware.section(".stack")
    assert stack.address == firmware.regions["RAM"][0]
    assert not stack.in_file


def test_it_fits_a_real_chip(firmware: Firmware) -> None:
    ram_begin, ram_length = firmware.regions["RAM"]
    used = [section for section in firmware.sections if section.loaded]
    flash = sum(one.size for one in used if one.in_file)
    ram = sum(one.size for one in used if ram_begin <= one.address < ram_begin + ram_length)
    print(f"{firmware.board}: {flash} bytes of flash, {ram} of RAM")
    if firmware.board == README_BOARD:
        assert firmware.regions["CODE"] == (0x0800_0000, FLASH)
        assert (ram_begin, ram_length) == (0x2000_0000, 128 << 10)
        said = f"takes {flash / 1000:.0f} KB of flash and {ram / 1000:.0f} KB of RAM on\n`{README_BOARD}`"
        assert said in (ROOT / "firmware-demo/README.md").read_text(encoding="utf-8")
        assert flash - firmware.section(".tables").size <= ALLOWANCES["m-profile"].code  # what a budget plans with
    assert flash <= FLASH
    assert ram <= RAM
