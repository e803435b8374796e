# SPDX-License-Identifier: Apache-2.0
"""The README and the pages it leads to: short, their links lead somewhere, their examples are the projects in outside/,
which other tests build, and what the README says that its commands print is what they print."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT, build_folder
from generator_program import etch
from model_build import build_model
from pages import BLOCKS, PAGES, README, TEXT

from codegen.frontends import FRONT_ENDS

OUTSIDE = ROOT / "tests/end_to_end/outside"
EXAMPLES = sorted(
    path
    for path in OUTSIDE.rglob("*")
    if path.name in {"main.c", "main.cpp", "CMakeLists.txt", "Makefile", "aarch64.cmake", "windows.cmake"}
    and path.parent.name != "package"  # which shows nobody anything: it stands in for other people's tools
)
LINKS = sorted(
    (page.relative_to(ROOT).as_posix(), link)
    for page in PAGES
    for link in set(re.findall(r"\]\(([\w.][^)#]*)\)", page.read_text(encoding="utf-8")))
)
LONGEST_LINE = 140
ALIGNMENT = 64  # bytes, of tables for host
FIGURE = re.compile(r"\d[\d,.]*")


def test_example_program(tmp_path: Path) -> None:
    build = build_folder()
    [command] = re.findall(r"^g\+\+ .*$", TEXT, re.MULTILINE)
    words = [word.replace("main.cpp", str(OUTSIDE / "main.cpp")) for word in shlex.split(command)]
    words = [word.replace("build/release", str(build)) for word in words]
    subprocess.run([*words, "-o", tmp_path / "app"], cwd=ROOT, check=True, timeout=60)
    ran = subprocess.run([tmp_path / "app"], stdout=subprocess.PIPE, check=True, timeout=10)
    assert ran.stdout.startswith(b"Business 0.9")


def test_the_examples_are_the_projects() -> None:
    shown = [block for kind, block in BLOCKS if kind in ("cpp", "cmake", "make", "c")]
    files = [path.read_text(encoding="utf-8").split("\n", 1) for path in EXAMPLES]
    assert all("SPDX-License-Identifier" in first for first, _ in files)
    assert sorted(shown) == sorted(rest for _, rest in files)
    assert len(files) == 9


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_linked_files_exist(page: str, link: str) -> None:
    assert (ROOT / page).parent.joinpath(link).is_file()


def test_it_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 160


def test_it_counts_the_model_types() -> None:
    """codegen/FAMILIES.md, to which it leads, has each."""
    told = re.search(r"`model_type` is one of \[these (\d+)\]\(codegen/FAMILIES\.md\)", README.read_text("utf-8"))
    assert told is not None
    assert int(told[1]) == len(FRONT_ENDS)


def own_pages() -> list[Path]:
    """Of the tree, without what is built or installed in it."""
    found = [ROOT / "README.md"]
    for folder in ("codegen", "firmware-demo", "generated", "runtime", "tests", "tools"):
        found += [path for path in (ROOT / folder).rglob("*.md") if not {"build", ".venv"} & {*path.parts}]
    return found


def test_lines_of_all_pages_are_as_long_as_they_may_be() -> None:
    """Tables and examples, too."""
    pages = own_pages()
    assert len(pages) > 20
    long = [
        f"{page.relative_to(ROOT)}:{number}: {len(line)}"
        for page in pages
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert not long


def test_the_sizes_that_it_shows_are_those_of_the_committed_models() -> None:
    sizes = {}
    for name in ("agnews", "agnews_small"):
        manifest = json.loads((ROOT / "generated" / name / "etch.json").read_text(encoding="utf-8"))
        tables = manifest["table_list"].values()
        lying = {table["part"]: 0 for table in tables}
        for table in tables:
            lying[table["part"]] += -(-table["bytes"] // ALIGNMENT) * ALIGNMENT
        tokenizer = lying["tokenizer"]
        sizes[name] = manifest["table_bytes"], tokenizer
    total, tokenizer = sizes["agnews"]
    shown = f"\ntables       {total:,} bytes: weights {total - tokenizer:,}, tokenizer {tokenizer:,}\n"
    assert shown in README.read_text(encoding="utf-8")
    figures = (ROOT / "tools/benchmarks/README.md").read_text(encoding="utf-8")
    for name, (total, _) in sizes.items():
        assert re.search(rf"^\| {name}, w8a8 \| [\d.]+ % \| {total / 1e6:.2f} MB \|", figures, re.MULTILINE), name


# --- what its commands print -----------------------------------------------------------------------------------------


def shown_runs() -> list[tuple[str, list[str]]]:
    """(command, the lines shown of its output) of the README's console blocks."""
    runs: list[tuple[str, list[str]]] = []
    for kind, block in BLOCKS:
        for line in block.splitlines() if kind == "console" else ():
            if line.startswith("$ "):
                runs.append((line[2:], []))
            else:
                runs[-1][1].append(line)
    return runs


def plain(line: str) -> str:
    """Without figures, which machines and versions may move."""
    return FIGURE.sub("#", line)


def check_shown(shown: list[str], printed: list[str]) -> None:
    """Each line in its order; `…` stands for any lines, or for the end of one."""
    at = 0
    for place, line in enumerate(shown):
        if line == "…":
            continue
        wanted = plain(line.removesuffix("…"))
        found = [
            i
            for i, text in enumerate(printed[at:], at)
            if (plain(text).startswith(wanted) if line.endswith("…") else plain(text) == wanted)
        ]
        assert found, f"{line!r} is not printed behind line {at} of:\n" + "\n".join(printed)
        assert found[0] == at or (place > 0 and shown[place - 1] == "…"), f"{printed[at]!r} comes before {line!r}"
        at = found[0] + 1
    assert at == len(printed) or shown[-1] == "…", f"{printed[at]!r} is not shown"


# What a slow machine prints besides (codegen/process/progress.py).
SIGN_OF_LIFE = re.compile(r".{12} (\w+ [\d,]+ of [\d,]+, )?\d+ s(, about \d+ s left)?")


def test_the_run_that_it_shows(tmp_path: Path) -> None:
    """In a folder of its own; the program is linked with the libraries of the test build, not by --build."""
    runs = shown_runs()
    assert [shlex.split(command)[0].rpartition("/")[2] for command, _ in runs] == [
        "etch",
        "classify-news",
        "etch",
    ]
    for command, shown in runs:
        name, *arguments = [word.replace("build/news", str(tmp_path / "news")) for word in shlex.split(command)]
        if name == "etch":
            done = etch(*(argument for argument in arguments if argument != "--build"))
            assert done.code == 0, done.err
            printed = [line for line in done.out.decode().splitlines() if not SIGN_OF_LIFE.fullmatch(line)]
            if "--build" in arguments:
                built = build_model(tmp_path / "news")
                assert shown.pop() == "…"
        else:
            assert built.program.path.name == Path(name).name
            printed = built.program.well(*arguments).out.decode().splitlines()
        check_shown([line.replace("build/news", str(tmp_path / "news")) for line in shown], printed)


@pytest.mark.parametrize(
    ("shown", "printed", "well"),
    [
        (["a 1", "b"], ["a 22,5", "b"], True),
        (["a 1", "…", "c"], ["a 2", "b", "c"], True),
        (["a 1…"], ["a 2 and more"], True),
        (["a 1", "c"], ["a 2", "b", "c"], False),
        (["a 1"], ["a 1", "b"], False),
        (["b", "…", "a"], ["a", "b"], False),
    ],
)
def test_the_comparison_can_fail(shown: list[str], printed: list[str], well: bool) -> None:
    if well:
        check_shown(shown, printed)
    else:
        with pytest.raises(AssertionError):
            check_shown(shown, printed)
