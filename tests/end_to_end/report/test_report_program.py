# SPDX-License-Identifier: Apache-2.0
"""tools/report on the program of the default model: the figures of binutils, of etch.json and of the stack check."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from classify_program import ROOT, built_file
from report_program import Outcome, loaded, report, sizes, symbol_sizes

from codegen.budget.limits import ALLOWANCES

MODEL = ROOT / "generated" / "agnews"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def program() -> Path:
    return built_file("classify")


@pytest.fixture(scope="module")
def facts(program: Path) -> Outcome:
    outcome = report(program, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome


def test_sums_are_those_of_binutils(program: Path, facts: Outcome) -> None:
    flash, ram = loaded("", program)
    content = facts.json
    assert content["flash"]["bytes"] == flash == sum(entry["bytes"] for entry in content["flash"]["symbols"])
    assert content["ram"]["bytes"] == ram == sum(use["bytes"] for use in content["ram"]["symbols"])
    for part in ("flash", "ram"):
        kinds = content[part].get("kinds") or {
            name: category["bytes"] for name, category in content[part]["categories"].items()
        }
        assert sum(kinds.values()) == content[part]["bytes"]
    for category in content["flash"]["categories"].values():
        assert sum(category["groups"].values()) == category["bytes"]
    told = sizes("", program)
    assert all(told[section["name"]] == section["bytes"] for section in content["sections"])


def test_a_budget_counts_with_what_is_linked(facts: Outcome) -> None:
    """Not more than it allows for, and little less: the search would leave room unused."""
    manifest = json.loads((MODEL / "etch.json").read_text())
    code = facts.json["flash"]["bytes"] - manifest["table_bytes"]
    static = facts.json["ram"]["bytes"] - manifest["arena_bytes"]
    allowed = ALLOWANCES["host"]
    assert 0.85 * allowed.code <= code <= allowed.code
    assert static <= allowed.static


def test_symbols_are_those_of_binutils(program: Path, facts: Outcome) -> None:
    told = symbol_sizes("", program)
    tables = {name.removeprefix("etch_agnews_"): size for name, size in told.items() if name.startswith("etch_agnews_")}
    found: dict[str, int] = {}
    for entry in facts.json["flash"]["symbols"]:
        name = re.sub(r"\[\d+\]$", "", entry["name"])
        if entry["category"] == "tables" and entry["group"] != "Unicode":
            found[name] = found.get(name, 0) + entry["bytes"]
    manifest = json.loads((MODEL / "etch.json").read_text())["table_list"]
    assert found == {name: entry["bytes"] for name, entry in manifest.items()}
    assert all(tables[name] == size for name, size in found.items())


def test_tables_by_part_of_the_model(facts: Outcome) -> None:
    groups = facts.json["flash"]["categories"]["tables"]["groups"]
    manifest = json.loads((MODEL / "etch.json").read_text())["table_list"]
    layered = sum(entry["bytes"] for entry in manifest.values() if entry["layers"])
    assert [groups[f"layer {layer}"] for layer in range(3)] == [layered // 3] * 3
    assert groups["word embeddings"] == sum(e["bytes"] for e in manifest.values() if e["part"] == "word_embeddings")
    assert groups["tokenizer"] == sum(e["bytes"] for e in manifest.values() if e["part"] == "tokenizer")
    assert groups["Unicode"] > 10_000


def test_code_by_area(facts: Outcome) -> None:
    groups = facts.json["flash"]["categories"]["code"]["groups"]
    assert groups.keys() >= {"tokenizer", "ops", "model", "runtime", "kernels: scalar", "program"}
    assert "not attributed" not in groups
    by_group = {entry["name"]: entry["group"] for entry in facts.json["flash"]["symbols"]}
    assert by_group["agnews::classify"] == "model"
    assert by_group["Attention::run"] == "ops"
    assert by_group["main"].startswith("program")


def test_without_a_map_names_say_the_area(program: Path, facts: Outcome, tmp_path: Path) -> None:
    alone = Path(shutil.copy(program, tmp_path / "classify"))
    outcome = report(alone, "--json", "--model", MODEL)
    assert outcome.code == 0
    with_map, without = (one.json["flash"]["categories"] for one in (facts, outcome))
    assert without["tables"] == with_map["tables"]
    assert without["code"]["groups"]["kernels: scalar"] == with_map["code"]["groups"]["kernels: scalar"]
    assert "no linker map beside it" in report(alone, "--model", MODEL).out


def test_ram_has_the_arena(facts: Outcome) -> None:
    manifest = json.loads((MODEL / "etch.json").read_text())
    assert facts.json["ram"]["kinds"]["arena"] == manifest["arena_bytes"]


def test_the_arena_over_the_ops(facts: Outcome) -> None:
    manifest = json.loads((MODEL / "etch.json").read_text())
    arena = facts.json["arenas"][0]
    assert (arena["model"], arena["bytes"]) == ("agnews", manifest["arena_bytes"])
    assert arena["lower_bound"] == manifest["arena_lower_bound"] == max(op["alive"] for op in arena["ops"])
    assert arena["gap"] <= 0.05
    assert arena["ops"][0]["name"] == "tokenize"
    assert {"hidden", "keys", "values", "scratch"} <= {buffer["name"] for buffer in arena["buffers"]}


def test_the_stack_that_the_build_computed(program: Path, facts: Outcome) -> None:
    computed = program.parents[1] / "models" / "agnews" / "agnews.stack.txt"
    if not computed.is_file():
        pytest.skip("the build did not check the stack: not GCC, or not a plain build")
    lines = computed.read_text().splitlines()
    stack = facts.json["stacks"][0]
    assert lines[0] == f"stack of agnews, budget {stack['budget']} bytes"
    assert stack["functions"][0]["bytes"] == max(int(line.split()[0]) for line in lines[1:])
    deepest = stack["functions"][0]["bytes"]
    assert report(program, "--painted", str(deepest)).code == 0
    assert report(program, "--painted", str(deepest + 1)).code == 1


def test_a_hosted_program_may_use_the_heap(facts: Outcome) -> None:
    assert facts.json["file"]["hosted"] is True
    heap = facts.check("no heap")
    assert heap["passed"] is None
    assert "_Znwm" in heap["found"]
    assert facts.check("no table in RAM")["passed"] is True
    assert facts.check("no weak function in a kernel set")["passed"] is True
    assert facts.check("flash adds up")["passed"] is True


def test_text_names_the_same_sums(program: Path, facts: Outcome) -> None:
    outcome = report(program, "--symbols", "3")
    assert outcome.code == 0
    content = facts.json
    lines = outcome.out.splitlines()
    assert lines[0] == f"classify: {content['file']['machine']}, 64 bits, hosted"
    file = next(line for line in lines if line.startswith("program (bytes of the file"))
    assert file.endswith(f" {content['flash']['bytes']:,}")
    begin = lines.index(next(line for line in lines if line.startswith("largest symbols")))
    assert lines[begin + 1].split()[0] == "word_embeddings_table"
    assert lines[begin + 4] == ""


def test_the_same_file_gives_the_same_bytes(program: Path, tmp_path: Path) -> None:
    pictures = [tmp_path / name for name in ("a.svg", "b.svg")]
    texts = [report(program, "--svg", picture).out for picture in pictures]
    assert texts[0] == texts[1]
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_the_picture(program: Path, facts: Outcome, tmp_path: Path) -> None:
    picture = tmp_path / "flash.svg"
    assert report(program, "--svg", picture).code == 0
    root = ET.parse(picture).getroot()
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    background, *rectangles = root.iter(f"{SVG}rect")
    assert background.attrib["width"] == root.attrib["width"]
    for rectangle in rectangles:
        x, y, box_width, box_height = (float(rectangle.attrib[key]) for key in ("x", "y", "width", "height"))
        assert x >= 0 <= y
        assert x + box_width <= width + 0.05
        assert y + box_height <= height + 0.05
    titles = " ".join(title.text or "" for title in root.iter(f"{SVG}title"))
    shown = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert any(words.startswith("Loaded from its file: ") for words in shown)  # a program of a computer has no flash
    for name in [use["name"] for use in facts.json["ram"]["symbols"]]:
        assert any(name in words for words in shown) or name in ("arena", "stack")
    for group in facts.json["flash"]["categories"]["tables"]["groups"]:
        assert f"tables, {group}: " in titles
    texts = [text.text for text in root.iter(f"{SVG}text")]
    for op, following in pairwise(facts.json["arenas"][0]["ops"]):
        assert op["name"] in texts
        assert f"{following['name']}: {following['alive']:,} bytes alive" in titles
