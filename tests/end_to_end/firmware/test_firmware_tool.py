# SPDX-License-Identifier: Apache-2.0
"""tools/firmware itself: what it lists and refuses. Needs neither cross compiler nor emulator."""

from __future__ import annotations

import json
import subprocess

from boards import BOARDS, ROOT

WRONG_USE = 2


def firmware(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "tools" / "firmware", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


def test_it_lists_every_board_with_a_line_about_it() -> None:
    done = firmware("list")
    assert done.returncode == 0, done.stderr
    listed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert sorted(listed) == BOARDS
    assert len(BOARDS) == 6
    assert all("Cortex-M" in about for about in listed.values())


def test_wrong_use_is_named() -> None:
    for arguments, message in (
        ((), "no command"),
        (("fly",), "unknown command 'fly'"),
        (("run",), "run needs a board"),
        (("run", "mps9"), "there is no board 'mps9': mps2-an385 mps2-an386"),
        (("run", "common"), "there is no board 'common'"),
        (("run", "mps2-an38."), "there is no board 'mps2-an38.'"),
        (("build", "../boards"), "there is no board '../boards'"),
        (("test", "mps2-an385", "x"), "there is no board 'x'"),
        (("steps", "mps9"), "there is no board 'mps9'"),
        (("run", "--steps"), "run needs a board"),
        (("build", "--steps", "mps9"), "there is no board 'mps9'"),
        (("list", "x"), "list takes no argument"),
        (("run", "mps2-an385", "--model"), "--model needs a folder"),
        (("build", "mps2-an385", "--model", "/"), " is neither a checkpoint nor a generated folder"),
        (("build", "mps2-an385", "x"), "build takes one board"),
    ):
        done = firmware(*arguments)
        assert done.returncode == WRONG_USE, (arguments, done.stderr)
        assert done.stderr.startswith(f"firmware: {message}"), done.stderr
        assert done.stderr.count("\n") == 1


def test_every_board_has_its_presets() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    for kind in ("configurePresets", "buildPresets"):
        names = {preset["name"] for preset in presets[kind] if not preset.get("hidden")}
        wanted = {f"firmware-{board}{variant}" for board in BOARDS for variant in ("", "-steps")}
        assert {name for name in names if name.startswith("firmware-")} == wanted
