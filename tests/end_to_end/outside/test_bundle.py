# SPDX-License-Identifier: Apache-2.0
"""`etch bundle`: plain files that one compiler line makes a program of, with the bits of any other build."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT, tool
from folder_content import content
from generator_program import etch, one_line
from projects import HERE, TEXT, done, project
from sampling import sampled
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

SELF_TEST = """
#include <MODEL.hpp>
static etch::MODEL::Workspace workspace;
int main() {
    for (std::size_t i = 0; !etch::MODEL::usable_kernel(i).empty(); ++i) {
        if (etch::MODEL::select_kernel(workspace, etch::MODEL::usable_kernel(i)) != etch::Status::ok) return 2;
        if (etch::MODEL::self_test(workspace) != etch::Status::ok) return 1;
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model's."""
    folder = tmp_path_factory.mktemp("bundles") / "agnews"
    outcome = etch("bundle", "generated/agnews", "--out", folder)
    assert outcome.code == 0, outcome.err
    assert outcome.lines[-1] == line_of(folder)
    return folder


@pytest.fixture(scope="module")
def small(bundle: Path) -> Path:
    """Another model's."""
    folder = bundle.with_name("agnews_small")
    outcome = etch("bundle", "generated/agnews_small", "--out", folder)
    assert outcome.code == 0, outcome.err
    return folder


def line_of(folder: Path) -> str:
    [line] = re.findall(r"^g\+\+ .*$", (folder / "README.txt").read_text(), re.MULTILINE)
    return str(line)


def objects(compiler: str, folder: Path, sources: list[Path], into: Path) -> list[Path]:
    """Compiled with the flags of the bundle in `folder`, several at once, for the line itself takes its time."""
    flags = [word for word in shlex.split(line_of(folder)) if word.startswith("-") and word != "-o"]
    made = {into / f"{index}.o": source for index, source in enumerate(sources)}
    rules = [f"all: {' '.join(path.name for path in made)}\n"]
    for path, source in made.items():
        command = [compiler, "-Wall", "-Wextra", "-Werror", *flags, "-c", str(source), "-o", str(path)]
        rules.append(f"{path.name}:\n\tcd {shlex.quote(str(folder))} && {shlex.join(command)}\n")
    into.mkdir()
    (into / "Makefile").write_text("".join(rules))
    done(tool("make"), f"-j{os.cpu_count()}", cwd=into)
    return list(made)


@pytest.mark.sweep
@pytest.mark.long_case("a bundle in a Makefile")
def test_makefile(bundle: Path, answer: str, tmp_path: Path) -> None:
    source = project(tmp_path, "bundle")
    shutil.copytree(bundle, source / "agnews")
    compiler = f"CXX={tool('g++')} -Wall -Wextra -Wconversion -Werror"
    done(tool("make"), f"-j{os.cpu_count()}", compiler, cwd=source)
    assert done(source / "app", cwd=tmp_path) == answer

    # From C, as README.txt says.
    shutil.copy(HERE / "main.c", source)
    done(tool("gcc"), "-std=c99", "-Iagnews/include", "-c", "main.c", cwd=source)
    others = sorted((source / "build/agnews").rglob("*.o"))
    done(tool("g++"), "main.o", *others, "-o", "c_app", cwd=source)
    assert done(source / "c_app", cwd=tmp_path) == answer


@pytest.mark.sweep
@pytest.mark.parametrize("compiler", sampled(["g++", "clang++"], 1, "the line of a bundle"))
@pytest.mark.long_case("the line of a bundle")
def test_the_line(compiler: str, bundle: Path, answer: str, tmp_path: Path) -> None:
    """As it is printed, but for the compiler's name."""
    copy = shutil.copytree(bundle, tmp_path / "agnews")
    assert line_of(copy).startswith("g++ ")
    done("sh", "-c", tool(compiler) + line_of(copy).removeprefix("g++"), cwd=copy)
    assert done(copy / "example", TEXT, cwd=tmp_path) == answer


@pytest.mark.sweep
@pytest.mark.long_case("a bundle on AArch64")
def test_aarch64(bundle: Path, answer: str, tmp_path: Path) -> None:
    emulator, compiler = tool("qemu-aarch64"), tool("aarch64-linux-gnu-g++")
    sources = [bundle / "example.cpp", *bundle.glob("model/*.[cS]*"), *bundle.glob("runtime/**/*.cpp")]
    done(compiler, "-static", *objects(compiler, bundle, sources, tmp_path / "objects"), "-o", "example", cwd=tmp_path)
    assert done(emulator, tmp_path / "example", TEXT, cwd=tmp_path) == answer


@pytest.mark.sweep
@pytest.mark.parametrize("compiler", sampled(["g++", "clang++"], 1, "bundles of tasks"))
@pytest.mark.long_case("bundles of tasks")
def test_every_task_passes_its_self_test(compiler: str, bundle: Path, tmp_path: Path) -> None:
    runtime = objects(tool(compiler), bundle, sorted(bundle.glob("runtime/**/*.cpp")), tmp_path / "runtime")
    write_tiny_checkpoint(tmp_path / "of single")
    write_tiny_checkpoint(tmp_path / "of multi", problem_type="multi_label_classification")
    write_tiny_checkpoint(tmp_path / "of regression", problem_type="regression")
    write_tiny_sentence_model(tmp_path / "of sentence")
    for name, tables in (("single", "incbin"), ("multi", "c"), ("regression", "c"), ("sentence", "incbin")):
        outcome = etch("generate", tmp_path / f"of {name}", "--out", tmp_path / name, "--tables", tables)
        assert outcome.code == 0, outcome.err
        folder = tmp_path / f"bundle of {name}"
        assert etch("bundle", tmp_path / name, "--out", folder).code == 0
        assert content(folder / "runtime") == content(bundle / "runtime")
        assert ("*.S" in line_of(folder)) == (tables == "incbin")
        (tmp_path / "self_test.cpp").write_text(SELF_TEST.replace("MODEL", name))
        programs = [folder / "example.cpp", tmp_path / "self_test.cpp"]
        own = objects(tool(compiler), folder, programs + sorted(folder.glob("model/*.[cS]*")), tmp_path / f"{name} o")
        example, self_test, *model = own
        done(tool(compiler), self_test, *model, *runtime, "-o", "self_test", cwd=tmp_path)
        done(tmp_path / "self_test", cwd=tmp_path)
        done(tool(compiler), example, *model, *runtime, "-o", "example", cwd=tmp_path)
        assert done(tmp_path / "example", TEXT, cwd=tmp_path)


def two_models(compiler: str, bundles: tuple[Path, Path], into: Path) -> Path:
    """An object of the example of two models, with the headers of two bundles."""
    flags = [f"-I{folder / 'include'}" for folder in bundles]
    source = ROOT / "tools/examples/two_models.cpp"
    done(compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", *flags, "-c", source, "-o", "two.o", cwd=into)
    return into / "two.o"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_of_two_bundles(compiler: str, bundle: Path, small: Path, build: Path, tmp_path: Path) -> None:
    """Linked with the libraries of the build: another runtime's headers would name other functions."""
    program = two_models(tool(compiler), (bundle, small), tmp_path)
    libraries = [build / f"bin/libetch{name}.a" for name in ("_agnews", "_agnews_small", "")]
    done(tool("g++"), program, *libraries, "-o", "two", cwd=tmp_path)
    answer = subprocess.run(tmp_path / "two", input=TEXT, capture_output=True, text=True, check=True)
    assert answer.stdout.endswith("\tBusiness\n")


@pytest.mark.sweep
@pytest.mark.long_case("the line of a bundle")
def test_two_bundles_in_one_program(bundle: Path, small: Path, tmp_path: Path) -> None:
    """One runtime among them, or an archive of each."""
    program = two_models(tool("g++"), (bundle, small), tmp_path)
    runtime = objects(tool("g++"), bundle, sorted(bundle.glob("runtime/**/*.cpp")), tmp_path / "runtime")
    own = objects(tool("g++"), bundle, sorted(bundle.glob("model/*.[cS]*")), tmp_path / "agnews")
    others = objects(tool("g++"), small, sorted(small.glob("model/*.[cS]*")), tmp_path / "small")
    done(tool("g++"), program, *own, *others, *runtime, "-o", "two", cwd=tmp_path)
    done(tool("ar"), "qc", "agnews.a", *own, *runtime, cwd=tmp_path)
    done(tool("ar"), "qc", "small.a", *others, *runtime, cwd=tmp_path)
    done(tool("g++"), program, "agnews.a", "small.a", "-o", "of_archives", cwd=tmp_path)
    for name in ("two", "of_archives"):
        answer = subprocess.run(tmp_path / name, input=TEXT, capture_output=True, text=True, check=True)
        assert answer.stdout.endswith("\tBusiness\n")


def test_nothing_else_is_needed(bundle: Path) -> None:
    """Every quoted include names a file of the bundle, and no file names a place outside of it."""
    sources = [path for path in bundle.rglob("*") if path.suffix in {".cpp", ".hpp", ".h", ".inl"}]
    assert len(sources) > 50
    folders = [bundle / name for name in ("include", "runtime", "model")]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert str(ROOT) not in text
        for name in re.findall(r'#include "([^"]+)"', text):
            assert any((folder / name).is_file() for folder in (path.parent, *folders)), f"{path}: {name}"
    assert not list(bundle.rglob("hosted*"))


def test_the_same_input_gives_the_same_files(bundle: Path, tmp_path: Path) -> None:
    again = tmp_path / "else where, für dich"
    assert etch("bundle", ROOT / "generated/agnews", "--out", again, cwd=tmp_path, environment={"LANG": "C"}).code == 0
    assert content(again) == content(bundle)


def test_the_terms_of_the_model_are_in_it(bundle: Path) -> None:
    terms = (bundle / "model/agnews_terms.txt").read_text(encoding="utf-8")
    assert "non-commercial" in terms
    assert "model/agnews_terms.txt has what its folder said" in (bundle / "README.txt").read_text(encoding="utf-8")


def test_a_bundle_is_replaced(bundle: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bundle, tmp_path / "agnews")
    manifest = json.loads((copy / "etch.json").read_text())
    manifest["files"]["runtime/stale.cpp"] = "0" * 64
    (copy / "runtime/stale.cpp").write_text("")
    manifest["files"]["runtime/stale.cpp"] = subprocess.run(
        ["sha256sum", copy / "runtime/stale.cpp"], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    (copy / "etch.json").write_text(json.dumps(manifest))
    assert etch("bundle", "generated/agnews", "--out", copy).code == 0
    assert content(copy) == content(bundle)


# --- refusals: nothing is written ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"), [("mine.txt", ""), ("runtime/mine.cpp", ""), ("model/agnews.cpp", "changed")]
)
def test_what_etch_did_not_write_is_kept(path: str, text: str, bundle: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bundle, tmp_path / "agnews")
    (copy / path).write_text(text)
    before = content(copy)
    message = one_line(etch("bundle", "generated/agnews", "--out", copy), 1)
    assert f"'{path}'" in message
    assert "error[target-changed]" in message if text else "error[target-holds-other-files]" in message
    assert content(copy) == before


def test_a_symbolic_link_to_a_folder_is_kept(bundle: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bundle, tmp_path / "agnews")
    (copy / "runtime").rename(tmp_path / "runtime")
    (copy / "runtime").symlink_to(tmp_path / "runtime")
    one_line(etch("bundle", "generated/agnews", "--out", copy), 1)
    assert (tmp_path / "runtime/ops").is_dir()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "generated/agnews", tmp_path / "agnews", ignore=shutil.ignore_patterns("build"))


def test_a_generated_model_is_no_target(model: Path, tmp_path: Path) -> None:
    before = content(model)
    assert "error[target-is-a-model]" in one_line(etch("bundle", model, "--out", model), 1)
    assert content(model) == before


def test_a_changed_model_is_refused(model: Path, tmp_path: Path) -> None:
    (model / "agnews.cpp").write_text("int x;\n")
    message = one_line(etch("bundle", model, "--out", tmp_path / "out"), 1)
    assert "error[model-changed] bundle: 'agnews.cpp'" in message
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_named(model: Path, tmp_path: Path) -> None:
    (model / "agnews.tables").unlink()
    message = one_line(etch("bundle", model, "--out", tmp_path / "out"), 1)
    assert "error[file-missing]" in message and "agnews.tables" in message
    assert not (tmp_path / "out").exists()


def test_another_version_is_refused(model: Path, tmp_path: Path) -> None:
    version = json.loads((model / "etch.json").read_text())["generator"]
    (model / "etch.json").write_text((model / "etch.json").read_text().replace(f'"{version}"', '"0.0.9"'))
    message = one_line(etch("bundle", model, "--out", tmp_path / "out"), 1)
    assert f"generated by etch 0.0.9, runtime is {version}: run etch generate again" in message


@pytest.mark.parametrize("folder", ["nowhere", "tests"])
def test_what_is_no_model_is_refused(folder: str, tmp_path: Path) -> None:
    message = one_line(etch("bundle", folder, "--out", tmp_path / "out"), 1)
    assert "error[not-generated] bundle: " in message


def test_the_makefile_says_what_the_line_says(bundle: Path) -> None:
    makefile = (HERE / "bundle/Makefile").read_text()
    flags = [word for word in shlex.split(line_of(bundle)) if word.startswith(("-s", "-O", "-f"))]
    assert f"CXXFLAGS = {' '.join(flags)}\n" in makefile
