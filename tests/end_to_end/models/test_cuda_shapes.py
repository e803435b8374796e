# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of many shapes and every task, as their code for GPUs computes them over the stand-ins of the CUDA
runtime and cuBLASLt: in exact mode the bits of the CPU, in fast mode close to them; alone, in batches, in pairs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT, built_file
from sampling import sampled
from shape_models import MIXED, SHAPES, Model, case_of, generated

QUICK = [
    Model("ten"),
    Model("three_heads"),
    Model("three_tokens", "fp32"),
    Model("values"),
    Model("mean"),
    Model("cls", "fp32"),
    Model("three_heads", "w4a8", embedding_bits=4),
    Model("three_heads", "w7a8"),
]
SWEEP = [
    *(Model(shape) for shape in ("blocks", "narrow_heads", "one_head", "type_vocab_3", "multi_label", "one_label")),
    *(Model(shape) for shape in ("three_tokens", "one_value", "cls", "cls_normalized", "max", "mean_sqrt")),
    *(Model(shape, "fp32") for shape in ("ten", "three_heads", "multi_label", "mean", "max", "mean_sqrt")),
    *(Model(shape, "w4a8") for shape in ("ten", "one_head", "mean", "values")),
    Model("blocks", "w4a8", bits=MIXED),
    *(Model(shape, tables="c") for shape in SHAPES if shape.startswith("act_")),
]
MODELS = [*QUICK, *(pytest.param(model, marks=pytest.mark.sweep) for model in SWEEP)]

# Of the largest output: bf16 keeps 8 bits, and so do the rows of w8a8 that it is compared with; the models are random.
CLOSE = 0.12

_OUTPUTS = {"classify": "logits", "regress": "value", "embed": "embedding"}


def _libraries() -> list[str]:
    return [str(built_file(f"libetch{part}.a")) for part in ("_cuda_on_host", "_cuda_stand_in", "")]


def _cuda_headers() -> str:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return str(Path(nvcc).resolve().parent.parent / "include")


def _run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


@pytest.mark.parametrize("model", sampled(MODELS, 5, "shapes on a GPU"), ids=lambda model: model.name)
def test_the_gpus_code_computes_what_the_cpus_does(model: Model, shared: Path, tmp_path: Path) -> None:
    libraries = _libraries()
    out, case = generated(model, shared, gpu=True), case_of(model, shared)
    (tmp_path / "texts").write_bytes(b"".join(text + b"\n" for text in case.texts))
    (tmp_path / "pairs").write_bytes(b"".join(f"{a}\t{b}\n".encode() for a, b in case.pairs))
    verb = case.program.task.verb
    tables = f"{model.name}_tables.{'cpp' if model.tables == 'c' else 'S'}"
    sources = [out / f"{model.name}.cpp", out / f"{model.name}_cuda.cpp", out / tables]
    program = tmp_path / "compare"
    _run(
        *("c++", "-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
        *(f"-Wa,-I{out}", f"-I{out}", f"-I{ROOT / 'runtime/include'}", f"-I{ROOT / 'tests/runtime/cuda'}"),
        *("-isystem", _cuda_headers(), f"-DETCH_MODEL={model.name}", f"-DETCH_TASK(suffix)={verb}##suffix"),
        *(f'-DETCH_MODEL_HEADER="{model.name}.hpp"', f'-DETCH_MODEL_CUDA_HEADER="{model.name}_cuda.hpp"'),
        *(f"-DETCH_OUTPUTS(result)=result.{_OUTPUTS[verb]}", str(ROOT / "tests/end_to_end/models/cuda/compare.cpp")),
        *(*map(str, sources), *libraries, "-o", str(program)),
    )
    lines = _run(str(program), str(tmp_path / "texts"), str(tmp_path / "pairs")).splitlines()
    results = 2 * len(case.texts) + len(case.pairs)
    assert lines.pop() == "left 0 0"
    assert [line.split()[:2] for line in lines] == [
        [mode, str(results)] for mode in (("fast",) if model.recipe == "fp32" else ("exact", "fast"))
    ]
    for line in lines:
        mode, _, different, difference, largest = line.split()
        if mode == "exact":
            assert (different, float(difference)) == ("0", 0.0), line
        assert float(difference) <= CLOSE * float(largest), line
