# SPDX-License-Identifier: Apache-2.0
"""No script has a pipe whose reader leaves early: under pipefail its writer dies of SIGPIPE, in one run of many."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from classify_program import ROOT
from shell_scripts import shell_scripts

# head, grep -q and -m, sed and awk that quit leave before the end of what they read; so do commands that read nothing.
LEAVES_EARLY = re.compile(
    r"""(?<!\|)\|&?\s*(?:
        head\b | true\b | :\s | (?:while\s+)?read\b |
        [ef]?grep\b[^|\n]*?\s(?:-[a-zA-Z]*[qmlL]|--quiet|--silent|--max-count|--files-with) |
        sed\b[^|\n]*?[\s'"{;$/0-9][qQ](?:[\s'"};0-9]|$) |
        awk\b[^|\n]*?\bexit\b
    )""",
    re.VERBOSE,
)
LOOKUPS = 400


def early_readers(text: str) -> list[str]:
    """The lines of a script with such a pipe, continued ones joined, comments left out."""
    lines = re.sub(r"\\\n", " ", re.sub(r"\|[ \t]*\n", "| ", text)).splitlines()
    return [line for line in lines if not line.lstrip().startswith("#") and LEAVES_EARLY.search(line)]


@pytest.mark.parametrize("script", shell_scripts(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_reader_reads_to_the_end(script: Path) -> None:
    assert early_readers(script.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        'names | grep -qxF -- "$1" || fail',
        "dpkg-query -W | grep -q '^install'",
        "list | grep -i -m1 x",
        "list | grep x --quiet",
        "list | head -n 1",
        "list |\n    head -n 1",
        "list \\\n    | head -1",
        "list | sort | sed 3q",
        "list | sed -n '/^ERROR/{p;q}'",
        "list |& awk '/x/ { print; exit }'",
        "list | read -r first",
        "yes | true",
    ],
)
def test_they_are_found(line: str) -> None:
    assert early_readers(f"set -o pipefail\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "# list | head",
        "make || head file",
        "list | sed 's/q/x/' | sort -u",
        "list | grep -c x",
        "list | sed -n 's/^ERROR //p'",
        "a | b) grep -q x file ;;",
        "list | paste -sd ' '",
        "head -n 1 file",
    ],
)
def test_others_are_not(line: str) -> None:
    assert not early_readers(f"{line}\n")


def test_a_board_is_found_every_time() -> None:
    """With one argument too many: the lookup is done, and nothing is installed or built."""

    def lookup(_: int) -> str:
        command = [ROOT / "tools/firmware", "build", "mps2-an385", "x"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stderr

    with ThreadPoolExecutor(8) as several:
        said = set(several.map(lookup, range(LOOKUPS)))
    assert said == {"firmware: build takes one board (see tools/firmware --help)\n"}
