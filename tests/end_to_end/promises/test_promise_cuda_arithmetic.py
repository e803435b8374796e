# SPDX-License-Identifier: Apache-2.0
"""The GPU's kernels as PTX, with the build's own flags: the arithmetic contract's operations and no others."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from archives import run

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "runtime" / "src" / "cuda" / "kernels"
FLOAT_OPERATION = re.compile(
    r"^\s+(?:@!?%p\d+\s+)?((?:add|sub|mul|div|rcp|sqrt|fma|mad|ex2|rsqrt|lg2)\.\S*f32)", re.MULTILINE
)
ROUNDED = {f"{operation}.rn.f32" for operation in ("add", "sub", "mul", "div", "rcp", "sqrt")}


def flags() -> list[str]:
    """Of nvcc, as CMake gives them."""
    text = (ROOT / "runtime" / "cmake" / "cuda.cmake").read_text()
    found = re.search(r"COMPILE_LANGUAGE:CUDA>:(.*?)-Xcompiler", text, re.DOTALL)
    assert found is not None
    return found[1].split()


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """PTX of each kernel by its mangled name."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    out = tmp_path_factory.mktemp("ptx") / "launch.ptx"
    includes = [f"-I{ROOT / 'runtime' / folder}" for folder in ("include", "src")]
    done = run(
        nvcc, "-std=c++17", "-O3", *flags(), *includes, "-arch=compute_90", "-ptx", KERNELS / "launch.cu", "-o", out
    )
    assert done.returncode == 0, done.stderr
    parts = re.split(r"\.entry (\w+)", out.read_text())
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_kernel_is_there(kernels: dict[str, str]) -> None:
    listed = re.findall(r"^ +X\(\w+\)", (KERNELS / "kernels.hpp").read_text(), re.MULTILINE)
    assert len(kernels) == len(listed) > 0


def test_exact_kernels_use_the_contracts_operations(kernels: dict[str, str]) -> None:
    exact = {name: text for name, text in kernels.items() if "Bf16" not in name and "Fast" not in name}
    assert len(exact) >= 9
    strange = {name: set(FLOAT_OPERATION.findall(text)) - ROUNDED for name, text in exact.items()}
    assert {name: operations for name, operations in strange.items() if operations} == {}


def test_no_kernel_fuses_or_flushes(kernels: dict[str, str]) -> None:
    for name, text in kernels.items():
        assert not re.search(r"\b(fma|mad)\.\S*f32", text), name
        assert set(re.findall(r"\b\S+\.ftz\S*", text)) <= {"ex2.approx.ftz.f32"}, name


def test_attention_multiplies_in_tensor_cores(kernels: dict[str, str]) -> None:
    attention = {name: text for name, text in kernels.items() if "Attention" in name}
    assert len(attention) >= 8
    for name, text in attention.items():
        types = "s32.s8.s8.s32" if "Exact" in name else "f32.bf16.bf16.f32"
        assert re.search(rf"\bmma\.sync\.\S+\.{types}\b", text), name


def test_polynomials_are_constants_of_the_code(kernels: dict[str, str]) -> None:
    assert not [name for name, text in kernels.items() if "polynomials" in text]
