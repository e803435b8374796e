# SPDX-License-Identifier: Apache-2.0
"""tools/examples: each is short, compiles without a warning and says what the programs say."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT, built, tool
from generator_program import etch
from model_build import build_model
from projects import done
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

EXAMPLES = ROOT / "tools/examples"
STRICT = ["-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
TEXTS = ["Oil prices climb after the summit", "The striker scored twice", "A new chip", "", "word " * 400]

# The board of firmware_loop.cpp: bytes of standard input come one by one, whenever the loop feeds its watchdog.
BOARD = r"""
#include <cstdint>
#include <cstdio>
#include <cstdlib>
void uart_send(const char* text);
void feed_watchdog();
void main_loop();
extern "C" void uart_interrupt(std::uint8_t byte);
static int lines = 0, answers = 0;
void uart_send(const char* text) {
    std::printf("%s\n", text);
    ++answers;
}
void feed_watchdog() {
    if (lines > answers) return;  // the sender waits for the answer
    const int byte = std::getchar();
    if (byte == EOF) std::exit(0);
    lines += byte == '\n';
    uart_interrupt(static_cast<std::uint8_t>(byte));
}
int main() { main_loop(); }
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Name -> generated folder, as the examples call their models."""
    place = tmp_path_factory.mktemp("models")
    write_tiny_checkpoint(place / "labels")
    write_tiny_sentence_model(place / "vectors")
    for name, checkpoint in (("moderation", "labels"), ("minilm", "vectors")):
        assert etch("generate", place / checkpoint, "--out", place / name).code == 0
    for name in ("agnews", "agnews_small"):
        shutil.copytree(ROOT / "generated" / name, place / name, ignore=shutil.ignore_patterns("build"))
    return {name: place / name for name in ("agnews", "agnews_small", "moderation", "minilm")}


def program(models: dict[str, Path], out: Path, source: str, *names: str, more: tuple[Path, ...] = ()) -> Path:
    """An example, linked with these models."""
    linked = [build_model(models[name]) for name in names]
    compiler = ["gcc", "-std=c99"] if source.endswith(".c") else ["g++", "-std=c++17"]
    places = [f"-I{place}" for place in (ROOT / "runtime/include", *(models[name] for name in names))]
    libraries = [*(str(model.library) for model in linked), str(linked[0].runtime), "-pthread"]
    sources = [EXAMPLES / source, *more]
    done(*compiler, *STRICT, *places, *sources, *libraries, "-o", out / "program", cwd=out)
    return out / "program"


def answers(path: Path, *arguments: str | Path, texts: list[str]) -> list[str]:
    """The lines that a program prints for these lines of input."""
    given = "".join(f"{text}\n" for text in texts)
    ran = subprocess.run([path, *arguments], input=given, capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.splitlines()


def labels(path: Path, texts: list[str]) -> list[str]:
    """What the model's own program says."""
    return [json.loads(line)["label"] for line in answers(path, "--json", "--plain-text", texts=texts)]


def test_they_are_short() -> None:
    sources = [path for path in EXAMPLES.iterdir() if path.suffix in (".c", ".cpp", ".go", ".rs")]
    assert len(sources) == 9
    for path in sources:
        assert len(path.read_text().splitlines()) <= 60, path
        assert f"({path.name})" in (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("source", ["lines.cpp", "lines.c"])
def test_lines(source: str, models: dict[str, Path], tmp_path: Path) -> None:
    texts = [*TEXTS, "shares " * 5000, "Oil [SEP] prices [MASK] climb"]
    lines = answers(program(models, tmp_path, source, "agnews"), texts=texts)
    said = [json.loads(line) for line in answers(built("classify").path, "--json", "--plain-text", texts=texts)]
    assert [line.split("\t")[:2] for line in lines] == [[one["label"], f"{one['probability']:.4f}"] for one in said]
    assert [line.endswith("\tcut") for line in lines] == [False] * 4 + [True, True, False]


@pytest.mark.sweep
@pytest.mark.long_case("an example in Go")
def test_go(models: dict[str, Path], tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("no go: apt-get install golang-go")
    model = build_model(models["agnews"])
    environment = {
        "CGO_CFLAGS": f"-I{ROOT / 'runtime/include'} -I{models['agnews']}",
        "CGO_LDFLAGS": f"{model.library} {model.runtime}",
        "GOCACHE": str(tmp_path / "cache"),
        "GO111MODULE": "off",
    }
    source = EXAMPLES / "lines.go"
    done("go", "vet", source, cwd=tmp_path, environment=environment)
    done("go", "build", "-o", tmp_path / "lines", source, cwd=tmp_path, environment=environment)
    lines = answers(tmp_path / "lines", texts=["", *TEXTS])
    assert [line.split("\t")[0] for line in lines[1:]] == labels(built("classify").path, TEXTS)


def test_server_pool(models: dict[str, Path], tmp_path: Path) -> None:
    lines = answers(program(models, tmp_path, "server_pool.cpp", "agnews"), texts=TEXTS * 20)
    found = dict(line.split("\t") for line in lines)
    assert [found[str(number)] for number in range(100)] == labels(built("classify").path, TEXTS) * 20


def test_search(models: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("the cat\na dog sat\nthe mat\n")
    search = program(models, tmp_path, "search.cpp", "minilm")
    best, *others = answers(search, tmp_path / "lines.txt", "a dog sat", texts=[])
    assert best == "1.0000\ta dog sat"
    assert len(others) == 2
    assert all(float(line.split("\t")[0]) < 1 for line in others)
    assert subprocess.run([search], capture_output=True, check=False).returncode == 2
    missing = subprocess.run([search, "no such file", "a dog"], capture_output=True, text=True, check=False)
    assert (missing.returncode, missing.stdout, missing.stderr) == (1, "", "search: cannot open no such file\n")


def test_moderation(models: dict[str, Path], tmp_path: Path) -> None:
    lines = answers(program(models, tmp_path, "moderation.cpp", "moderation"), texts=["the cat", "a dog", "[SEP]"])
    assert [line.split("\t")[1] for line in lines] == ["the cat", "a dog", "[SEP]"]
    asked = build_model(models["moderation"]).program.well("--json", "--plain-text", "--pair", "the cat", "a dog")
    said = json.loads(asked.lines[0])
    assert lines[1].split("\t")[0] == ("ask a person" if said["probability"] < 0.6 else said["label"])


def test_two_models(models: dict[str, Path], tmp_path: Path) -> None:
    lines = answers(program(models, tmp_path, "two_models.cpp", "agnews", "agnews_small"), texts=TEXTS[:4])
    small = labels(build_model(models["agnews_small"]).program.path, TEXTS[:4])
    large = labels(built("classify").path, TEXTS[:4])
    assert {line.split("\t")[0] for line in lines} == {"small", "large"}
    for line, quick, other in zip(lines, small, large, strict=True):
        assert line.split("\t")[1] == (quick if line.startswith("small") else other)


def test_firmware_loop(models: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "board.cpp").write_text(BOARD)
    loop = program(models, tmp_path, "firmware_loop.cpp", "agnews_small", more=(tmp_path / "board.cpp",))
    texts = TEXTS[:4]
    assert answers(loop, texts=texts) == labels(build_model(models["agnews_small"]).program.path, texts)


def copied(out: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, out / "examples"))


def check(programs: Path) -> None:
    for name in ("lines", "lines_c"):
        assert answers(programs / name, texts=TEXTS[:1])[0].startswith("Business\t0.9")
    assert answers(programs / "server_pool", texts=TEXTS[:1]) == ["0\tBusiness"]


def test_make(prefix: Path, tmp_path: Path) -> None:
    tool("pkg-config")
    folder = copied(tmp_path)
    done(tool("make"), cwd=folder, environment={"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"})
    check(folder)


@pytest.mark.sweep
def test_cmake(prefix: Path, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    done("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
    done("cmake", "--build", "build", cwd=folder)
    check(folder / "build")


@pytest.mark.sweep
def test_meson(prefix: Path, tmp_path: Path) -> None:
    tool("pkg-config")
    folder = copied(tmp_path)
    done(tool("meson"), "setup", "build", "--pkg-config-path", f"{prefix}/lib/pkgconfig", cwd=folder)
    done(tool("meson"), "compile", "-C", "build", cwd=folder)
    check(folder / "build")
