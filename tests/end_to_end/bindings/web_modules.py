# SPDX-License-Identifier: Apache-2.0
"""Models as modules of WebAssembly, built by CMake and asked in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from classify_program import ROOT
from model_build import run

NODE = shutil.which("node")
SYSTEM = Path("/usr/include/wasm32-wasi/c++")
_MISSING = [program for program in ("cmake", "clang++", "wasm-ld", "llvm-ar", "node") if shutil.which(program) is None]
_MISSING += [] if SYSTEM.exists() else [str(SYSTEM)]
needs_wasm = pytest.mark.skipif(bool(_MISSING), reason=f"no {', '.join(_MISSING)}")

Call = tuple[str, str, str | None]  # function without `etch_`, text, second text


def build_modules(folders: Iterable[Path], binary: Path) -> dict[str, Path]:
    """Name of the generated folder -> its module, as `etch web` builds it; the runtime is compiled once for all."""
    models = {folder.name: folder.resolve() for folder in folders}
    options = [f"-DETCH_MODEL_DIRS={';'.join(map(str, models.values()))}", "-DETCH_BUILD_WEB=ON"]
    options += ["-DETCH_BUILD_PROGRAMS=OFF", "-DETCH_INSTALL=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    toolchain = ROOT / "tools" / "web" / "toolchain.cmake"
    run(["cmake", "-S", ROOT, "-B", binary, "--toolchain", toolchain, *options])
    run(["cmake", "--build", binary, "--parallel", "2"])
    return {name: binary / "bin" / f"{name}.wasm" for name in models}


def ask(module: Path, calls: Sequence[Call]) -> list[str]:
    """A line for each call; the module imports nothing."""
    assert NODE is not None
    script = ROOT / "tests" / "end_to_end" / "bindings" / "web" / "ask.mjs"
    done = subprocess.run(
        [NODE, script, module], input=json.dumps(calls), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    imports, *lines = done.stdout.split("\n")[:-1]
    assert imports == "[]"
    assert len(lines) == len(calls)
    return lines
