# SPDX-License-Identifier: Apache-2.0
"""A model whose buffers and tables lie in several memories of a board: where the linker put them, what the report says
of them, and the bits of the arithmetic."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_build import ROOT, build
from boards import Firmware, memory_of, parse_answer
from classify_program import tool

from codegen import pipeline
from codegen.emulate import emulate
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.memory.regions import Room
from codegen.memory.table_places import parse_place

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("regions on boards")]

CHECKPOINT = ROOT / "tools" / "train" / "agnews_small" / "checkpoint"
EVERY = 40  # of the 200 golden texts
ROOMS = (Room("fast", 24 << 10), Room("slow", 64 << 10))
# What of the tables is copied to FAST and read beside the code; the rest lies in TABLES.
PLACES = {
    "netduinoplus2": ("fast=32K,copied", "flash=1M"),
    "mps3-an547": ("fast=128K,copied", "code=300K", "qspi=8M"),
}
# Where the memories of the chip begin, and what the emulator, which has the first one elsewhere, is linked with.
BOARDS = {
    "netduinoplus2": ({"FAST": 0x1000_0000, "RAM": 0x2000_0000}, "--defsym=ccm_begin=0x20020000"),
    "mps3-an547": ({"RAM": 0x2000_0000, "SLOW": 0x1100_0000}, ""),
}


def lies_in(firmware: Firmware, section: str, memory: str) -> None:
    begin, length = firmware.regions[memory]
    placed = firmware.section(section)
    assert not placed.in_file
    assert begin <= placed.address < placed.address + placed.size <= begin + length, section


def check_tables(firmware: Firmware, places: dict[str, Any]) -> None:
    """Each table is where its place says, with the bytes of a copied one in the last place."""
    copied = set(places["fast"]["tables"])
    symbols = {symbol.name: symbol for symbol in firmware.symbols}
    sections = {"fast": ".fast", "code": ".code_tables"}
    for place, facts in places.items():
        section = firmware.section(sections.get(place, ".tables"))
        for table in facts["tables"]:
            symbol = symbols[f"etch_model_{table}"]
            assert section.holds(symbol.address), (table, place)
            assert (f"etch_model_{table}_source" in symbols) == (table in copied)
    assert all(firmware.section(".tables").holds(symbols[f"etch_model_{table}_source"].address) for table in copied)
    lies_in(firmware, ".fast", "FAST" if "FAST" in firmware.regions else "RAM")


def check_report(firmware: Firmware, model: Path) -> None:
    command = [ROOT / "tools" / "report", firmware.elf, "--model", model, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert [arena["region"] for arena in told["arenas"]] == ["fast", "slow"]
    assert all(len(arena["limits"]) == 2 for arena in told["arenas"])
    tables = json.loads((model / "etch.json").read_text())["table_list"]
    places = json.loads((model / "etch.json").read_text())["table_places"]
    assert told["ram"]["kinds"]["copied tables"] == sum(tables[name]["bytes"] for name in places["fast"]["tables"])


@pytest.mark.parametrize("board", BOARDS)
def test_buffers_and_tables_lie_in_several_memories(board: str, tmp_path: Path) -> None:
    for name in ("qemu-system-arm", "arm-none-eabi-g++", "arm-none-eabi-readelf", "cmake"):
        tool(name)
    begins, moved = BOARDS[board]
    loaded = pipeline.load(CHECKPOINT)
    out, folder = tmp_path / "model", tmp_path / "build"
    places = tuple(map(parse_place, PLACES[board]))
    request = pipeline.Request(CHECKPOINT, out, target="m-profile", rooms=ROOMS, table_places=places)
    pipeline.generate(request, lambda _: None)
    manifest = json.loads((out / "etch.json").read_text())
    program = pipeline.lower(loaded, "w8a8", None)
    for flags in dict.fromkeys(("", moved)):
        options = (f"-DETCH_FIRMWARE_MODEL={out}", f"-DCMAKE_EXE_LINKER_FLAGS={flags and '-Wl,' + flags}")
        firmware = Firmware(board, build(board, f"firmware-{board}", folder=folder, options=options))
        if not flags:
            assert {name: firmware.regions[name][0] for name in begins} == begins
        lies_in(firmware, ".fast", "FAST" if "FAST" in begins else "RAM")
        lies_in(firmware, ".slow", "SLOW" if "SLOW" in begins else "RAM")
        fast = ROOMS[0].bytes + places[0].room.bytes
        assert places[0].room.bytes // 2 < firmware.section(".fast").size <= fast
        check_tables(firmware, manifest["table_places"])
        assert 0 < firmware.section(".slow").size <= ROOMS[1].bytes + 512
    check_report(firmware, out)
    tokenizer = text_tokenizer(loaded.tokenizer, program.max_tokens)
    texts = (ROOT / "tests" / "golden" / "texts.txt").read_bytes().split(b"\n")[:-1][::EVERY]
    with firmware.start() as emulator:
        sizes = {name: firmware.section(name).size for name in (".data", ".bss", ".fast", ".slow")}
        assert memory_of(emulator)["static"] == sum(sizes.values())
        assert emulator.ask(b"!self") == "self test passed"
        assert emulator.ask(b"!logits on") == "logits on"
        for text in texts:
            encoding = tokenizer.encode(text.decode("utf-8", "replace"))
            wanted = emulate(program, encoding.ids, encoding.type_ids)
            answer = parse_answer(emulator.ask(text))
            assert np.array(answer.logits, np.uint32).tobytes() == wanted.astype(np.float32).tobytes(), text
        assert emulator.exit() == 0
