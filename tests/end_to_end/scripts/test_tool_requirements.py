# SPDX-License-Identifier: Apache-2.0
"""What the tools install with pip is locked by hash: every list, every call of pip, and pip keeps to it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from classify_program import ROOT
from shell_scripts import shell_scripts

from tools.support import lock

LISTS = lock.lists()


@pytest.mark.parametrize("path", LISTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_package_of_a_list_is_pinned_and_has_its_hashes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert lock.unlocked(text) == []
    assert len(lock.requirements(text)) == len(re.findall(r"^\w.*==", text, re.MULTILINE))


def test_the_lists_are_found() -> None:
    names = {str(path.relative_to(ROOT)) for path in LISTS}
    assert {"codegen/requirements.txt", "tests/requirements.txt", "tools/support/minilm.txt"} <= names
    scripts = "".join(path.read_text(encoding="utf-8") for path in shell_scripts())
    assert set(re.findall(r"[\w/-]+/requirements[\w-]*\.txt", scripts)) <= names


def test_one_place_calls_pip() -> None:
    calls = [line for path in shell_scripts() for line in path.read_text().splitlines() if re.search(r"\bpip3? ", line)]
    [call] = [line for line in calls if not line.lstrip().startswith("#")]
    assert all(option in call for option in (" --require-hashes ", " --only-binary :all: ", " --no-deps "))


def test_what_was_not_installed_is_not_taken_for_installed(tmp_path: Path) -> None:
    """Also in a condition, where bash goes on behind a command that fails."""
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\n[ "$1" != -m ]\n')
    python.chmod(0o755)
    (tmp_path / "list.txt").write_text("a==1\n")
    script = 'set -euo pipefail; ROOT=$1; . "$2"; if (need_python list.txt); then echo yes; else echo no; fi'
    arguments = ("bash", "-c", script, "bash", tmp_path, ROOT / "tools/support/install.sh")
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "no"
    assert not list((tmp_path / ".venv").glob(".installed-*"))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "it names no package"),
        ("numpy\n", "'numpy' is not NAME==VERSION"),
        ("numpy>=2\n", "'numpy>=2' is not NAME==VERSION"),
        ("numpy==2.2.6\n", "numpy==2.2.6 has no hash"),
        ("numpy==2.2.6 --hash=sha256:12\n", "numpy==2.2.6 has no hash"),
        ("# a\nnumpy==2.2.6 \\\n    --hash=md5:" + "0" * 32, "is not NAME==VERSION"),
    ],
)
def test_what_is_not_locked_is_named(text: str, wrong: str) -> None:
    [found] = lock.unlocked(text)
    assert wrong in found


@pytest.mark.parametrize(
    ("wheel", "chosen"),
    [
        ("a-1.0-py3-none-any.whl", True),
        ("a-1.0-py2.py3-none-any.whl", True),
        ("a-1.0-1-py3-none-any.whl", True),
        ("a-1.0-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
        ("a-1.0-cp313-cp313-manylinux_2_28_aarch64.whl", True),
        ("a-1.0-cp312-cp312-musllinux_1_2_x86_64.whl", True),
        ("a-1.0-cp38-abi3-manylinux2010_x86_64.whl", True),
        ("a-1.0-py3-none-manylinux_2_18_x86_64.whl", True),
        ("a-1.0-cp39-cp39-manylinux2014_x86_64.whl", False),
        ("a-1.0-cp314-cp314-manylinux2014_x86_64.whl", False),
        ("a-1.0-cp313-cp313t-manylinux2014_x86_64.whl", False),
        ("a-1.0-cp310-cp310-macosx_11_0_arm64.whl", False),
        ("a-1.0-cp310-cp310-win_amd64.whl", False),
        ("a-1.0-cp310-cp310-manylinux2014_i686.whl", False),
        ("a-1.0-py2-none-any.whl", False),
    ],
)
def test_wheels_that_can_be_chosen(wheel: str, chosen: bool) -> None:
    match = lock.WHEEL.fullmatch(wheel)
    assert match is not None
    assert lock.could_be_chosen(match) == chosen


def test_a_list_is_written_again_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an index that gives one wheel too many, of another version."""
    files = [
        {"filename": f"some_name-{version}-py3-none-any.whl", "hashes": {"sha256": digit * 64}}
        for version, digit in (("1.0", "a"), ("1.1", "b"))
    ]
    monkeypatch.setattr(lock, "index_page", {"some-name": {"files": files}}.__getitem__)
    marker = '; python_version >= "3.11"'
    text = f"# why\nSome.Name==1.0{marker} \\\n    --hash=sha256:{'a' * 64}\n"
    assert lock.locked(text) == text
    assert lock.locked(f"# why\nSome.Name==1.0{marker}\n") == text
    with pytest.raises(lock.LockError, match=r"Some\.Name 1\.2 has no wheel"):
        lock.locked("Some.Name==1.2\n")


# --- pip keeps to it -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with install.sh, and a folder with one wheel; the Python environment is made by the first test."""
    place = tmp_path_factory.mktemp("place")
    (place / "wheels").mkdir()
    with zipfile.ZipFile(place / "wheels/tiny_package-1.0-py3-none-any.whl", "w") as wheel:
        info = "tiny_package-1.0.dist-info"
        wheel.writestr("tiny_package.py", "")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return place


def need_python(place: Path, requirement: str) -> subprocess.CompletedProcess[str]:
    """install.sh's need_python with a list of this one line."""
    (place / "list.txt").write_text(requirement)
    script = f'set -euo pipefail; ROOT=$1; . "{ROOT}/tools/support/install.sh"; need_python list.txt'
    return subprocess.run(
        ["bash", "-c", script, "test", place],
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(place / "wheels"), "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def installed(place: Path) -> bool:
    return any(place.glob(".venv/lib/python*/site-packages/tiny_package.py"))


def test_another_file_or_none_is_refused(place: Path) -> None:
    if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], check=False).returncode != 0:
        pytest.skip("this Python makes no environments")
    digest = hashlib.sha256((place / "wheels/tiny_package-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    for line in ("tiny-package==1.0", f"tiny-package==1.0 --hash=sha256:{'0' * 64}"):
        done = need_python(place, line)
        assert done.returncode != 0
        assert "hash" in done.stderr.lower()
        assert not installed(place)
        assert not list(place.glob(".venv/.installed-*"))
    done = need_python(place, f"tiny-package==1.0 --hash=sha256:{digest}")
    assert done.returncode == 0, done.stderr
    assert installed(place)
