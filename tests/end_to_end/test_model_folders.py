# SPDX-License-Identifier: Apache-2.0
"""ETCH_MODEL_DIRS: what CMake says to folders that cannot be built together."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_two_folders_of_one_name(tmp_path: Path) -> None:
    for parent in ("one", "other"):
        (tmp_path / parent / "news").mkdir(parents=True)
        (tmp_path / parent / "news" / "CMakeLists.txt").touch()
    command = ["cmake", "-S", ROOT, "-B", tmp_path / "build", f"-DETCH_MODEL_DIRS={tmp_path}/one/news;"]
    same = subprocess.run(
        [*command[:-1], f"{command[-1]}{tmp_path}/other/news/"], capture_output=True, text=True, check=False
    )
    assert same.returncode != 0
    assert "error[model-folder-twice]" in same.stderr
    assert f"{tmp_path}/other/news" in same.stderr
    assert "'news'" in same.stderr
    assert same.stderr.count("CMake Error") == 1
    (tmp_path / "other" / "news").rename(tmp_path / "other" / "sports")
    fine = subprocess.run(
        [*command[:-1], f"{command[-1]}{tmp_path}/other/sports"], capture_output=True, text=True, check=False
    )
    assert fine.returncode == 0, fine.stderr
