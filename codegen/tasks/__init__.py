# SPDX-License-Identifier: Apache-2.0
"""What models answer with, one module a task: a module that has a `TASK` is one, and no other place knows of it.

Modules are imported when the first of them is asked for: `etch --help` does without the packages that they need.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from ..ir.task import Task


@cache
def tasks() -> tuple[type[Task], ...]:
    """All of them, in the order of their modules' names."""
    return tuple(module.TASK for module in _modules())


@cache
def task_of(name: str) -> type[Task]:
    """The task that has this name in etch.json."""
    return next(task for task in tasks() if name in task.task_names)


@cache
def verbs() -> dict[str, str]:
    """What the functions and the program of a task are called, by its name in etch.json."""
    return {name: task.verb for task in tasks() for name in task.task_names}


@cache
def _modules() -> tuple[ModuleType, ...]:
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    return tuple(module for module in modules if hasattr(module, "TASK"))
