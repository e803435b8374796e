# SPDX-License-Identifier: Apache-2.0
"""The README's example program compiles with the README's command line and runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BUSINESS = 2


def test_example_program(tmp_path: Path) -> None:
    build = os.environ.get("ETCH_BUILD")
    if not build:
        pytest.skip("ETCH_BUILD is not set: no build to link against")
    [source] = re.findall(r"```cpp\n(.*?)```", README, re.DOTALL)
    [command] = re.findall(r"^g\+\+ .*$", README, re.MULTILINE)
    (tmp_path / "app.cpp").write_text(source, encoding="utf-8")
    words = [word.replace("app.cpp", str(tmp_path / "app.cpp")) for word in shlex.split(command)]
    words = [word.replace("build/release", str(Path(build).absolute())) for word in words]
    subprocess.run([*words, "-o", tmp_path / "app"], cwd=ROOT, check=True, timeout=60)
    assert subprocess.run([tmp_path / "app"], check=False, timeout=10).returncode == BUSINESS


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((\w[^)]*)\)", README))))
def test_linked_files_exist(link: str) -> None:
    assert (ROOT / link).is_file()
