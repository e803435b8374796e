# SPDX-License-Identifier: Apache-2.0
"""The plain C header of a model of each task: clean C99 and C11, and the results of the C++ functions bit for bit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from classify_program import ROOT, tool
from generator_program import etch
from projects import HERE, done
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
# What c_header.c has to know of a task: its functions, the result's array, the names of outputs.
TASKS = {
    "single_label": ("classify", "logits", "LABEL_COUNT", "label"),
    "multi_label": ("classify", "logits", "LABEL_COUNT", "label"),
    "regression": ("regress", "value", "VALUE_COUNT", "value_name"),
    "embedding": ("embed", "embedding", "EMBEDDING_WIDTH", None),
}


@pytest.fixture(scope="module", params=list(TASKS))
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A task, and a generated folder of the model `tiny`."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "embedding":
        prompts = {"prompts": {"query": "the cat ", "document": ""}, "default_prompt_name": "query"}
        write_tiny_sentence_model(folder / "checkpoint", pooling="max", settings=prompts)
    else:
        kind = {"multi_label": "multi_label_classification", "regression": "regression"}.get(request.param)
        write_tiny_checkpoint(folder / "checkpoint", problem_type=kind)
    outcome = etch("generate", folder / "checkpoint", "--out", folder / "tiny", "--tables", "c")
    assert outcome.code == 0, outcome.err
    return request.param, folder / "tiny"


PARTS = f"-I{ROOT / 'runtime/src'}"  # of a tokenizer, which a model's own source is made of


def includes(folder: Path) -> list[str]:
    return [f"-I{ROOT / 'runtime/include'}", f"-I{folder}"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("standard", ["c99", "c11", "c17"])
def test_the_header_is_clean_c(model: tuple[str, Path], compiler: str, standard: str, tmp_path: Path) -> None:
    (tmp_path / "only.c").write_text('#include "tiny.h"\n#include "tiny.h"\nint nothing;\n')
    done(tool(compiler), f"-std={standard}", *STRICT, "-fsyntax-only", *includes(model[1]), "only.c", cwd=tmp_path)


def test_the_header_is_clean_cpp_too(model: tuple[str, Path], tmp_path: Path) -> None:
    (tmp_path / "both.cpp").write_text('#include "tiny.h"\n#include "tiny.hpp"\n')
    done(tool("g++"), "-std=c++17", *STRICT, "-fsyntax-only", *includes(model[1]), "both.cpp", cwd=tmp_path)


def test_c_gets_what_cpp_gets(model: tuple[str, Path], build: Path, tmp_path: Path) -> None:
    task, folder = model
    verb, outputs, count, names = TASKS[task]
    macros = [f"-DVERB={verb}", f"-DOUTPUTS={outputs}", f"-DCOUNT=ETCH_TINY_{count}"]
    if names is not None:
        macros.append(f"-DNAME_OF=etch_tiny_{names}")
    cpp = ("-std=c++17", "-O2", "-ffp-contract=off", *STRICT, *macros, *includes(folder), PARTS)
    done(tool("gcc"), "-std=c99", "-O2", *STRICT, *macros, *includes(folder), "-c", HERE / "c_header.c", cwd=tmp_path)
    of_model = sorted(folder.glob("*.cpp"))
    sources = [HERE / "c_header_reference.cpp", *of_model]
    for source in sources:
        done(tool("g++"), *cpp, "-c", source, cwd=tmp_path)
    objects = sorted(tmp_path.glob("*.o"))
    assert len(objects) == len(sources) + 1
    done(tool("g++"), *objects, build / "bin/libetch.a", "-o", "program", cwd=tmp_path)
    assert done(tmp_path / "program", cwd=tmp_path) == "the same\n"


def test_a_c_program_needs_no_cpp_library(model: tuple[str, Path], build: Path, tmp_path: Path) -> None:
    """Linked by the C compiler, which adds no C++ library; the self test only where it is called."""
    (tmp_path / "main.c").write_text(
        '#include "tiny.h"\nstatic etch_tiny_workspace workspace;\n'
        "int main(void) { return (int)etch_tiny_kernel(&workspace).size == 0; }\n"
    )
    for source in sorted(model[1].glob("*.cpp")):
        options = ("-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-fno-math-errno")
        done(tool("g++"), *options, *includes(model[1]), PARTS, "-c", source, cwd=tmp_path)
    done(tool("ar"), "rcs", "libtiny.a", *sorted(tmp_path.glob("*.o")), cwd=tmp_path)
    libraries = (tmp_path / "libtiny.a", build / "bin/libetch.a")
    done(tool("gcc"), "-std=c99", *includes(model[1]), "main.c", *libraries, "-o", "program", cwd=tmp_path)
    done(tmp_path / "program", cwd=tmp_path)
    symbols = done(tool("nm"), "program", cwd=tmp_path)
    assert "etch_tiny_kernel" in symbols
    assert "self_test" not in symbols


def test_every_function_is_declared_and_defined(model: tuple[str, Path], tmp_path: Path) -> None:
    """A C function for each of the C++ header, and no symbol of C but those."""
    task, folder = model
    for name in ("tiny_c.cpp", "tiny_self_test.cpp"):
        done(tool("g++"), "-std=c++17", *includes(folder), "-c", folder / name, cwd=tmp_path)
    lines = done(tool("nm"), "--defined-only", "-g", *sorted(tmp_path.glob("*.o")), cwd=tmp_path).splitlines()
    defined = {line.split()[-1].removeprefix("etch_tiny_") for line in lines if " T etch_tiny_" in line}
    verb = TASKS[task][0]
    extra = {"embedding": {"similarity", "prompt", "prompt_name"}, "regression": {"value_name"}}.get(task, {"label"})
    common = {"encode", "encode_pair", "piece", "select_kernel", "kernel", "usable_kernel", "self_test", "describe"}
    common |= {"begin", "begin_pair", "begin_tokens", "step"}
    assert defined == common | extra | {verb, f"{verb}_pair", f"{verb}_batch", f"{verb}_tokens"}
    assert set(re.findall(r"\betch_tiny_(\w+)\(", (folder / "tiny.h").read_text())) >= defined
