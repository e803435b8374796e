# SPDX-License-Identifier: Apache-2.0
"""pytest puts the folder of each test on one path, as programs that compare with the libraries do with what they
record, and the first module of a name is what every import of it finds."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
IMPORTED_FROM = [
    TESTS.parent / "firmware-demo",
    *(TESTS / "codegen" / name for name in ("generation", "recorded")),
    *sorted({path.parent for name in ("test_*.py", "conftest.py") for path in TESTS.rglob(name)}),
]


def test_no_two_folders_have_a_module_of_one_name() -> None:
    places = defaultdict(list)
    for folder in IMPORTED_FROM:
        for path in folder.glob("*.py"):
            if path.name not in ("conftest.py", "__init__.py"):
                places[path.name].append(str(path.parent.relative_to(TESTS.parent)))
    assert {name: folders for name, folders in places.items() if len(folders) > 1} == {}
