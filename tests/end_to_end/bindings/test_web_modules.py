# SPDX-License-Identifier: Apache-2.0
"""Models as modules of WebAssembly: in Node they give the lines that their programs print, and so the same bits, with
scalar kernels and with vectors; of every task and recipe."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from classify_program import ROOT, Program, built
from model_build import build_program
from recorded_tasks import generated as recorded_model
from shape_models import Model, generated
from web_modules import ask, build_modules, needs_wasm

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(3), needs_wasm]

AGNEWS = ROOT / "generated" / "agnews"
GOLDEN = (ROOT / "tests" / "golden" / "texts.txt").read_text("utf-8").split("\n")[:-1]
KERNELS = ("wasm_simd", "scalar")
SHAPES = [
    *(Model("blocks", recipe) for recipe in ("w8a8", "w4a8", "fp32")),
    *(Model(shape) for shape in ("three_heads", "multi_label", "values", "mean")),
    Model("ten", "w4a8", "m-profile", "c"),
]
RECORDED = [("tags/bert", "w8a8"), ("masks/roberta", "w8a8"), ("answers/xlm-roberta", "w8a8")]


def texts() -> list[str]:
    """Words and bytes of any kind, short ones and more than any model takes; the same ones in each run."""
    source = random.Random(20260117)
    words = [chr(source.randrange(33, 0x3100)) * source.randrange(1, 9) for _ in range(40)]
    words += ["the", "cat", "sat", "[MASK]", "[SEP]", "<mask>", "😀", "e\u0301", "\u200b", "\0"]
    return ["", *(" ".join(source.choices(words, k=k)) for k in (1, 2, 3, 5, 8, 13, 21, 34, 55, 700))]


FUNCTIONS = {"--json": "answer", "--tokens": "encode"}


def compare(
    module: Path,
    program: Program,
    some: list[str],
    second: str | None = None,
    functions: tuple[str, ...] = tuple(FUNCTIONS),
) -> None:
    """Every kernel set against the program, line by line."""
    kernels = [kernel for kernel in KERNELS if "m_profile" not in module.name or kernel == "scalar"]
    lines = [json.dumps([text] if second is None else [text, second]) for text in some]
    assert lines
    for option in functions:
        function, expected = FUNCTIONS[option], []
        for text in some:
            asked = ["--", text] if second is None else ["--pair", text, second]
            expected += program.well(option, *asked).lines
        for kernel in kernels:
            got = ask(module, [("select_kernel", kernel, None), *((function, text, second) for text in some)])
            assert got == ["true", *expected], kernel


@pytest.fixture(scope="module")
def models(shared: Path) -> dict[str, Path]:
    folders = [AGNEWS, *(generated(model, shared) for model in SHAPES)]
    return {folder.name: folder for folder in folders + [recorded_model(*one, shared) for one in RECORDED]}


@pytest.fixture(scope="module")
def modules(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build_modules(models.values(), tmp_path_factory.mktemp("web"))


def test_the_golden_texts(modules: dict[str, Path]) -> None:
    compare(modules["agnews"], built("classify"), GOLDEN)


def test_every_task_and_recipe(models: dict[str, Path], modules: dict[str, Path]) -> None:
    for name, folder in models.items():
        if folder != AGNEWS:
            program = build_program(folder)
            some = [text.replace("\0", " ") for text in texts()]
            asks = json.loads((folder / "etch.json").read_text())["task"] == "answering"
            compare(modules[name], program, some, functions=("--tokens",) if asks else tuple(FUNCTIONS))
            if json.loads(ask(modules[name], [("describe", "", None)])[0])["pairs"]:
                compare(modules[name], program, some[1:4], "the cat sat on the mat.")


def test_self_tests_and_names(models: dict[str, Path], modules: dict[str, Path]) -> None:
    for name, module in modules.items():
        said = ask(module, [("self_test", "", None), ("select_kernel", "avx2", None), ("describe", "", None)])
        assert said[:2] == ["true", "status 7: no kernel of that name exists for this model's packing"]
        told, manifest = json.loads(said[2]), json.loads((models[name] / "etch.json").read_text())
        assert {key: told[key] for key in ("name", "recipe", "max_tokens", "table_bytes", "arena_bytes")} == {
            key: manifest[key] for key in ("name", "recipe", "max_tokens", "table_bytes", "arena_bytes")
        }
        assert told["kernel"] == ("plain" if manifest["target"] == "m-profile" else "wasm_simd")


def test_the_module_is_little_more_than_the_tables(modules: dict[str, Path], models: dict[str, Path]) -> None:
    for name, module in modules.items():
        tables = json.loads((models[name] / "etch.json").read_text())["table_bytes"]
        assert module.stat().st_size <= tables + 250_000, name
