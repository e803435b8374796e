# SPDX-License-Identifier: Apache-2.0
"""`etch.load`: a generated folder as a model in this process, for notebooks."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ..building.build import build_folder
from ..files.folder_lock import keep, locked
from .wheel import package_files


def load(directory: str | Path, threads: int = 1, *, plain_text: bool = False, huge_pages: bool = False) -> Any:
    """Builds the package of a generated folder into its `build/python` and returns `Model(threads)` of it.

    What was loaded before from the same folder stays what it was: a library that is already open is found again by its
    path, so that each content has a path of its own. Contents that no process has loaded are removed.
    """
    directory = Path(directory).absolute()
    files = package_files(directory, lambda _: None)
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    place = build_folder(directory) / "python"
    target = place / digest.hexdigest()[:16]
    place.mkdir(parents=True, exist_ok=True)
    with locked(place, wait=True):  # until it is imported: nobody removes it meanwhile
        target.mkdir(exist_ok=True)
        keep(target)
        _write(target, files)
        _remove_others(target)
        init = next(target / name for name in files if name.endswith("/__init__.py"))
        return _imported(init).Model(threads, plain_text=plain_text, huge_pages=huge_pages)


def _write(target: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.unlink(missing_ok=True)  # it may be in use: what is loaded stays as it is
            path.write_bytes(content)


def _remove_others(target: Path) -> None:
    """Other contents beside this one, but for those that a process keeps."""
    for other in target.parent.iterdir():
        if other != target:
            with locked(other) as unused:
                if unused:
                    shutil.rmtree(other, ignore_errors=True)


def _imported(init: Path) -> ModuleType:
    package = init.parent
    spec = importlib.util.spec_from_file_location(
        f"etch_loaded_{package.name}_{package.parent.name}", init, submodule_search_locations=[str(package)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
