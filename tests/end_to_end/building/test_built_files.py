# SPDX-License-Identifier: Apache-2.0
"""What tests ask of the build that ETCH_BUILD names: a file that it lost is a failure, not a skip."""

from __future__ import annotations

from pathlib import Path

import pytest
from classify_program import built, built_file


def test_a_file_of_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCH_BUILD", str(tmp_path))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "classify").touch()
    assert built("classify").path == built_file("classify") == tmp_path / "bin" / "classify"


@pytest.mark.parametrize("name", ["classify", "promise-arena", "libetch_agnews.a", "fuzz-json"])
def test_what_the_build_lost(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCH_BUILD", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match=f"the build has no bin/{name}"):
        built_file(name)


@pytest.mark.parametrize("name", ["promise-arena-asan", "promise-arena-live", "stand-in-classify"])
def test_what_not_every_build_has(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCH_BUILD", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=f"the build has no bin/{name}"):
        built_file(name)


def test_without_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ETCH_BUILD", raising=False)
    with pytest.raises(pytest.skip.Exception, match="ETCH_BUILD is not set"):
        built_file("classify")
