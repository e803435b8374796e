# SPDX-License-Identifier: Apache-2.0
"""Builds for a board, in build/firmware-BOARD, where users have its firmware, too."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def build(
    board: str,
    target: str,
    variant: str = "",
    folder: Path | None = None,
    options: tuple[str, ...] = (),
    copied_to: Path | None = None,
) -> Path:
    """The ELF of a target of the board's preset, or of a variant's, which generates the model, compiles and links; in
    another folder where CMake gets other options.

    The programs are copied where `folder` builds others next.
    """
    preset = f"firmware-{board}{variant}"
    folder = folder or ROOT / "build" / preset
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    jobs = str(os.cpu_count() or 1)
    with (folder / "build.log.lock").open("w") as lock:  # the lock of tools/firmware
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (
            ["cmake", "--preset", preset, "-B", str(folder), *options],
            ["cmake", "--build", str(folder), "--parallel", jobs, "--target", target],
        ):
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1800, check=False
            )
            if done.returncode != 0:
                raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        if copied_to:
            shutil.copytree(folder / "bin", copied_to)
    return (copied_to or folder / "bin") / f"{target}.elf"
