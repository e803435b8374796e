# SPDX-License-Identifier: Apache-2.0
"""Models that are called as headers of the programs are: each program includes its own model's."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_build import build_program
from recorded.outputs import folder
from wheels import imported

from codegen import pipeline

TEXTS = ["the cat sat", "dogs"]


@pytest.mark.parametrize("name", ["model", "rows"])
def test_a_model_called_like_a_header(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / name
    pipeline.generate(pipeline.Request(folder("tags/bert"), out), lambda _: None)
    lines = build_program(out).well("--json", stdin="\n".join(TEXTS).encode()).objects
    assert len(lines) == len(TEXTS)
    monkeypatch.syspath_prepend(tmp_path)
    package = imported(out, tmp_path, monkeypatch)
    assert len(package.Model().tag(TEXTS)) == len(TEXTS)
