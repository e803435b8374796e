# SPDX-License-Identifier: Apache-2.0
"""Folders that folder_differences.py compared with `transformers`: etch still makes of them what it made then, when no
folder differed."""

from __future__ import annotations

import json
from pathlib import Path

import folder_differences as compared

RECORDED = Path(__file__).resolve().parent / "folder_differences.json"


def test_recorded_folders(tmp_path: Path) -> None:
    """The generator of folders is seeded: a recorded folder is named by its number, and checked by what was changed."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert len({entry["seed"] for entry in recorded}) == 1
    wanted = {entry["folder"]: entry for entry in recorded}
    assert len(wanted) > 400
    for number, (what, files) in enumerate(compared.folders(recorded[0]["seed"], max(wanted) + 1)):
        entry = wanted.get(number)
        if entry is None:
            continue
        assert what == entry["what"]
        folder = tmp_path / str(number)
        folder.mkdir()
        compared.write(files, folder)
        answers = compared.ours(folder, files)
        if isinstance(answers, str):
            assert answers == entry.get("refused"), what
        else:
            assert compared.sha256(answers) == entry.get("ids"), what
