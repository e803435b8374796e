# SPDX-License-Identifier: Apache-2.0
"""What run.py adds up: nothing that was not run is passed over in silence."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from affected import CPP, Affected

REPORT = """<testsuites><testsuite>
<testcase classname="test_a" name="test_one" />
<testcase classname="test_a" name="test_two"><skipped message="no compiler">test_a.py:3: no</skipped></testcase>
<testcase classname="" name="test_b">
<skipped message="collection skipped">('test_b.py', 14, &quot;Skipped: no module 'torch', 'x'&quot;)</skipped>
</testcase>
<testcase classname="Suite" name="Case" status="notrun" />
<testcase classname="test_a" name="test_three"><failure>x</failure></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def run() -> ModuleType:
    """Not by an import statement: a change of run.py is to run everything (affected.py)."""
    return importlib.import_module("run")


def test_each_skip_has_its_reason(run: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT, encoding="utf-8")
    results = run.Results()
    results.add_junit(tmp_path / "report.xml")
    assert results.passed == 1
    assert results.failed == ["test_a.test_three"]
    assert results.skipped == [
        "test_a.test_two: no compiler",
        "test_b: no module 'torch', 'x'",
        "Suite.Case: no reason given",
    ]


def test_the_reason_of_a_file_that_is_skipped(run: ModuleType, tmp_path: Path) -> None:
    """As the installed pytest writes it."""
    file = tmp_path / "test_whole.py"
    file.write_text("import pytest\npytest.skip(\"it is, 'so'\", allow_module_level=True)\n", encoding="utf-8")
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--rootdir={tmp_path}", f"--junitxml={report}", str(file)]
    subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, check=False, timeout=120)
    results = run.Results()
    results.add_junit(report)
    assert [line.split(": ", 1)[1] for line in results.skipped] == ["it is, 'so'"]


SOME = Affected(frozenset({"test-ops", "test-cuda"}), frozenset())


@pytest.mark.parametrize(("selection", "missing"), [(None, CPP), (SOME, ("test-ops",))], ids=["all", "some"])
def test_a_program_that_was_not_built(
    selection: Affected | None,
    missing: tuple[str, ...],
    run: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "BUILD", tmp_path)
    results = run.Results()
    run.run_cpp_tests(results, selection)
    assert sorted(results.failed) == sorted(f"{name}: not built" for name in missing if name != "test-cuda")
    assert results.skipped == ["test-cuda: not built: CUDA's headers were not found"]
