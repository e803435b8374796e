# SPDX-License-Identifier: Apache-2.0
"""Two models in one program: no clash of symbols, both right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from archives import run
from classify_program import ROOT, built_file, tool
from tiny_checkpoint import write_tiny_checkpoint


@pytest.mark.parametrize("tables", ["incbin", "c"])
def test_two_models_in_one_program(tables: str, tmp_path: Path) -> None:
    archives = [built_file("libetch_agnews.a"), built_file("libetch.a")]
    write_tiny_checkpoint(tmp_path / "checkpoint", labels=5)
    generated = tmp_path / "tiny"
    command = ["generate", str(tmp_path / "checkpoint"), "--out", str(generated), "--name", "tiny", "--tables", tables]
    subprocess.run([sys.executable, "-m", "codegen", *command], cwd=ROOT, check=True, capture_output=True)
    sources = sorted(path for path in generated.iterdir() if path.suffix in {".cpp", ".S"})
    program = tmp_path / "program"
    done = run(
        *(tool("c++"), "-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
        *("-DETCH_OTHER=tiny", '-DETCH_OTHER_HEADER="tiny.hpp"', f"-Wa,-I{generated}"),
        *(f"-I{ROOT / folder}" for folder in ("runtime/include", "runtime/src", "generated/agnews", generated)),
        *(Path(__file__).parent / "two_models.cpp", *sources, *archives, "-o", program),
    )
    assert done.returncode == 0, done.stderr
    ran = run(program)
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.endswith("of 5 labels\n")
