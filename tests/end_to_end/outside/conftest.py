# SPDX-License-Identifier: Apache-2.0
"""The installed prefix and the answer that the outside projects are compared with."""

from __future__ import annotations

from pathlib import Path

import classify_program
import projects
import pytest


@pytest.fixture(scope="session")
def build() -> Path:
    """The build that ETCH_BUILD names."""
    return classify_program.built_file("classify").parent.parent


@pytest.fixture(scope="session")
def prefix(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation, moved after it was made."""
    folder = tmp_path_factory.mktemp("installed")
    projects.done(classify_program.tool("cmake"), "--install", build, "--prefix", folder / "first", cwd=folder)
    (folder / "first").rename(folder / "moved there")
    return folder / "moved there"


@pytest.fixture(scope="session")
def answer() -> str:
    """What the projects' programs print."""
    return projects.expected(classify_program.built("classify"))
