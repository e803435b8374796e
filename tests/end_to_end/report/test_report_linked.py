# SPDX-License-Identifier: Apache-2.0
"""tools/report on small programs without an operating system: what it finds in them, and that each check can fail."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from classify_program import tool
from linked import C_FORM, PARTS, REGIONS, SOURCE, WITH_REGIONS, Linker, manifest, write_model
from report_program import facts, loaded, refused, report


def test_a_sound_program(link: Linker, tmp_path: Path) -> None:
    outcome = facts(link(), "--model", write_model(tmp_path / "tiny"))
    assert outcome.code == 0, outcome.out + outcome.err
    content = outcome.json
    assert content["file"]["hosted"] is False
    assert all(check["passed"] for check in content["checks"])
    flash, ram = loaded(link.prefix, tmp_path / "program.elf")
    assert (content["flash"]["bytes"], content["ram"]["bytes"]) == (flash, ram)
    tables = content["flash"]["categories"]["tables"]["groups"]
    assert tables == {"word embeddings": 256, "Unicode": 100, "layer 0": 80, "layer 1": 80, "tokenizer": 33}
    code = content["flash"]["categories"]["code"]["groups"]
    assert code.keys() >= {"kernels: scalar", "tokenizer", "model"}
    assert content["ram"]["kinds"]["arena"] == manifest()["arena_bytes"]
    beside = [use for use in content["ram"]["symbols"] if use["name"] == "session, beside the arena"]
    assert [use["bytes"] for use in beside] == [12]


def test_tables_as_arrays(link: Linker, tmp_path: Path) -> None:
    elf = link(C_FORM)
    outcome = facts(elf, "--model", write_model(tmp_path / "tiny", files={}))
    assert outcome.code == 0, outcome.out + outcome.err
    tables = {"word embeddings": 256, "Unicode": 100, "tokenizer": 33}
    groups = outcome.json["flash"]["categories"]["tables"]["groups"]
    assert groups == tables | {"layer 0": 80, "layer 1": 80}
    without = facts(elf)
    assert without.code == 0
    assert without.json["flash"]["categories"]["tables"]["groups"] == tables | {"key": 160}


def test_two_models(link_host: Linker, tmp_path: Path) -> None:
    """One's name is the begin of the other's."""
    begin, end = SOURCE.index('extern "C" {'), SOURCE.index("namespace etch")
    second = SOURCE[begin:end].replace("etch_tiny_", "etch_tiny_small_")
    used = ", ".join(f"etch_tiny_small_{name}" for name in PARTS)
    folders = [write_model(tmp_path / "tiny"), write_model(tmp_path / "small", name="tiny_small")]
    elf = link_host(f"{SOURCE}{second}const void* volatile used[4] = {{{used}}};")
    outcome = facts(elf, "--model", folders[0], "--model", folders[1])
    assert outcome.code == 0, outcome.out + outcome.err
    assert [model["name"] for model in outcome.json["models"]] == ["tiny", "tiny_small"]
    groups = outcome.json["flash"]["categories"]["tables"]["groups"]
    assert groups["tiny: layer 1"] == groups["tiny_small: layer 1"] == 80
    assert sum(groups.values()) == 2 * manifest()["table_bytes"] + 100
    assert facts(elf).json["flash"]["categories"]["tables"]["bytes"] == sum(groups.values())
    assert [arena["model"] for arena in outcome.json["arenas"]] == ["tiny", "tiny_small"]


def test_the_model_s_folder_is_found_in_the_build(link_host: Linker, tmp_path: Path) -> None:
    write_model(tmp_path / "models" / "tiny")
    elf = link_host()
    assert facts(elf).json["arenas"] == []
    assert "arena: not known without the generated folder" in report(elf).out
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/nonexistent\n")
    assert [arena["model"] for arena in facts(elf).json["arenas"]] == ["tiny"]
    write_model(tmp_path / "models" / "tiny", files={"tiny.tables": "0" * 64})  # of another generation
    assert facts(elf).json["arenas"] == []


def test_a_linker_map_names_objects(link: Linker, tmp_path: Path) -> None:
    elf = link(SOURCE, f"-Wl,-Map={tmp_path / 'program.elf.map'}")
    groups = facts(elf).json["flash"]["categories"]["code"]["groups"]
    assert groups.keys() >= {"kernels: scalar", "tokenizer", "model", "program"}
    other = tmp_path / "other.map"
    text = (tmp_path / "program.elf.map").read_text()
    other.write_text(text.replace(" .text.start", " .text.start   0x1 0x7fff0000 x.o\n .text.start"))
    assert "is not in .text of program.elf" in refused("map-of-another-file", elf, "--map", other)
    other.write_text("nothing")
    refused("not-a-map", elf, "--map", other)
    refused("cannot-read", elf, "--map", tmp_path / "nowhere")


SCRIPT = """
MEMORY
{
    FLASH (rx) : ORIGIN = 0x400000, LENGTH = 64K
    RAM (rw) : ORIGIN = 0x20000000, LENGTH = 8K
}
SECTIONS
{
    .text : { *(.text .text.*) } > FLASH
    .rodata : { *(.rodata .rodata.*) } > FLASH
    .data : { *(.data .data.*) } > RAM AT > FLASH
    .bss : { *(.bss .bss.*) } > RAM
    /DISCARD/ : { *(.note*) *(.eh_frame*) *(.ARM*) *(.comment) }
}
"""


def test_memory_of_the_board(link: Linker, tmp_path: Path) -> None:
    script = tmp_path / "memory.ld"
    script.write_text(SCRIPT)
    elf = link(SOURCE + "int volatile started[5] = {1};", f"-T{script}", f"-Wl,-Map={tmp_path / 'program.elf.map'}")
    outcome = facts(elf)
    assert outcome.code == 0, outcome.out + outcome.err
    content = outcome.json
    assert content["ram"]["kinds"]["initialized (.data)"] == 20
    assert content["flash"]["categories"]["initial values"]["bytes"] == 20
    assert content["regions"] == [
        {"name": "FLASH", "bytes": content["flash"]["bytes"], "of": 65536},
        {"name": "RAM", "bytes": content["ram"]["bytes"], "of": 8192},
    ]
    picture = tmp_path / "board.svg"
    assert f" {content['ram']['bytes']:,}  of 8,192, " in report(elf, "--svg", picture).out
    drawn = picture.read_text(encoding="utf-8")
    assert f">RAM: {content['ram']['bytes']:,} of 8,192 bytes, " in drawn
    assert ">Flash: " in drawn or ">Loaded from its file: " in drawn


def test_regions_of_a_model(link: Linker, tmp_path: Path) -> None:
    """Each with its own plan, beside the room that it was given and the memory that the linker has put it in."""
    script = tmp_path / "memory.ld"
    script.write_text(SCRIPT)
    elf = link(WITH_REGIONS, f"-T{script}", f"-Wl,-Map={tmp_path / 'program.elf.map'}")
    picture = tmp_path / "regions.svg"
    folder = write_model(tmp_path / "tiny", **REGIONS)
    outcome = facts(elf, "--model", folder, "--svg", picture)
    assert outcome.code == 0, outcome.out + outcome.err
    fast, slow = outcome.json["arenas"]
    assert [(one["region"], one["bytes"], one["gap"]) for one in (fast, slow)] == [("fast", 640, 0), ("slow", 1000, 0)]
    memory = {"name": "memory RAM", "bytes": 8192}
    assert fast["limits"] == [{"name": "room", "bytes": 700}, memory]
    assert slow["limits"] == [{"name": "room", "bytes": 4096}, memory]
    assert [buffer["name"] for buffer in fast["buffers"]] == ["d", "e"]
    assert [buffer["name"] for buffer in slow["buffers"]] == ["a", "c", "b"]
    assert outcome.json["ram"]["kinds"]["arena"] == 1640
    drawn = picture.read_text(encoding="utf-8")
    words = "region fast of tiny: 640 bytes, lower bound 640, gap 0.00%; room 700; memory RAM 8,192"
    assert f">R{words[1:]}<" in drawn
    assert words in report(elf, "--model", folder).out
    for line in (
        "room: 700 bytes",
        "memory RAM: 8,192 bytes, above this picture",
        "room: 4,096 bytes, above this picture",
    ):
        assert f">{line}</text>" in drawn
    for name in ("a", "b", "c", "d"):
        assert f">{name}</text>" in drawn
    assert ">600</text>" in drawn


def test_tables_that_are_copied(link: Linker, tmp_path: Path) -> None:
    """Their bytes are those of what they are copied from; others may not lie in RAM."""
    weights = "const signed char etch_tiny_key_weights[2][64] = {{4}, {5}};"
    declared = "extern const signed char etch_tiny_key_weights[2][64] __attribute__((aligned(64)));"
    source = SOURCE.replace(declared, "extern signed char etch_tiny_key_weights[2][64] __attribute__((aligned(64)));")
    copied = source.replace(weights, weights.replace("weights", "weights_source").replace("const", "extern const"))
    copied = copied.replace("namespace etch {", "signed char etch_tiny_key_weights[2][64];\nnamespace etch {", 1)
    copied = copied.replace("session.arena[5] = 2;", "session.arena[5] = etch_tiny_key_weights_source[0][answer];")
    places = {
        "fast": {"bytes": 128, "room": 128, "cost": 1, "copied": True, "tables": ["key_weights"]},
        "flash": {"bytes": 500, "room": 500, "cost": 2, "copied": False, "tables": sorted({*PARTS} - {"key_weights"})},
    }
    folder = write_model(tmp_path / "tiny", table_places=places)
    elf = link(copied)
    outcome = facts(elf, "--model", folder)
    assert outcome.code == 0, outcome.out + outcome.err
    assert outcome.json["ram"]["kinds"]["copied tables"] == 128
    assert outcome.json["flash"]["categories"]["tables"]["groups"]["layer 1"] == 80
    assert outcome.check("no table in RAM")["passed"] is True
    for place in places.values():
        place["copied"] = False
    without = facts(elf, "--model", write_model(tmp_path / "tiny", table_places=places))
    assert without.check("no table in RAM")["found"] == "etch_tiny_key_weights"
    refused("another-model", link(copied.replace("{4}, {5}", "{4}, {6}")), "--model", folder)


BREAKS = {
    "no heap": 'extern "C" void* malloc(unsigned n) { return n != 0 ? &session : nullptr; }\n'
    "void* volatile kept = malloc(3);",
    "nothing runs before main": "int made() { return answer; }\nint volatile kept = made();",
    "no weak function by default": 'extern "C" __attribute__((weak)) void on_tick() { answer = 1; }\n'
    "void (*volatile kept)() = on_tick;",
    "no weak function in a kernel set": "namespace etch { inline namespace abi9 { namespace scalar {\n"
    "__attribute__((weak)) int twice(int i) { return 2 * i; } } } }\n"
    "int (*volatile kept)(int) = etch::scalar::twice;",
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_check_that_fails(name: str, link: Linker) -> None:
    outcome = facts(link(SOURCE + BREAKS[name]))
    assert outcome.code == 1, outcome.err
    assert outcome.check(name)["passed"] is False
    failed = [check["name"] for check in outcome.json["checks"] if check["passed"] is False]
    assert set(failed) <= {name, "nothing runs before main"}  # some of them start variables, too


def test_a_table_in_ram(link: Linker) -> None:
    source = SOURCE.replace("const signed char etch_tiny_key_weights", "signed char etch_tiny_key_weights")
    outcome = facts(link(source))
    assert outcome.code == 1
    assert outcome.check("no table in RAM") == {
        "name": "no table in RAM",
        "passed": False,
        "found": "etch_tiny_key_weights",
    }


def test_an_arena_far_above_its_bound(link_host: Linker, tmp_path: Path) -> None:
    elf = link_host()
    for size, code in ((1050, 0), (1051, 1)):
        outcome = facts(elf, "--model", write_model(tmp_path / "tiny", arena_bytes=size))
        assert outcome.code == code
        assert outcome.check("arena of tiny")["passed"] is (code == 0)
        assert outcome.json["arenas"][0]["gap"] == pytest.approx(size / 1000 - 1)


def test_stack_beside_the_file(link_host: Linker, tmp_path: Path) -> None:
    elf = link_host()
    lines = "stack of program, budget 300 bytes\n    250  whole program: start 200 > f 50\n    200  start 200\n"
    (tmp_path / "program.stack.txt").write_text(lines)
    outcome = facts(elf)
    assert outcome.code == 0
    assert outcome.json["stacks"][0]["whole_program"] is True
    assert "at most 250 bytes of 300 (the whole program, interrupts included)" in report(elf).out
    assert report(elf, "--painted", "250").code == 0
    assert report(elf, "--painted", "251").code == 1
    (tmp_path / "program.stack.txt").write_text(lines.replace("300", "249"))
    assert facts(elf).check("stack of program")["passed"] is False
    (tmp_path / "program.stack.txt").write_text("something else\n")
    refused("not-a-stack-report", elf)


def test_files_that_are_no_such_program(link_host: Linker, tmp_path: Path) -> None:
    elf = link_host()
    for path in (tmp_path / "nowhere", tmp_path):  # before anything is installed
        outcome = report(path)
        assert (outcome.code, outcome.out) == (2, "")
        assert f"'{path}' is no file: a linked program is needed" in outcome.err
    text = tmp_path / "text"
    text.write_text("not an ELF")
    refused("not-elf", text)
    text.write_bytes(b"")
    refused("not-elf", text)
    stripped = tmp_path / "stripped"
    subprocess.run([tool("strip"), elf, "-o", stripped], check=True, timeout=60)
    refused("stripped", stripped)
    subprocess.run([tool("g++"), "-c", tmp_path / "program.cpp", "-o", tmp_path / "program.o"], check=True, timeout=60)
    refused("not-linked", tmp_path / "program.o")
    refused("no-model", link_host(SOURCE.replace("etch_tiny_", "etsch_tiny_")))


@pytest.mark.parametrize("kept", [4, 16, 40, 63, 64, 500, 0.5, 0.9, 0.99])
def test_truncated_files(kept: float, link_host: Linker, tmp_path: Path) -> None:
    data = link_host().read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(data[: int(kept * len(data)) if kept < 1 else int(kept)])
    outcome = report(cut)
    assert outcome.code == 2
    assert outcome.err.startswith("report: error[")
    assert len(outcome.err.splitlines()) == 1


def test_a_symbol_with_a_line_feed_in_its_name(link_host: Linker) -> None:
    elf = link_host()
    data = elf.read_bytes()
    assert data.count(b"\0answer\0") == 1
    elf.write_bytes(data.replace(b"\0answer\0", b"\0ans\ner\0"))
    assert "ans\\ner" in [use["name"] for use in facts(elf).json["ram"]["symbols"]]


def test_wrong_use() -> None:
    for arguments in ([], ["a", "--board", "b"], ["a", "--symbols", "-1"], ["a", "--painted", "many"], ["a", "b"]):
        outcome = report(*arguments)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("report: ")
        assert outcome.err.endswith(" (see tools/report --help)\n")
        assert outcome.err.count("\n") == 1
        assert "_count" not in outcome.err  # the name of a function of ours


def test_every_table_has_a_part() -> None:
    assert sum(len(data) for _, _, data in PARTS.values()) == manifest()["table_bytes"]
