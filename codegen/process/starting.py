# SPDX-License-Identifier: Apache-2.0
"""How a tool starts: stoppable before its own modules are imported, which may take a second."""

from .signals import leave_on_signals


def start(program: str, module: str) -> int:
    """The exit code of a tool, `main` of a module that is imported here, stoppable from the first line on."""
    leave_on_signals(program)
    import importlib

    from .interrupts import run_program

    return run_program(program, importlib.import_module(module).main)
