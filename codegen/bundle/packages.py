# SPDX-License-Identifier: Apache-2.0
"""`etch bundle --format`: what other people's build tools take. Each format is a folder of templates in
templates/packages/, whose files are rendered to where they lie there; NAME in a path is the model's name."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..files.rendered import Rendered
from ..render.environment import template_environment

_FOLDER = "packages/"
# For tools that let a library choose no flags. Contracted products have other bits; errno would make a library call of
# a square root.
_PRAGMAS = b"""#if defined(__clang__)
#pragma clang fp contract(off)
#else
#pragma GCC optimize("O2", "fp-contract=off", "no-math-errno")
#endif
"""


class _Behind:
    """Lines, then a content."""

    def __init__(self, lines: bytes, content: Iterable[bytes | memoryview]) -> None:
        self._lines, self._content = lines, content

    def __iter__(self) -> Iterator[bytes | memoryview]:
        yield self._lines
        yield from self._content


def _where_it_is(path: str) -> str:
    return path


def _below_src(path: str) -> str:
    """One folder that all includes are found from: no two files of a bundle have the same name in its three."""
    first, _, rest = path.partition("/")
    return f"src/{rest}" if first in ("include", "model", "runtime") else path


@dataclass(frozen=True)
class Format:
    """What a tool takes."""

    name: str  # of --format, and of its folder
    tool: str
    checked: str  # how far it was tried here, for its README.txt
    use: str  # what a user does with it
    language: str  # how its tool comes to compile C++17
    several: str  # what becomes of the runtime in a program of several such packages
    place: Callable[[str], str] = _where_it_is  # a file of the plain bundle -> where the tool wants it
    has_flags: bool = True  # False: the sources have to say how they are compiled


_LANGUAGE = "Its sources, and all that includes its headers, are C++17: "
_RIGHTS = "The code is Apache-2.0, the tables are under the terms of their checkpoint: see README.txt."
_NOT_BUILT = "It was not built with {tool} itself: "
_SEVERAL = "Packages of several models that one etch wrote can be in one program: "
_ARCHIVES = "each is an archive, and the linker takes the runtime from one of them."
_RUN = "compiled by arm-none-eabi-g++ 12.2 and run on an emulated Cortex-M4"

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format(
            "arduino",
            "the Arduino IDE",
            f"its sources and its example were, with the flags of Arduino's cores for Cortex-M, {_RUN}.",
            "Put this folder into the folder libraries of your sketchbook and open the example ask.",
            "a core that compiles an older one needs compiler.cpp.extra_flags=-std=gnu++17 in a platform.local.txt "
            "beside its platform.txt.",
            _ARCHIVES,
            place=_below_src,
            has_flags=False,
        ),
        Format(
            "esp-idf",
            "ESP-IDF",
            "its component manager packed it; with stand-ins for its CMake functions the example was "
            f"{_RUN}, no chip of Espressif's.",
            "In examples/ask: idf.py set-target esp32s3, idf.py build flash monitor. In a project of yours put this\n"
            "folder into components/ under the name etch_{name}.",
            "ESP-IDF compiles C++20 or a later one from 5.0 on, which this component asks for.",
            _ARCHIVES,
        ),
        Format(
            "zephyr",
            "Zephyr",
            f"kconfiglib read its Kconfig; with stand-ins for its CMake functions the example was {_RUN}.",
            "west build -b BOARD samples/ask. In an application of yours name this folder in ZEPHYR_EXTRA_MODULES and\n"
            "set CONFIG_ETCH_{upper}=y.",
            "its Kconfig depends on CONFIG_STD_CPP17 or a later one; Zephyr compiles C++11 where nothing is said.",
            "the first of them has the runtime.",
        ),
        Format(
            "cmsis-pack",
            "CMSIS-Toolbox",
            f"no tool has read its .pdsc; the same sources were {_RUN}.",
            "cpackget add Etch.{name}.pdsc; then select the components Machine Learning, etch, {name} and\n"
            "Machine Learning, etch runtime, {name}.",
            "say language-CPP: c++17 in the project's .cproject.yml.",
            "select the etch runtime of one of them.",
            has_flags=False,
        ),
        Format(
            "platformio",
            "PlatformIO",
            f"pio packed it; the same sources were {_RUN}.",
            "In examples/ask: pio run -e native -t exec. In a project of yours: lib_deps = etch_{name}, and this\n"
            "folder in lib/.",
            "its own sources are compiled as such; where a framework compiles an older one, the project needs "
            "build_unflags = -std=gnu++11 and build_flags = -std=gnu++17 in its [env:...].",
            _ARCHIVES,
        ),
    )
}


def packaged(form: Format, files: Iterable[Rendered], facts: Mapping[str, Any]) -> Iterator[Rendered]:
    """The files of a plain bundle, model and runtime, as `form` wants them, and its own beside them."""
    sources: list[str] = []
    for file in files:
        name = form.place(file.name)
        if name.endswith((".cpp", ".S")):
            sources.append(name)
        own_flags = name.endswith(".cpp") and not form.has_flags
        yield Rendered(name, _Behind(_PRAGMAS, file.content) if own_flags else file.content)
    name = facts["name"]
    texts = ["first", "second"] if facts["two_texts"] else ["text", ""]
    words = {"name": name, "upper": name.upper()}
    values = {
        **facts,
        "terms": facts["terms"] and form.place(facts["terms"]),
        "sources": sorted(sources),
        "texts": texts,
        "say": "say" if form.name == "arduino" else "std::printf",
        "tool": form.tool,
        "use": form.use.format(**words),
        "rights": _RIGHTS,
        "language": textwrap.fill(_LANGUAGE + form.language, 118),
        "several": textwrap.fill(_SEVERAL + form.several, 118),
        "checked": textwrap.fill(_NOT_BUILT.format(tool=form.tool) + form.checked, 118),
    }
    environment = template_environment()
    for template in environment.list_templates(filter_func=lambda path: path.startswith(f"{_FOLDER}{form.name}/")):
        path = template.removeprefix(f"{_FOLDER}{form.name}/").removesuffix(".j2").replace("NAME", name)
        yield Rendered(path, [environment.get_template(template).render(values).encode()])
    yield Rendered("README.txt", [environment.get_template("package_readme.txt.j2").render(values).encode()])
