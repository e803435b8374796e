# SPDX-License-Identifier: Apache-2.0
"""The build stage: a generated folder to its library and program, by CMake."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import EtchError
from ..files.folder_lock import locked
from ..folders.generated_folder import check_folder
from ..folders.manifest import read_manifest
from ..process.progress import advance, advance_to, stage
from ..tasks import verbs
from .runtime_cache import runtime_cache

DEFAULT_MODEL = "agnews"  # its program is called `classify`, without its name
ROOT = Path(__file__).resolve().parents[2]
_LOG_LINES = 20
_NO_SQLITE_HEADER = "sqlite3ext.h is missing"  # as tools/sqlite/CMakeLists.txt says it
# What makes WebAssembly, by Debian's names.
_WEB_PACKAGES = ("clang", "lld", "llvm", "wasi-libc", "libc++-dev-wasm32", "libclang-rt-dev-wasm32")
# What CMake looks for, of the many names that it knows, where nothing says which to take.
_COMPILERS = ("c++", "g++", "clang++")
_MAKES = ("make", "gmake")
_OF_CMAKE = frozenset('[]%#$?<>|\\";\n\r')
_PLACE = re.compile(r"^CMAKE_(CACHEFILE_DIR|HOME_DIRECTORY):INTERNAL=(.*)$", re.MULTILINE)
_COMPILES_RUNTIME = "-- Compiling the runtime"  # what runtime_cache.cmake says
_STEP = re.compile(r"\[ *(\d+)(?:/(\d+)|%)\] ")  # of Ninja: files done of all; of Make: per cent


def program_path(directory: Path) -> Path:
    """Where the program of a generated folder is built."""
    manifest = read_manifest(directory)
    name, verb = manifest["name"], verbs()[manifest["task"]].replace("_", "-")
    return build_folder(directory.absolute()) / "bin" / (verb if name == DEFAULT_MODEL else f"{verb}-{name}")


def check_buildable(directory: Path) -> None:
    """EtchError where CMake or its generators take characters of the path for something else."""
    found = sorted(character for character in set(str(directory.absolute())) if character in _OF_CMAKE)
    if found:
        message = f"{directory} cannot be built in: CMake has other uses for {' '.join(found)} in a path"
        raise EtchError("build-path", "build", message)


def build_folder(directory: Path) -> Path:
    """Where a generated folder is built, in itself: EtchError where it cannot be, or a link leads elsewhere."""
    check_buildable(directory)
    folder = directory / "build"
    for path in (folder, folder / "bin"):
        if path.is_symlink():
            raise EtchError("not-a-regular-file", "build", f"{path} is a link: remove it")
    return folder


def build(directory: Path, echo: Callable[[str], None] = lambda _: None) -> Path:
    """Builds libraries and program of a generated folder into its `build/bin` and returns the program."""
    directory = directory.absolute()
    check_folder(directory, "build")
    binary = build_folder(directory)
    _configure_and_build(binary, [f"-DETCH_MODEL_DIRS={directory}", "-DETCH_BUILD_TESTS=OFF"], echo)
    program = program_path(directory)
    alias = program.parent / program.name.removesuffix(f"-{read_manifest(directory)['name']}")
    if alias != program:
        made = alias.with_name(f".{alias.name}-{os.getpid()}")  # another process may be at the same point
        made.symlink_to(program.name)
        made.replace(alias)
    return program


def build_shared(directory: Path, echo: Callable[[str], None] = lambda _: None) -> Path:
    """Builds the shared library of a generated folder in its `build/shared`."""
    name = read_manifest(directory)["name"]
    return _build_library(directory, "shared", echo) / f"libetch_{name}.so"


def build_sqlite(directory: Path, echo: Callable[[str], None] = lambda _: None) -> Path:
    """Builds the loadable extension of SQLite of a generated folder in its `build/sqlite`."""
    name = read_manifest(directory)["name"]
    try:
        return _build_library(directory, "sqlite", echo) / f"{name}.so"
    except EtchError as error:
        if error.code != "configure-failed" or _NO_SQLITE_HEADER not in error.detail:
            raise
        raise EtchError(
            "sqlite-header-missing", "build", f"{_NO_SQLITE_HEADER}: apt-get install libsqlite3-dev"
        ) from None


def build_web(directory: Path, echo: Callable[[str], None] = lambda _: None) -> Path:
    """Builds the module of WebAssembly of a generated folder in its `build/web`."""
    name = read_manifest(directory)["name"]
    toolchain = ["--toolchain", str(ROOT / "tools" / "web" / "toolchain.cmake")]
    return _build_library(directory, "web", echo, toolchain, check_web_compiler) / f"{name}.wasm"


def build_bench(directory: Path, echo: Callable[[str], None] = lambda _: None) -> Path:
    """Builds the benchmark of a generated folder, which times each op, in its `build/bench`. EtchError where it cannot
    be: its sources are in the checkout of etch, and it takes Google Benchmark."""
    name = f"bench-{read_manifest(directory)['name']}"
    binary = build_folder(directory.absolute()) / "bench"
    options = [f"-DETCH_MODEL_DIRS={directory.absolute()}", "-DETCH_BUILD_BENCH=ON"]
    _configure_and_build(binary, [*options, "-DETCH_BUILD_PROGRAMS=OFF", "-DETCH_INSTALL=OFF"], echo, name)
    return binary / "bin" / name


def check_web_compiler() -> None:
    """EtchError where clang, its linker or the headers and libraries for WebAssembly are not there."""
    source = "#include <string>\nint length() { return (int)std::string(1000, ' ').size(); }\n"
    command = ["clang++", "--target=wasm32-wasi", "-msimd128", "-fno-exceptions", "-mexec-model=reactor", "-xc++", "-"]
    try:
        done = subprocess.run([*command, "-o", os.devnull], input=source, capture_output=True, text=True, check=False)
        problem = done.stderr if done.returncode != 0 else ""
    except OSError as error:
        problem = f"clang++: {error.strerror}\n"
    problem += "" if shutil.which("llvm-ar") else "llvm-ar: not found\n"
    if problem:
        message = f"clang cannot make WebAssembly here: apt-get install {' '.join(_WEB_PACKAGES)}"
        raise EtchError("web-compiler-missing", "build", message, detail=problem.rstrip("\n"))


def _build_library(
    directory: Path,
    kind: str,
    echo: Callable[[str], None],
    more: Sequence[str] = (),
    check_machine: Callable[[], None] = lambda: None,
) -> Path:
    """Builds the target of a `kind` that its option ETCH_BUILD_KIND adds; the folder that it is in. `check_machine` is
    asked for what this one lacks behind the folder, in which the caller may mend something."""
    directory = directory.absolute()
    check_folder(directory, "build")
    check_machine()
    name = read_manifest(directory)["name"]
    binary = build_folder(directory) / kind
    options = [f"-DETCH_MODEL_DIRS={directory}", f"-DETCH_BUILD_{kind.upper()}=ON"]
    options += ["-DETCH_BUILD_PROGRAMS=OFF", "-DETCH_INSTALL=OFF", *more]
    _configure_and_build(binary, options, echo, f"etch_{name}_{kind}")
    return binary / "bin"


def boards() -> list[str]:
    """Those that a firmware can be linked for; none in an installed package."""
    return sorted(path.parent.name for path in (ROOT / "firmware-demo" / "boards").glob("*/config.hpp"))


def build_firmware(directory: Path, board: str, echo: Callable[[str], None]) -> Path:
    """Builds the firmware of a board with the model of a generated folder in it, in its `build/firmware-BOARD`."""
    directory = directory.absolute()
    check_folder(directory, "build")
    binary = build_folder(directory) / f"firmware-{board}"
    toolchain = ROOT / "firmware-demo" / "boards" / board / "toolchain.cmake"
    options = ["--toolchain", str(toolchain), f"-DETCH_BOARD={board}", f"-DETCH_FIRMWARE_MODEL={directory}"]
    target = f"firmware-{board}"
    _configure_and_build(binary, [*options, "-DETCH_BUILD_PROGRAMS=OFF", "-DETCH_INSTALL=OFF"], echo, target)
    return binary / "bin" / f"{target}.elf"


def _configure_and_build(
    binary: Path, options: list[str], echo: Callable[[str], None], target: str | None = None
) -> None:
    check_programs(binary, options)
    echo(f"building in {binary}")
    # Said even where there is none: the folder's own CMakeCache.txt may name another. No launcher: what ccache has kept
    # comes without the call graph beside it, which the check of the stack reads.
    options = [f"-DETCH_RUNTIME_CACHE={runtime_cache(echo) or ''}", "-DCMAKE_CXX_COMPILER_LAUNCHER=", *options]
    options = ["-DCMAKE_BUILD_TYPE=Release", *options]
    chosen = [] if target is None else ["--target", target]
    binary.mkdir(parents=True, exist_ok=True)
    with locked(binary, wait=True):  # two at once break each other's files
        _forget_another_place(binary)
        _run(["cmake", "-S", str(ROOT), "-B", str(binary), *options], "configure", echo)
        _run(["cmake", "--build", str(binary), "--parallel", str(os.cpu_count() or 1), *chosen], "compile", echo)


def check_programs(binary: Path, options: Sequence[str] = ()) -> None:
    """EtchError where nothing is installed that builds in the folder `binary`, with such options of CMake, or CXX names
    nothing that is: CMake would say it in many lines, and not how to mend it."""
    if shutil.which("cmake") is None:
        message = "cmake is not installed (3.22 or newer is needed): apt-get install cmake"
        raise EtchError("cmake-missing", "build", message)
    if "--toolchain" in options or (binary / "CMakeCache.txt").is_file():
        return  # those say which compiler is taken
    named = os.environ.get("CXX", "")
    if named and not any(map(shutil.which, (named, *named.split()[:1]))):  # a path with spaces, or one with options
        message = f"CXX is '{named}', which is no program here: let it name a C++ compiler, or unset it"
        raise EtchError("compiler-missing", "build", message)
    missing = [
        package
        for package, variable, names in (("g++", "CXX", _COMPILERS), ("make", "CMAKE_GENERATOR", _MAKES))
        if not os.environ.get(variable) and not any(map(shutil.which, names))
    ]
    if missing:
        message = f"there is no {' and no '.join(missing)}: apt-get install {' '.join(missing)}"
        raise EtchError("compiler-missing", "build", message)


def _forget_another_place(binary: Path) -> None:
    """What CMake wrote where this folder, or etch itself, was before it was moved: it refuses to go on with that."""
    cache = binary / "CMakeCache.txt"
    if not cache.is_file():
        return
    said = dict(_PLACE.findall(cache.read_text(encoding="utf-8", errors="replace")))
    places = {"CACHEFILE_DIR": binary, "HOME_DIRECTORY": ROOT}
    if any(Path(said.get(key, "")).resolve() != place.resolve() for key, place in places.items()):
        cache.unlink()
        shutil.rmtree(binary / "CMakeFiles", ignore_errors=True)


def _run(command: list[str], what: str, echo: Callable[[str], None] = lambda _: None) -> None:
    # A process group of its own, so that what CMake has started can be stopped with it.
    lines: list[str] = []
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        with stage(what, "step"):
            for line in process.stdout:
                lines = [*lines[1 - _LOG_LINES :], line.rstrip("\n")]
                if line.startswith(_COMPILES_RUNTIME):
                    kept = line.rstrip().partition(" from ")[2]
                    echo(f"compiling the runtime first, up to a minute; later builds take it from {kept}")
                if found := _STEP.match(line):
                    advance_to(int(found[1]), int(found[2] or 100))
                advance(0)
        process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    if process.returncode != 0:
        tail = "\n".join(lines)
        raise EtchError(
            f"{what}-failed", "build", f"`{' '.join(command)}` failed with exit {process.returncode}", detail=tail
        )
