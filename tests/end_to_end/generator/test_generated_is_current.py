# SPDX-License-Identifier: Apache-2.0
"""What lies in generated/ is what the README's command makes of the committed checkpoints, byte for byte.

Where it is not: run the command and commit the result.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from classify_program import ROOT
from folder_content import content
from generator_program import etch

MODELS = ("agnews", "agnews_small")


@pytest.mark.parametrize("name", MODELS)
def test_generated(name: str, tmp_path: Path) -> None:
    command = ("generate", f"tools/train/{name}/checkpoint", "--out", f"generated/{name}", "--gpu")
    if not (ROOT / command[1] / "model.safetensors").exists():
        pytest.fail(f"the checkpoint of {name} is not there")
    (tmp_path / command[1]).parent.mkdir(parents=True)
    shutil.copytree(ROOT / command[1], tmp_path / command[1])
    outcome = etch(*command, cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    made, committed = (content(folder / command[3]) for folder in (tmp_path, ROOT))
    committed = {file: data for file, data in committed.items() if file.split("/")[0] != "build"}
    assert sorted(made) == sorted(committed)
    changed = [file for file in made if made[file] != committed[file]]
    assert not changed, f"not current: {changed}; run: python3 -m codegen {' '.join(command)}"
