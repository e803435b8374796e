# SPDX-License-Identifier: Apache-2.0
"""Locks the Python packages that the tools install: writes their hashes, and says whether they are there.

    python3 tools/support/lock.py             every package of every list is pinned and has its hashes
    python3 tools/support/lock.py --compare   and they are those that the package index gives
    python3 tools/support/lock.py --write     asks the index, and writes them

A list (requirements*.txt, minilm.txt) is a whole closure of NAME==VERSION; to move one, change its version and run
--write. Its hashes are those of every wheel that CPython 3.10 to 3.13 on x86-64 or AArch64 Linux could choose. Source
archives are left out: they run code of their own while they are installed. The index is the one that pip is configured
with. Exit codes: 0 well, 1 a list is not locked, 2 wrong use, or no answer from the index.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PYPI = "https://pypi.org/simple"
SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"
MINORS = range(10, 14)
PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)==([\w.]+)(?:\s*;.*)?")
HASH = re.compile(r"\s+--hash=sha256:")
WHEEL = re.compile(r"[^-]+-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")


class LockError(Exception):
    """Why a list cannot be locked."""


def lists() -> list[Path]:
    """Every list of packages of the repository."""
    folders = ("codegen", "firmware-demo", "runtime", "tests", "tools")
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("requirements*.txt"))]
    return [*found, ROOT / "tools/support/minilm.txt"]


def logical_lines(text: str) -> list[str]:
    """Requirements with the hashes of their continuation lines, and comments."""
    return [line.strip() for line in re.sub(r"\\\n", " ", text).splitlines() if line.strip()]


def requirements(text: str) -> dict[str, list[str]]:
    """NAME==VERSION with its marker -> its hashes."""
    lines = (HASH.split(line) for line in logical_lines(text) if not line.startswith("#"))
    return {requirement.strip(): hashes for requirement, *hashes in lines}


def unlocked(text: str) -> list[str]:
    """What is wrong with a list, without asking anyone."""
    found = [] if requirements(text) else ["it names no package"]
    for requirement, hashes in requirements(text).items():
        if not PINNED.fullmatch(requirement):
            found.append(f"'{requirement}' is not NAME==VERSION")
        elif not hashes or not all(re.fullmatch("[0-9a-f]{64}", one) for one in hashes):
            found.append(f"{requirement} has no hash")
    return found


def locked(text: str) -> str:
    """The list with the hashes that the index gives."""
    written = []
    for line in logical_lines(text):
        if line.startswith("#"):
            written.append(f"{line}\n")
            continue
        requirement = HASH.split(line)[0].strip()
        pinned = PINNED.fullmatch(requirement)
        if pinned is None:
            raise LockError(f"'{requirement}' is not NAME==VERSION")
        lines = [requirement, *(f"--hash=sha256:{one}" for one in wheel_hashes(pinned[1], pinned[2]))]
        written.append(" \\\n    ".join(lines) + "\n")
    return "".join(written)


def wheel_hashes(name: str, version: str) -> list[str]:
    """SHA-256 of the wheels of a version that one of these machines could choose."""
    found = sorted(
        file["hashes"]["sha256"]
        for file in index_page(re.sub(r"[-_.]+", "-", name).lower())["files"]
        if (wheel := WHEEL.fullmatch(file["filename"])) and wheel["version"] == version and could_be_chosen(wheel)
    )
    if not found:
        raise LockError(f"{name} {version} has no wheel for Linux on x86-64 or AArch64")
    return found


def could_be_chosen(wheel: re.Match[str]) -> bool:
    """By CPython of MINORS on Linux, glibc or musl, on x86-64 or AArch64."""
    linux = re.compile(r"any|(?:linux|(?:many|musl)linux\w+)_(?:x86_64|aarch64)")
    if not any(linux.fullmatch(platform) for platform in wheel["platform"].split(".")):
        return False
    abis = set(wheel["abi"].split("."))
    for python in wheel["python"].split("."):
        tag = re.fullmatch(r"(py|cp)3(\d*)", python)
        if tag is None:
            continue
        minor = int(tag[2] or 0)
        if minor in MINORS and abis & {"none", "abi3", f"cp3{minor}"}:
            return True
        # Any later version takes these, too.
        if minor < MINORS.start and abis & ({"none"} if tag[1] == "py" else {"abi3"}):
            return True
    return False


@functools.cache
def index_page(project: str) -> dict[str, Any]:
    """What the index says of a project (PEP 691)."""
    request = urllib.request.Request(f"{index()}/{project}/", headers={"Accept": SIMPLE_JSON})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except (OSError, ValueError) as error:
        raise LockError(f"no answer from the package index about {project}: {error}") from None


@functools.cache
def index() -> str:
    """The address of the index that pip uses."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return (done.stdout.strip() if done.returncode == 0 else PYPI).rstrip("/")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--compare", action="store_true")
    what.add_argument("--write", action="store_true")
    options = parser.parse_args()
    code = 0
    for path in lists():
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT)
        try:
            wanted = locked(text) if options.write or options.compare else text
        except LockError as error:
            print(f"lock: {name}: {error}", file=sys.stderr)
            return 2
        if options.write and wanted != text:
            path.write_text(wanted, encoding="utf-8")
            print(f"wrote {name}")
            continue
        wrong = unlocked(text) or ([] if wanted == text else ["the index gives other hashes: run --write"])
        for line in wrong:
            print(f"lock: {name}: {line}", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
