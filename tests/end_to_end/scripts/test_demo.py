# SPDX-License-Identifier: Apache-2.0
"""tools/demo with arguments that cannot be obeyed: refused before anything is installed or built."""

from __future__ import annotations

import subprocess

import pytest
from classify_program import ROOT


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "tools/demo", *arguments], capture_output=True, text=True, timeout=10, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nonsense"], "demo: unknown option --nonsense (see tools/demo --help)"),
        (["--embed", "one"], "demo: --embed compares two texts, there are 1"),
        (["--embed", "one", "two", "three"], "demo: --embed compares two texts, there are 3"),
        (["--embed", "--prebuilt"], "demo: --embed and --prebuilt cannot be used together"),
        (["--embed", "--translate"], "demo: --embed and --translate cannot be used together"),
        (["--translate", "--prebuilt"], "demo: --translate and --prebuilt cannot be used together"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    done = demo(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message + "\n")


def test_help_names_every_option() -> None:
    done = demo("--help")
    assert done.returncode == 0
    assert "--prebuilt" in done.stdout
    assert "--embed" in done.stdout
    assert "--translate" in done.stdout
    assert "set -e" not in done.stdout
