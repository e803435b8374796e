# SPDX-License-Identifier: Apache-2.0
"""The default model and one that writes on emulated CPUs and from another compiler: the same bits, never an illegal
instruction."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT, built_file, tool
from model_build import build_program

from codegen import pipeline

pytestmark = pytest.mark.sweep

GOLDEN = ROOT / "tests" / "golden"
EVERY = 10  # of the 200 golden texts: emulation is slow
WRONG_USE = 2
GOOGLETEST = Path("/usr/src/googletest/googletest")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A file of golden texts and their logits."""
    lines = (GOLDEN / "texts.txt").read_bytes().split(b"\n")[:-1]
    golden = [json.loads(line)["logits"] for line in (GOLDEN / "golden.jsonl").read_text("ascii").splitlines()]
    path = tmp_path_factory.mktemp("texts") / "texts.txt"
    path.write_bytes(b"".join(line + b"\n" for line in lines[::EVERY]))
    return path, np.array(golden[::EVERY], np.float32)


def output(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, timeout=600).stdout


def assert_golden_bits(texts: tuple[Path, np.ndarray], *program: str | Path) -> None:
    answers = output(*program, "--json", "--file", texts[0]).splitlines()
    logits = np.array([json.loads(answer)["logits"] for answer in answers], np.float32)
    assert logits.tobytes() == texts[1].tobytes()


@pytest.mark.parametrize(
    ("cpu", "kernels"),
    [
        ("qemu64", ["sse2", "scalar"]),
        ("Nehalem", ["sse2", "scalar"]),
        ("Haswell", ["avx2", "sse2", "scalar"]),
        # Leaf 7 still claims AVX2 here.
        ("max,-avx", ["sse2", "scalar"]),
    ],
)
def test_x86_without_the_newest_instructions(cpu: str, kernels: list[str], texts: tuple[Path, np.ndarray]) -> None:
    program = (tool("qemu-x86_64"), "-cpu", cpu, built_file("classify"))
    assert output(*program, "--kernel", "list").split() == kernels
    for kernel in kernels:
        assert_golden_bits(texts, *program, "--kernel", kernel)
    refused = subprocess.run([*program, "--kernel", "avx512_vnni", "x"], capture_output=True, check=False, timeout=60)
    assert refused.returncode == WRONG_USE
    assert b"this CPU cannot run kernel 'avx512_vnni'" in refused.stderr


@dataclass(frozen=True)
class Model:
    folder: Path
    program: str


AGNEWS = Model(ROOT / "generated" / "agnews", "classify")


def build_with(folder: Path, *options: str, model: Model = AGNEWS, models: Sequence[Model] = (AGNEWS,)) -> Path:
    """The program of one of these models, built in `folder` with these CMake options; what is there by then is kept."""
    output(
        "cmake", "-S", ROOT, "-B", folder, f"-DETCH_MODEL_DIRS={';'.join(str(one.folder) for one in models)}", *options
    )
    output("cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1), "--target", model.program)
    return folder / "bin" / model.program


@pytest.mark.long_case("clang")
def test_clang(texts: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    program = build_with(tmp_path, f"-DCMAKE_CXX_COMPILER={tool('clang++')}", f"-DCMAKE_ASM_COMPILER={tool('clang')}")
    for kernel in output(program, "--kernel", "list").split():
        assert_golden_bits(texts, program, "--kernel", kernel)


@dataclass(frozen=True)
class Models:
    """What is built for each machine, and where; AGNEWS, too."""

    place: Path
    speller: Model  # a tiny BART


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    place = tmp_path_factory.mktemp("machines")
    speller = Model(place / "speller", "translate-speller")
    checkpoint = ROOT / "tests" / "codegen" / "generation" / "bart" / "texts"
    pipeline.generate(pipeline.Request(checkpoint, speller.folder), lambda _: None)
    return Models(place, speller)


@dataclass(frozen=True)
class Machine:
    """Linux on a processor under QEMU: the compilers that make programs for it, and what each emulated CPU offers."""

    processor: str
    compiler: str
    assembler: str
    target: str  # of a compiler that has several, else empty
    cpus: dict[str, list[str]]

    def build(self, models: Models, model: Model) -> Path:
        """The program of one of the models, without shared libraries. The runtime is compiled once for all of them."""
        return build_with(
            models.place / f"{self.processor}-{self.compiler}",
            "-DCMAKE_SYSTEM_NAME=Linux",
            f"-DCMAKE_SYSTEM_PROCESSOR={self.processor}",
            f"-DCMAKE_CXX_COMPILER={tool(self.compiler)}",
            f"-DCMAKE_ASM_COMPILER={tool(self.assembler)}",
            *(f"-DCMAKE_{language}_COMPILER_TARGET={self.target}" for language in ("CXX", "ASM") if self.target),
            "-DCMAKE_EXE_LINKER_FLAGS=-static",
            model=model,
            models=(AGNEWS, models.speller),
        )

    def compile(self, program: Path, *arguments: str | Path) -> None:
        """One that CMake does not know of."""
        flags = ["-std=c++17", "-O2", "-ffp-contract=off", "-static"]
        if self.target:
            flags.append(f"--target={self.target}")
        output(tool(self.compiler), *flags, *arguments, "-o", program)

    def run(self, cpu: str) -> tuple[str, ...]:
        """What a program is started by."""
        return tool(f"qemu-{self.processor}"), "-cpu", cpu


def gcc(processor: str, cpus: dict[str, list[str]]) -> Machine:
    return Machine(processor, f"{processor}-linux-gnu-g++", f"{processor}-linux-gnu-gcc", "", cpus)


AARCH64 = gcc(
    "aarch64",
    {
        "cortex-a53": ["neon", "scalar"],
        "cortex-a76": ["neon_dotprod", "neon", "scalar"],
        "max": ["neon_i8mm", "neon_dotprod", "neon", "scalar"],
    },
)
RISCV64 = gcc("riscv64", {"rv64": ["scalar"]})  # GCC 12 knows no vectors of RISC-V
VECTORS = "rv64,v=true,vext_spec=v1.0,vlen="
RISCV64_VECTORS = Machine(
    "riscv64",
    "clang++-19",
    "clang-19",
    "riscv64-linux-gnu",
    {"rv64": ["scalar"]} | {f"{VECTORS}{bits}": ["rvv", "scalar"] for bits in (128, 256, 512)},
)
MACHINES = {"AArch64": AARCH64, "RISC-V": RISCV64, "RISC-V with vectors": RISCV64_VECTORS}


def each_of(machines: Iterable[str], what: str) -> pytest.MarkDecorator:
    """Parameter `machine`, each a long case of its own: under emulation one takes minutes."""
    cases = [pytest.param(MACHINES[name], id=name, marks=pytest.mark.long_case(f"{what}, {name}")) for name in machines]
    return pytest.mark.parametrize("machine", cases)


@each_of(MACHINES, "programs")
def test_golden_texts(machine: Machine, texts: tuple[Path, np.ndarray], models: Models, tmp_path: Path) -> None:
    """With every kernel set; on the last of the CPUs however the program around a call rounds."""
    program, modes = machine.build(models, AGNEWS), tmp_path / "float-modes"
    machine.compile(
        modes,
        *(f"-I{folder}" for folder in (ROOT / "runtime" / "include", AGNEWS.folder)),
        ROOT / "tests" / "end_to_end" / "promises" / "float_modes.cpp",
        *(program.parent / "libetch_agnews.a", program.parent / "libetch.a"),
    )
    for cpu, kernels in machine.cpus.items():
        assert output(*machine.run(cpu), program, "--kernel", "list").split() == kernels
        for kernel in kernels:
            assert_golden_bits(texts, *machine.run(cpu), program, "--kernel", kernel)
    output(*machine.run([*machine.cpus][-1]), modes)


@each_of(("AArch64", "RISC-V with vectors"), "kernels")
def test_kernels(machine: Machine, tmp_path: Path) -> None:
    """Their C++ tests, on each CPU those of the best set that it runs; without the sweeps of a million points."""
    if not GOOGLETEST.is_dir():
        pytest.skip(f"GoogleTest's sources are not in {GOOGLETEST}")
    tests, runtime = ROOT / "tests", ROOT / "runtime"
    includes = (runtime / "include", runtime / "src", tests, tests / "runtime" / "kernels", GOOGLETEST)
    sources = (
        *(GOOGLETEST / "src" / name for name in ("gtest-all.cc", "gtest_main.cc")),
        *(tests / "runtime" / "kernels").glob("*.cpp"),
        *(runtime / "src" / "kernels").rglob("*.cpp"),
        runtime / "src" / "status.cpp",
    )
    program = tmp_path / "test-kernels"
    folders = (f"-I{folder}" for folder in (*includes, GOOGLETEST / "include"))
    machine.compile(program, "-DETCH_COUNT_KERNEL_CALLS", "-DGTEST_HAS_PTHREAD=0", *folders, *sources)
    for cpu, kernels in machine.cpus.items():
        best = kernels[0]
        chosen = f"*/{best}_panel:Registry.*-*DenseSweep*:*RelativeError*"
        printed = output(*machine.run(cpu), program, f"--gtest_filter={chosen}")
        assert "[  PASSED  ]" in printed
        assert f"Matmul.EverySizeAsScalar/{best}_panel" in printed


@each_of(MACHINES, "generative models")
def test_what_is_written(machine: Machine, models: Models, tmp_path: Path) -> None:
    """Texts, tokens and scores of a tiny BART with its beams are those of this machine's program."""
    texts = tmp_path / "texts.txt"
    tool(machine.compiler)
    texts.write_text("The cat sat on\n\nCaf\u00e9 \u6771\n0 1 2 3 4 5 6 7 8 9\n", encoding="utf-8")
    expected = build_program(models.speller.folder).well("--json", "--file", str(texts)).lines
    assert len(set(expected)) > 1
    program = machine.build(models, models.speller)
    for cpu, kernels in machine.cpus.items():
        assert output(*machine.run(cpu), program, "--kernel", "list").split() == kernels
        for kernel in kernels:
            written = output(*machine.run(cpu), program, "--kernel", kernel, "--json", "--file", texts)
            assert written.splitlines() == expected
