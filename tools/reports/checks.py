# SPDX-License-Identifier: Apache-2.0
"""What must hold of a linked program. One on an operating system may use the heap, run code before main() and have weak
functions: there the same facts are told, and fail nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codegen.building.stack_report import Stack
from codegen.building.symbol_names import scope

from .arena import Timeline
from .elf_file import Image
from .flash import KERNEL_SETS, Flash
from .model_folder import Model
from .ram import Ram

LARGEST_GAP = 0.05

_HEAP = re.compile(
    r"_?(malloc|calloc|realloc|free|memalign|sbrk|brk)(_r)?|posix_memalign|aligned_alloc|_Zn[wa].*|_Zd[la]P.*"
)
_BEFORE_MAIN = (".init_array", ".preinit_array", ".ctors")


@dataclass(frozen=True)
class Check:
    name: str
    passed: bool | None  # None: told, not required
    found: str


def check_all(
    image: Image,
    models: list[Model],
    flash: Flash,
    ram: Ram,
    timelines: list[Timeline],
    stacks: list[Stack],
    painted: int | None,
) -> list[Check]:
    checks = [
        _adds_up("flash adds up to the loaded sections", sum(entry.bytes for entry in flash.entries), flash.bytes),
        _adds_up("RAM adds up to the writable sections", sum(use.bytes for use in ram.uses), ram.bytes),
        _tables_stay(image, models),
        _heap(image),
        _before_main(image),
        _weak_kernels(image),
        _weak_defaults(image),
    ]
    for timeline in timelines:
        name = f"{timeline.name} at most {LARGEST_GAP:.0%} above its lower bound"
        checks.append(Check(name, timeline.gap <= LARGEST_GAP, f"{timeline.gap:.2%}"))
        for limit in timeline.limits:
            found = f"{timeline.bytes:,} of {limit.bytes:,} bytes"
            checks.append(Check(f"{timeline.name} within {limit.name}", timeline.bytes <= limit.bytes, found))
    for stack in stacks:
        found = f"{stack.worst.bytes:,} of {stack.budget:,} bytes"
        checks.append(Check(f"stack of {stack.of} within its budget", stack.worst.bytes <= stack.budget, found))
    if painted is not None:
        deepest = max((stack.worst.bytes for stack in stacks), default=0)
        found = f"{painted:,} of {deepest:,} bytes"
        checks.append(Check("painted stack within the computed one", painted <= deepest, found))
    return checks


def _adds_up(name: str, attributed: int, total: int) -> Check:
    return Check(name, attributed == total, f"{attributed:,} of {total:,} bytes")


def _result(name: str, found: list[str], required: bool) -> Check:
    shown = ", ".join(found[:6]) + (f" and {len(found) - 6} more" if len(found) > 6 else "")
    if not found:
        return Check(name, True, "none")
    return Check(name, False if required else None, shown)


def _tables_stay(image: Image, models: list[Model]) -> Check:
    """Weights are used where they lie in flash, but for those that were to be copied."""
    writable = {section.name for section in image.in_ram}
    stay = [(model, name) for model in models for name in model.symbols if name not in model.copied]
    in_ram = [(model, name) for model, name in stay if model.symbols[name].section in writable]
    found = [f"etch_{model.name}_{name}" for model, name in in_ram]
    return _result("no table in RAM", found, required=True)


def _heap(image: Image) -> Check:
    names = {symbol.name for symbol in image.symbols} | set(image.undefined)
    found = sorted(name for name in names if _HEAP.fullmatch(name))
    return _result("no heap", found, required=not image.hosted)


def _before_main(image: Image) -> Check:
    found = [f"{s.name} of {s.size} bytes" for s in image.sections if s.name.startswith(_BEFORE_MAIN)]
    return _result("nothing runs before main", found, required=not image.hosted)


def _weak_kernels(image: Image) -> Check:
    """A function compiled twice, for two instruction sets, of which the linker kept one."""
    found = [
        symbol.name
        for symbol in image.symbols
        if symbol.weak and (parts := scope(symbol.name))[:1] == ("etch",) and KERNEL_SETS.intersection(parts[2:3])
    ]
    return _result("no weak function in a kernel set", sorted(found), required=True)


def _weak_defaults(image: Image) -> Check:
    """A function that another one of its name would have replaced, as handlers of interrupts often are: was it meant to
    stay? Inline functions of C++ (_Z) are weak, too, but the same everywhere; names with __ are the compiler's."""
    weak = [symbol.name for symbol in image.symbols if symbol.weak and symbol.kind == "function"]
    found = [name for name in weak if not name.startswith(("_Z", "__"))]
    return _result("no weak function by default", sorted(found), required=not image.hosted)
