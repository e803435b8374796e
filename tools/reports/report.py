# SPDX-License-Identifier: Apache-2.0
"""All that is told of one linked file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codegen.building.stack_report import Stack
from codegen.building.symbol_names import readable

from .arena import Timeline, timelines_of
from .checks import Check, check_all
from .elf_file import Image, read_image
from .flash import Flash, flash_of
from .linker_map import read_map
from .model_folder import Model, models_of
from .ram import Ram, ram_of
from .regions import Taken, limited, regions_of
from .stack import find_stacks, read_stack


@dataclass(frozen=True)
class Request:
    """The arguments of tools/report; what is None is looked for beside the file and in its build folder."""

    elf: Path
    models: list[Path]
    map: Path | None
    stack: Path | None
    painted: int | None  # bytes of stack that a run on the board has used


@dataclass(frozen=True)
class Report:
    image: Image
    models: list[Model]
    has_map: bool
    regions: list[Taken]
    flash: Flash
    ram: Ram
    timelines: list[Timeline]
    stacks: list[Stack]
    painted: int | None
    checks: list[Check]

    @property
    def passed(self) -> bool:
        return all(check.passed is not False for check in self.checks)


def make_report(request: Request) -> Report:
    """EtchError where the file, or what goes with it, cannot be read or contradicts itself."""
    image = read_image(request.elf)
    models = models_of(image, request.elf, request.models)
    beside = request.elf.with_name(f"{request.elf.name}.map")
    map_path = request.map or (beside if beside.is_file() else None)
    linker_map = read_map(map_path, image) if map_path else None
    names = readable(symbol.name for symbol in image.symbols)
    flash = flash_of(image, models, linker_map, names)
    planned = [one for model in models if model.manifest is not None for one in timelines_of(model.manifest)]
    ram = ram_of(image, models, planned, linker_map, names)
    timelines = limited(planned, ram, linker_map)
    stacks = [read_stack(request.stack)] if request.stack else find_stacks(request.elf, models)
    checks = check_all(image, models, flash, ram, timelines, stacks, request.painted)
    return Report(
        image=image,
        models=models,
        has_map=linker_map is not None,
        regions=regions_of(image, linker_map),
        flash=flash,
        ram=ram,
        timelines=timelines,
        stacks=stacks,
        painted=request.painted,
        checks=checks,
    )
