# SPDX-License-Identifier: Apache-2.0
"""Windows on x86-64, by MinGW-w64: programs and an application run under Wine and print the bytes that those of this
build do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from classify_program import ROOT, built, tool
from projects import HERE, TEXT, done

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("Windows"), pytest.mark.minutes(2)]

MODELS = {"agnews": "classify", "agnews_small": "classify-agnews_small"}
COMPILER = "x86_64-w64-mingw32-g++-posix"
GOLDEN = ROOT / "tests/golden/texts.txt"


class Windows:
    """The programs of both models, built with the toolchain file of the pages, and a Windows to run them in."""

    def __init__(self, folder: Path) -> None:
        self.wine = tool("wine")
        self.environment = os.environ | {
            "WINEPREFIX": str(folder / "prefix"),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",  # which it would offer to download
        }
        self.environment.pop("ETCH_KERNEL", None)
        self.bin = folder / "build/bin"
        models = ";".join(str(ROOT / "generated" / name) for name in MODELS)
        toolchain = HERE / "subdirectory/windows.cmake"
        options = (f"-DETCH_MODEL_DIRS={models}", "-DCMAKE_CXX_FLAGS=-Werror", "--toolchain", str(toolchain))
        done(tool("cmake"), "-S", ROOT, "-B", "build", *options, cwd=folder)
        done(tool("cmake"), "--build", "build", "--parallel", str(os.cpu_count() or 1), cwd=folder)

    def run(self, program: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return _run([self.wine, str(program), *arguments], self.environment, stdin)

    def stop(self) -> None:
        subprocess.run([tool("wineserver"), "-k"], env=self.environment, timeout=60, check=False)


def _run(
    command: list[str], environment: Mapping[str, str] = os.environ, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=stdin, env=environment, capture_output=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Windows]:
    tool(COMPILER)
    made = Windows(tmp_path_factory.mktemp("windows"))
    yield made
    made.stop()


@pytest.fixture(scope="module", params=MODELS.values())
def both(request: pytest.FixtureRequest, windows: Windows) -> tuple[Path, Path]:
    """The program of a model for Windows, and for the system that tests it."""
    return windows.bin / f"{request.param}.exe", built(request.param).path


def test_each_kernel_set_passes_the_self_test(windows: Windows, both: tuple[Path, Path]) -> None:
    listed = windows.run(both[0], "--kernel", "list")
    own = _run([str(both[1]), "--kernel", "list"])
    assert listed.stdout == own.stdout
    names = listed.stdout.decode().split()
    assert {"scalar", "sse2"} <= set(names)
    for name in names:
        tested = windows.run(both[0], "--kernel", name, "--self-test")
        assert (tested.returncode, tested.stdout) == (0, b"ok\n"), name


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "--file", str(GOLDEN)),
        ("--tokens", "--file", str(GOLDEN)),
        ("--json", "--threads", "2", "--file", str(GOLDEN)),
        ("--json", "\u00dcble Stra\u00dfe, caf\u00e9 \u65e5\u672c\u8a9e \U0001f600", ""),
        ("--evaluate", str(ROOT / "tools/train/agnews/README.md")),
        ("--file", "no such file"),
        ("--file", str(ROOT)),
        ("--kernel", "nosuch", "x"),
        ("--nosuch",),
        ("--help",),
    ],
    ids=lambda arguments: " ".join(arguments).replace(str(ROOT), "")[:40],
)
def test_it_prints_the_same_bytes(windows: Windows, both: tuple[Path, Path], arguments: tuple[str, ...]) -> None:
    there, here = windows.run(both[0], *arguments), _run([str(both[1]), *arguments])
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)


def test_lines_of_standard_input_stay_bytes(windows: Windows, both: tuple[Path, Path]) -> None:
    lines = "\ufeffeine Zeile\r\n\r\nStra\u00dfe \x1a und weiter\nohne Ende".encode()
    there, here = windows.run(both[0], "--json", stdin=lines), _run([str(both[1]), "--json"], stdin=lines)
    assert there.stdout == here.stdout
    assert there.stdout.count(b"\n") == 4
    assert b"\r" not in there.stdout


def test_what_it_measures(windows: Windows) -> None:
    """The numbers are this machine's own; zeros of the arena are no part of the file."""
    program = windows.bin / "classify-agnews_small.exe"
    memory = windows.run(program, "--memory").stdout.decode()
    assert int(memory.split("initialized data ")[1].split()[0]) < 20_000
    assert "peak " in memory
    assert "not known" not in memory
    assert "tokens    runs" in windows.run(program, "--latency").stdout.decode()


def test_it_is_one_file(windows: Windows) -> None:
    """That loads no library but the system's own."""
    headers = done(tool("x86_64-w64-mingw32-objdump"), "-p", windows.bin / "classify.exe", cwd=windows.bin)
    loaded = {line.split()[-1].lower() for line in headers.splitlines() if "DLL Name" in line}
    assert loaded == {"kernel32.dll", "msvcrt.dll"}


def test_an_application(windows: Windows, answer: str, tmp_path: Path) -> None:
    folders = [f"-I{ROOT / folder}" for folder in ("runtime/include", "generated/agnews")]
    libraries = [windows.bin / "libetch_agnews.a", windows.bin / "libetch.a"]
    source = HERE / "main.cpp"
    done(tool(COMPILER), "-std=c++17", "-O2", "-static", *folders, source, *libraries, "-o", "app.exe", cwd=tmp_path)
    ran = windows.run(tmp_path / "app.exe", TEXT)
    assert ran.stdout.decode().replace("\r\n", "\n") == answer
