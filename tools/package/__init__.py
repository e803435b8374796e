# SPDX-License-Identifier: Apache-2.0
"""The installed package `etch`: its generator is `etch.codegen`, the C++ sources that it builds with lie beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .codegen.wheel.load import load as load


def __getattr__(name: str) -> Any:
    """`load` is imported when it is asked for: the command does without."""
    if name != "load":
        raise AttributeError(f"module 'etch' has no attribute '{name}'")
    from .codegen.wheel.load import load

    return load
