# SPDX-License-Identifier: Apache-2.0
"""Wheels of generated folders, their libraries linked out of the test build."""

from __future__ import annotations

import importlib
import json
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from classify_program import ROOT
from model_build import build_model, build_test

from codegen.tasks import verbs
from codegen.wheel import wheel

SOURCE = ROOT / "tools/python/sessions.cpp"


def linked(folder: Path) -> Path:
    """The shared library as tools/python/CMakeLists.txt makes it, of the test build's own libraries."""
    model = build_model(folder)
    manifest = json.loads((folder / "etch.json").read_text())
    name, verb = manifest["name"], verbs()[manifest["task"]]
    calls = wheel.VERBS[verb].strip("_").replace(".py", ".hpp")
    out = folder / "build" / f"libetch_{name}.so"
    exports = folder / "build" / "exports"
    exports.write_text(f"ETCH_0 {{ global: etch_{name}_*; local: *; }};\n")
    flags = ["-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", f'-DETCH_TASK_HEADER="tasks/{verb}.hpp"']
    flags += [f'-DETCH_CALLS_HEADER="{calls}"', f"-DETCH_BATCH={verb}_batch"]
    flags += [f"-I{ROOT}/tools/cli", f"-Wl,--version-script={exports}", "-Wl,--gc-sections", "-pthread"]
    whole = [str(model.library), str(model.runtime.with_name("libetch_hosted.a"))]
    return build_test(folder, SOURCE, out, *flags, "-Wl,--whole-archive", *whole, "-Wl,--no-whole-archive")


def imported(folder: Path, site: Path, patch: pytest.MonkeyPatch) -> ModuleType:
    """The package in the wheel of a generated folder, which is unpacked in `site`, where Python looks."""
    patch.setattr(wheel, "build_shared", lambda directory, echo: linked(directory))
    path = wheel.make_wheel(folder, site / "wheels", lambda _: None)
    zipfile.ZipFile(path).extractall(site)
    importlib.invalidate_caches()
    return importlib.import_module(path.name.split("-")[0])
