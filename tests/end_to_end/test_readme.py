# SPDX-License-Identifier: Apache-2.0
"""The README's examples are the projects in outside/, which other tests build; its command line compiles the first."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
OUTSIDE = ROOT / "tests/end_to_end/outside"
EXAMPLES = sorted(
    path
    for path in OUTSIDE.rglob("*")
    if path.name in {"main.c", "main.cpp", "CMakeLists.txt", "Makefile", "aarch64.cmake"}
)


def test_example_program(tmp_path: Path) -> None:
    build = os.environ.get("ETCH_BUILD")
    if not build:
        pytest.skip("ETCH_BUILD is not set: no build to link against")
    [command] = re.findall(r"^g\+\+ .*$", README, re.MULTILINE)
    words = [word.replace("main.cpp", str(OUTSIDE / "main.cpp")) for word in shlex.split(command)]
    words = [word.replace("build/release", str(Path(build).absolute())) for word in words]
    subprocess.run([*words, "-o", tmp_path / "app"], cwd=ROOT, check=True, timeout=60)
    ran = subprocess.run([tmp_path / "app"], stdout=subprocess.PIPE, check=True, timeout=10)
    assert ran.stdout.startswith(b"Business 0.9")


def test_the_examples_are_the_projects() -> None:
    shown = re.findall(r"```(?:cpp|cmake|make|c)\n(.*?)```", README, re.DOTALL)
    files = [path.read_text(encoding="utf-8").split("\n", 1) for path in EXAMPLES]
    assert all("SPDX-License-Identifier" in first for first, _ in files)
    assert sorted(shown) == sorted(rest for _, rest in files)
    assert len(files) == 8


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((\w[^)]*)\)", README))))
def test_linked_files_exist(link: str) -> None:
    assert (ROOT / link).is_file()
