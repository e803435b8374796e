# SPDX-License-Identifier: Apache-2.0
"""generated/agnews is what the README's command makes of the committed checkpoint, byte for byte.

Where it is not: run the command and commit the result.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from classify_program import ROOT
from generator_program import content, etch

COMMAND = ("generate", "tools/train/agnews/checkpoint", "--out", "generated/agnews")


def test_generated_agnews(tmp_path: Path) -> None:
    if not (ROOT / COMMAND[1] / "model.safetensors").exists():
        pytest.fail("the default model's checkpoint is not there")
    (tmp_path / "tools/train/agnews").mkdir(parents=True)
    shutil.copytree(ROOT / COMMAND[1], tmp_path / COMMAND[1])
    outcome = etch(*COMMAND, cwd=tmp_path)
    assert outcome.code == 0, outcome.err
    made, committed = (content(folder / COMMAND[3]) for folder in (tmp_path, ROOT))
    committed = {name: data for name, data in committed.items() if name.split("/")[0] != "build"}
    assert sorted(made) == sorted(committed)
    changed = [name for name in made if made[name] != committed[name]]
    assert not changed, f"not current: {changed}; run: python3 -m codegen {' '.join(COMMAND)}"
