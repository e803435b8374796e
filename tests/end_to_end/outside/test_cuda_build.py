# SPDX-License-Identifier: Apache-2.0
"""The preset cuda where there is a toolkit and perhaps no GPU: everything compiles and links, for one architecture; the
programs say what is missing; what is installed can be used."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from classify_program import ROOT, TITLES, Program, built, tool
from projects import TEXT, checkpoint, configure, done, project, run
from projects import built as built_project

from tools.gpu.device import NoDevice, find_device

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("CUDA")]

TARGETS = ("classify", "test-cuda-device", "bench-cuda-agnews", "etch_agnews_cuda")
SMALL = "-DETCH_MODEL_DIRS=" + str(ROOT / "generated" / "agnews")
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def no_device() -> str | None:
    """Why there is no GPU, or None."""
    try:
        find_device()
    except NoDevice as reason:
        return str(reason)
    return None


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if NVCC is None:
        pytest.skip("there is no CUDA toolkit (nvcc)")
    folder = tmp_path_factory.mktemp("cuda")
    options = ("-DCMAKE_CUDA_ARCHITECTURES=90", "-DETCH_BUILD_TESTS=ON", "-DETCH_BUILD_BENCH=ON", SMALL)
    configured = done(tool("cmake"), "--preset", "cuda", "-B", folder, *options, cwd=ROOT)
    assert "Warning" not in configured
    jobs = str(os.cpu_count() or 1)
    made = done(tool("cmake"), "--build", folder, "--parallel", jobs, "--target", *TARGETS, cwd=ROOT)
    assert not re.search(r"warning", made, re.IGNORECASE)
    return folder


@pytest.fixture(scope="module")
def classify(build: Path) -> Program:
    return Program(build / "bin" / "classify")


def test_the_cpu_answers_as_without_cuda(classify: Program) -> None:
    expected = built("classify").well("--json", *TITLES)
    assert classify.well("--json", *TITLES).out == expected.out
    assert classify.well("--json", "--device", "cpu", *TITLES).out == expected.out


def test_without_a_gpu_it_is_an_error(classify: Program) -> None:
    if no_device() is None:
        pytest.skip("there is a GPU")
    for device in ("cuda", "cuda:1"):
        for mode in ("exact", "fast"):
            message = classify.refused(1, "--device", device, "--mode", mode, *TITLES)
            assert message == f"--device {device.removesuffix(':1')}:{device[-1:] if ':' in device else 0}: " + (
                "there is no NVIDIA GPU, or no driver for it"
            )


def test_no_launch_ends_the_program(build: Path) -> None:
    """Where the host's side calls a function of the GPU's, nvcc says nothing and puts an exit(1) there."""
    needed = done(tool("nm"), "-u", build / "bin" / "libetch_cuda.a", cwd=build).split()
    assert "cudaLaunchKernel" in needed
    assert "exit" not in needed


def test_device_tests_run_or_are_skipped(build: Path) -> None:
    """Few of them need no GPU."""
    if no_device() is None:
        pytest.skip("there is a GPU: tools/gpu-check runs them")
    ran = run(build / "bin" / "test-cuda-device", cwd=build)
    assert ran.returncode == 0, ran.stdout[-4000:]
    count = re.search(r"(\d+) tests? from \d+ test suites? ran", ran.stdout)
    skipped = re.search(r"\[  SKIPPED \] (\d+) tests?", ran.stdout)
    assert count and skipped
    assert int(count[1]) >= int(skipped[1]) > 0


def test_the_benchmark_names_what_failed(build: Path) -> None:
    if no_device() is None:
        pytest.skip("there is a GPU")
    ran = run(build / "bin" / "bench-cuda-agnews", "--quick", cwd=build)
    assert ran.returncode == 1
    assert ran.stdout.endswith("bench-cuda: exact: there is no NVIDIA GPU, or no driver for it\n")


@pytest.fixture(scope="module")
def prefix(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts for developers and the models; the other programs are not built."""
    folder = tmp_path_factory.mktemp("installed") / "prefix"
    done(tool("cmake"), "--build", build, "--target", "etch_hosted", "etch_agnews", cwd=ROOT)
    for component in ("etch-development", "etch-models"):
        done(tool("cmake"), "--install", build, "--prefix", folder, "--component", component, cwd=ROOT)
    return folder


def gpu_project(folder: Path) -> Path:
    """The example for GPUs, in the CMake project of the one for CPUs."""
    source = project(folder, "cuda")
    lists = (ROOT / "tests/end_to_end/outside/find_package/CMakeLists.txt").read_text()
    lists = lists.replace("COMPONENTS agnews", "COMPONENTS agnews agnews_cuda").replace(
        "etch::agnews", "etch::agnews_cuda"
    )
    (source / "CMakeLists.txt").write_text(lists)
    return source


def answers(app: Path, folder: Path) -> None:
    """The program works, or says that there is no GPU."""
    ran = run(app, TEXT, cwd=folder)
    if no_device() is None:
        assert ran.stdout.split()[0] == "Business"
    else:
        assert (ran.returncode, ran.stdout) == (1, "there is no NVIDIA GPU, or no driver for it\n")


def test_find_package(prefix: Path, tmp_path: Path) -> None:
    source = gpu_project(tmp_path)
    options = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCUDAToolkit_ROOT={Path(NVCC or '').parent.parent}")
    answers(built_project(source, *options), tmp_path)


def test_a_model_generated_by_the_build(prefix: Path, tmp_path: Path) -> None:
    source = project(tmp_path, "cuda")
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(app LANGUAGES CXX)\nfind_package(etch CONFIG REQUIRED)\n"
        "etch_add_model(news CHECKPOINT checkpoint NAME agnews GPU)\n"
        "add_executable(app main.cpp)\ntarget_link_libraries(app PRIVATE news_cuda)\n"
    )
    checkpoint(source)
    options = (f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCUDAToolkit_ROOT={Path(NVCC or '').parent.parent}")
    answers(built_project(source, *options), tmp_path)


def test_a_model_without_files_for_gpus_is_named(build: Path, tmp_path: Path) -> None:
    """And built for CPUs."""
    checkpoint(tmp_path)
    done(sys.executable, "-m", "codegen", "generate", tmp_path / "checkpoint", "--out", tmp_path / "small", cwd=ROOT)
    options = ("-DETCH_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90", f"-DETCH_MODEL_DIRS={tmp_path / 'small'}")
    said = done(tool("cmake"), "-S", ROOT, "-B", tmp_path / "build", *options, cwd=tmp_path)
    assert "ETCH_CUDA is on and small has no files for GPUs" in " ".join(said.split())
    targets = done(tool("cmake"), "--build", tmp_path / "build", "--target", "help", cwd=tmp_path)
    assert "etch_small" in targets and "etch_small_cuda" not in targets


def test_pkg_config(prefix: Path, tmp_path: Path) -> None:
    source = project(tmp_path, "cuda")
    environment = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = shlex.split(
        done(tool("pkg-config"), "--cflags", "--libs", "etch_agnews_cuda", cwd=source, environment=environment)
    )
    toolkit = Path(NVCC or "").parent.parent / "lib64"
    libraries = (f"-L{toolkit}", f"-Wl,-rpath,{toolkit}")
    done(tool("g++"), "-std=c++17", "main.cpp", *libraries, *flags, "-o", "app", cwd=source)
    answers(source / "app", tmp_path)


def test_who_needs_no_gpu_needs_no_cuda(prefix: Path, tmp_path: Path) -> None:
    """An installation with both, where the toolkit is not found: the CPU's part is there, the other is named."""
    hidden = ("-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert built_project(project(tmp_path, "find_package"), *hidden).is_file()
    configured = configure(gpu_project(tmp_path), *hidden)
    assert configured.returncode != 0
    said = " ".join(configured.stdout.split())
    assert "model 'agnews_cuda' is not installed beside it, or the CUDA toolkit is not found" in said
