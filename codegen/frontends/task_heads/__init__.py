# SPDX-License-Identifier: Apache-2.0
"""Heads that are the same in every family, one module a task: what stands behind an encoder's rows in its classes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from ..shared.rows import HeadOps, Rows


@cache
def heads_of_tasks(family: str) -> dict[str, Callable[[Rows], HeadOps]]:
    """What reads the head of a checkpoint, by its class: a module has it in `HEADS`, by the class's ending where every
    family has it, else by the names of those that there are."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    heads = [item for module in modules for item in module.HEADS.items()]
    return {
        name if name.startswith(family) else f"{family}{name}": read
        for name, read in heads
        if name.startswith(("For", f"{family}For", f"{family}With"))
    }
