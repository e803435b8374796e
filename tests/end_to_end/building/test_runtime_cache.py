# SPDX-License-Identifier: Apache-2.0
"""Compiled runtimes that builds share: compiled once, only used as they were written, by whoever may.

Builds are whole, but of a compiler that makes empty objects of etch's sources and notes their names. That programs are
the same with and without, test_hostile_strings.py says.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from classify_program import ROOT
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.building import build
from codegen.building.runtime_cache import runtime_cache

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("c++") is None, reason="no CMake, no C++")
MODULE = ROOT / "runtime" / "cmake" / "runtime_cache.cmake"

COMPILER = """#!/bin/sh
# {real}, but for etch's own sources and programs
object= source= previous=
for word; do
    case $previous in
        -o) object=$word ;;
        -MF) : >"$word" ;;
    esac
    case $word in "{root}"/*.cpp | "{models}"/*.cpp) source=$word ;; esac
    previous=$word
done
if [ -n "$source" ]; then
    echo "$source" >>"{log}"
    cp "{empty}" "$object"
    : >"${{object%.o}}.ci"
    exit
fi
case $object in
    etch-stack) printf '#!/bin/sh\\n: >"$3"\\n' >"$object" && chmod +x "$object" ;;
    *bin/*) : >"$object" ;;
    *) exec "{real}" "$@" ;;
esac
"""


class Place:
    """A cache, a compiler, and models to build with both."""

    def __init__(self, root: Path, model: Path) -> None:
        self.cache, self.models, self._model, self._log = root / "cache", root / "models", model, root / "compiled"
        real = shutil.which("c++")
        empty = root / "empty.o"
        subprocess.run([str(real), "-x", "c++", "-c", "-o", empty, "/dev/null"], check=True)
        compiler = root / "c++"
        names = {"real": real, "root": ROOT, "models": self.models, "log": self._log, "empty": empty}
        compiler.write_text(COMPILER.format(**names))
        compiler.chmod(0o755)
        self.said = ""  # by the last build
        self.environment = os.environ | {"CXX": str(compiler), "ETCH_CACHE": str(self.cache), "CCACHE_DISABLE": "1"}

    def folder(self, name: str) -> Path:
        """A generated folder that was not built before."""
        folder = self.models / name
        shutil.copytree(self._model, folder)
        return folder

    def start(self, folder: Path, **environment: str) -> subprocess.Popen[str]:
        # Whoever runs these tests in the background of a script has them ignore SIGINT.
        code = "import signal, sys, pathlib; signal.signal(signal.SIGINT, signal.default_int_handler);"
        code += "from codegen.building.build import build; print(build(pathlib.Path(sys.argv[1]), print))"
        return subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            cwd=ROOT,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def build(self, name: str, **environment: str) -> list[str]:
        """Builds a model; the sources that were compiled for it, by their names."""
        self._log.unlink(missing_ok=True)
        process = self.start(self.folder(name), **environment)
        self.said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, self.said
        return self.compiled()

    def compiled(self) -> list[str]:
        return sorted(Path(line).name for line in self._log.read_text().splitlines())

    def entries(self) -> list[Path]:
        """All that the cache holds but locks."""
        return sorted(path for path in self.cache.glob("runtime/*") if path.suffix != ".lock")


# And that of tools/cli.
OF_A_MODEL = ["model.cpp", "model.cpp", "model_c.cpp", "model_self_test.cpp", "model_tokenizer.cpp"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    write_tiny_checkpoint(folder / "checkpoint")
    pipeline.generate(pipeline.Request(folder / "checkpoint", folder / "model", max_tokens=16), lambda _: None)
    return folder / "model"


@pytest.fixture
def place(tmp_path: Path, generated: Path) -> Place:
    return Place(tmp_path, generated)


@pytest.mark.sweep
def test_the_second_build_compiles_no_runtime(place: Place) -> None:
    """Neither one of another model, nor one whose flags were used before; other flags have an entry of their own."""
    first = place.build("first")
    assert {"registry.cpp", "thread_pool.cpp", "main.cpp"} <= set(first)
    assert (
        f"\ncompiling the runtime first, up to a minute; later builds take it from {place.cache}/runtime\n"
        in place.said
    )
    [entry] = place.entries()
    assert (entry / "etch-stack").is_file()
    assert place.build("second") == OF_A_MODEL
    assert "runtime" not in place.said
    assert (place.models / "second/build/bin/classify-model").exists()
    members = subprocess.run(
        ["ar", "t", place.models / "second/build/bin/libetch.a"], capture_output=True, text=True, check=True
    )
    assert "registry.cpp.o" in members.stdout.split()
    assert len(place.build("flags", CXXFLAGS="-DOTHER")) == len(first)
    assert len(place.entries()) == 2
    assert place.build("flags again", CXXFLAGS="-DOTHER") == OF_A_MODEL
    for entry in place.entries():
        told = (entry / "entry.txt").read_text()
        assert " runtime/src/status.cpp\n" in told
        assert ".md\n" not in told  # pages change no object


@pytest.mark.sweep
def test_a_damaged_entry_is_compiled_again(place: Place) -> None:
    first = place.build("first")
    [entry] = place.entries()
    whole = {path: path.read_bytes() for path in entry.rglob("*") if path.is_file()}
    with (entry / "etch.dir/src/status.cpp.o").open("ab") as damaged:
        damaged.write(b"x")
    assert place.build("second") == first
    assert {path: path.read_bytes() for path in entry.rglob("*") if path.is_file()} == whole
    assert place.build("third") == OF_A_MODEL


@pytest.mark.sweep
def test_two_at_once(place: Place) -> None:
    """One compiles, the other waits for it."""
    processes = [place.start(place.folder(name)) for name in ("one", "two")]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert place.compiled().count("registry.cpp") == 1
    assert len(place.entries()) == 1
    for name in ("one", "two"):
        assert (place.models / name / "build/bin/classify-model").exists()


@pytest.mark.sweep
def test_stopped_meanwhile(place: Place) -> None:
    """No entry comes of it, and no process goes on; the next build removes what is left."""
    process = place.start(place.folder("stopped"))
    while process.poll() is None and not any(path.suffix == ".part" for path in place.entries()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert all(path.suffix == ".part" for path in place.entries())
    place.build("next")
    assert [path.suffix for path in place.entries()] == [""]


@pytest.mark.sweep
def test_without_a_cache(place: Place) -> None:
    assert "registry.cpp" in place.build("off", ETCH_CACHE="off")
    assert not place.cache.exists()


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    folder = tmp_path / "cache" / "key"
    (folder / "etch.dir").mkdir(parents=True)
    for name in ("etch-stack", "etch.dir/a.cpp.o", "etch.dir/a.cpp.ci"):
        (folder / name).write_bytes(name.encode() + b"\0\xff")
    done = cmake(folder, 'etch_describe_entry(said ${ENTRY} "${MADE_OF}")\nfile(WRITE ${ENTRY}/entry.txt "${said}")\n')
    assert done == ""
    return folder


def cmake(entry: Path, lines: str, made_of: str = "flags -O2; [a]") -> str:
    """What CMake says of lines that call the functions of the module."""
    script = entry.parent / "script.cmake"
    script.write_text(f"include({MODULE})\nset(ENTRY {entry})\nset(MADE_OF [==[{made_of}\n]==])\n{lines}")
    done = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=True)
    return done.stderr


def is_whole(entry: Path, **keywords: str) -> bool:
    said = cmake(entry, 'etch_entry_is_whole(${ENTRY} "${MADE_OF}" whole)\nmessage("${whole}")\n', **keywords)
    return {"TRUE\n": True, "FALSE\n": False}[said]


def test_an_entry_is_used_as_it_was_written(entry: Path) -> None:
    assert is_whole(entry)
    assert not is_whole(entry, made_of="flags -O3; [a]")  # of another build, under this one's name


def _exchange(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "etch.dir/a.cpp.o").write_bytes(b"other"),
        lambda entry: (entry / "etch.dir/a.cpp.o").unlink(),
        lambda entry: (entry / "etch-stack").write_bytes(b""),
        lambda entry: (entry / "etch.dir/b.cpp.o").write_bytes(b"one more"),
        lambda entry: (entry / "entry.txt").unlink(),
        lambda entry: (entry / "entry.txt").write_bytes((entry / "entry.txt").read_bytes()[:-1]),
        lambda entry: (entry / "entry.txt").write_bytes(b""),
        lambda entry: _exchange(entry / "etch.dir/a.cpp.o"),
        lambda entry: _exchange(entry / "entry.txt"),
        shutil.rmtree,
    ],
)
def test_damaged_entries(entry: Path, damage: Callable[[Path], object]) -> None:
    damage(entry)
    assert not is_whole(entry)


@pytest.fixture
def said() -> Iterator[list[str]]:
    lines: list[str] = []
    yield lines
    assert all("\n" not in line for line in lines)


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    def folder(**variables: str) -> Path | None:
        for name in ("ETCH_CACHE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return runtime_cache(said.append)

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    xdg = str(tmp_path / "xdg")
    assert folder() == tmp_path / "home/.cache/etch/runtime"
    assert folder(XDG_CACHE_HOME=xdg) == tmp_path / "xdg/etch/runtime"
    assert folder(XDG_CACHE_HOME="relative") == tmp_path / "home/.cache/etch/runtime"
    assert folder(XDG_CACHE_HOME=xdg, ETCH_CACHE="here") == tmp_path / "here/runtime"
    assert folder(XDG_CACHE_HOME=xdg, ETCH_CACHE="off") is None
    assert said == []
    assert stat.S_IMODE((tmp_path / "here/runtime").stat().st_mode) == 0o700


def test_folders_that_are_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    """A build goes on without, and says why."""

    def reason(name: str) -> str:
        monkeypatch.setenv("ETCH_CACHE", str(tmp_path / name))
        assert runtime_cache(said.append) is None
        return said.pop()

    (tmp_path / "open/runtime").mkdir(parents=True)
    (tmp_path / "open/runtime").chmod(0o777)
    assert "others may write there" in reason("open")
    (tmp_path / "file").write_text("")
    assert "file/runtime: Not a directory (ETCH_CACHE names another folder)" in reason("file")
    assert "CMake has other uses" in reason("a;b")
    (tmp_path / "of another/runtime").mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert "it belongs to another user" in reason("of another")


def test_what_nothing_uses_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCH_CACHE", str(tmp_path))
    folder = tmp_path / "runtime"
    for key, days in (("old", 90), ("used", 3)):
        (folder / key / "etch.dir").mkdir(parents=True)
        (folder / f"{key}.x.part").mkdir()
        (folder / f"{key}.lock").write_text("")
        os.utime(folder / f"{key}.lock", (time.time() - days * 86400,) * 2)
    folder.chmod(0o700)
    assert runtime_cache(lambda _: None) == folder
    assert sorted(path.name for path in folder.iterdir()) == ["used", "used.lock", "used.x.part"]


def test_what_a_folder_brings_names_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its CMakeCache.txt may; the command line decides."""
    commands: list[list[str]] = []
    monkeypatch.setenv("ETCH_CACHE", "off")
    monkeypatch.setattr(build, "_run", lambda command, *_: commands.append(command))
    build._configure_and_build(tmp_path, [], lambda _: None)
    assert "-DETCH_RUNTIME_CACHE=" in commands[0]
