# SPDX-License-Identifier: Apache-2.0
"""tools/gpu-check where there is no GPU: that it says so, how it judges what programs print, and its report."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT

from tools.gpu.checks import Check, Done, run
from tools.gpu.device import Device, NoDevice, find_device
from tools.gpu.device_tests import judge_sanitizer, judge_tests
from tools.gpu.report import Report, as_markdown, write_report
from tools.gpu.rows import judge_exact, judge_fast
from tools.gpu.sass import judge_sass

GPU = Device("NVIDIA X", "90", 132, 80_000_000_000, "13.0")

# A driver of two calls' worth: DEVICES GPUs, or an error of cuInit.
DRIVER = r"""
int cuInit(unsigned flags) { return INIT + (int)(flags & 0); }
int cuDeviceGetCount(int* count) { *count = DEVICES; return 0; }
int cuDriverGetVersion(int* version) { *version = 12080; return 0; }
int cuDeviceGet(int* device, int index) { *device = index; return 0; }
int cuDeviceGetName(char* name, int size, int device) {
    const char text[] = "Fake GPU";
    for (int i = 0; i < size && i < (int)sizeof text; ++i) name[i] = text[i];
    return device;
}
int cuDeviceTotalMem_v2(unsigned long* bytes, int device) { *bytes = 1000; return device; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    *value = attribute == 75 ? 8 : attribute == 76 ? 6 : 40;
    return device;
}
"""


def gpu_check(*arguments: str | Path, libraries: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(libraries or "")}
    command = [ROOT / "tools/gpu-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


def fake_driver(folder: Path, devices: int, error: int = 0) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    source = folder / "driver.c"
    source.write_text(DRIVER)
    flags = ("-shared", "-fPIC", f"-DDEVICES={devices}", f"-DINIT={error}")
    subprocess.run(["gcc", *flags, source, "-o", folder / "libcuda.so.1"], check=True)
    return folder


def test_without_a_gpu_it_says_so(tmp_path: Path) -> None:
    try:
        found = find_device()
    except NoDevice as reason:
        done = gpu_check("--out", tmp_path)
        assert (done.returncode, done.stdout) == (77, "")
        assert done.stderr == f"gpu-check: {reason}: nothing was checked\n"
        assert not list(tmp_path.iterdir())
    else:
        pytest.skip(f"there is one: {found.name}")


@pytest.mark.parametrize(
    ("devices", "error", "message"),
    [(0, 0, "the NVIDIA driver sees no GPU"), (1, 100, "the NVIDIA driver's cuInit reports error 100")],
)
def test_a_driver_without_a_gpu(tmp_path: Path, devices: int, error: int, message: str) -> None:
    done = gpu_check(libraries=fake_driver(tmp_path, devices, error))
    assert (done.returncode, done.stderr) == (77, f"gpu-check: {message}: nothing was checked\n")


def test_a_gpu_is_found(tmp_path: Path) -> None:
    done = gpu_check("--find", libraries=fake_driver(tmp_path, 1))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Fake GPU, compute capability 86\n"


def test_wrong_use_and_help() -> None:
    done = gpu_check("--only", "tests,abacus")
    assert done.returncode == 2
    assert "there is no step 'abacus'" in done.stderr
    text = gpu_check("--help").stdout
    assert all(word in text for word in ("--out", "--only", "sanitizers", "sass"))


# --- what programs print -------------------------------------------------------------------------------------------


def done(text: str = "", code: int | None = 0) -> Done:
    return Done(code, text, 1.0, ROOT / "log.txt")


def gtest(*results: str) -> dict[str, Any]:
    """A GoogleTest report: P passed, F failed, S skipped."""
    cases = []
    for index, result in enumerate(results):
        case: dict[str, Any] = {"name": f"t{index}", "result": "SKIPPED" if result == "S" else "COMPLETED"}
        cases.append(case | ({"failures": [{}]} if result == "F" else {}))
    return {"testsuites": [{"name": "Suite", "testsuite": cases}]}


@pytest.mark.parametrize(
    ("run_", "report", "outcome", "detail"),
    [
        (done(), gtest("P", "P"), "passed", "2 passed, 0 failed, 0 skipped"),
        (done(), gtest("P", "S"), "passed", "1 passed, 0 failed, 1 skipped, 1 s: Suite.t1"),
        (done(code=1), gtest("P", "F"), "failed", "1 passed, 1 failed, 0 skipped, 1 s: Suite.t1"),
        (done(code=-11), gtest("P"), "failed", "ended with -11"),
        (done(), gtest("S"), "failed", "nothing ran"),
        (done("x.hpp:1: Skipped\nno GPU\n"), gtest("P", "S"), "failed", "does not see the GPU"),
        (done(), gtest(), "failed", "nothing ran"),
        (done("no CUDA\n", 127), None, "failed", "ended with 127: no CUDA (log.txt)"),
        (done(code=None), None, "failed", "stopped after"),
    ],
)
def test_device_tests_are_judged(run_: Done, report: dict[str, Any] | None, outcome: str, detail: str) -> None:
    check = judge_tests(run_, report)
    assert check.outcome == outcome
    assert detail in check.detail


@pytest.mark.parametrize(
    ("run_", "outcome"),
    [
        (done("[  PASSED  ] 7 tests.\n========= ERROR SUMMARY: 0 errors\n"), "passed"),
        (done("[  PASSED  ] 1 test.\n========= RACECHECK SUMMARY: 0 hazards displayed\n"), "passed"),
        (done("[  PASSED  ] 7 tests.\n========= ERROR SUMMARY: 2 errors\n", 99), "failed"),
        (done("[  PASSED  ] 0 tests.\n========= ERROR SUMMARY: 0 errors\n"), "failed"),
        (done("========= ERROR SUMMARY: 0 errors\n"), "failed"),
        (done("[  PASSED  ] 7 tests.\n"), "failed"),
        (done("========= Device not supported\n", 1), "skipped"),
        (done("", None), "failed"),
    ],
)
def test_sanitizers_are_judged(run_: Done, outcome: str) -> None:
    assert judge_sanitizer("it", run_).outcome == outcome


LINES = '{"label": "a", "logits": [1]}\n{"label": "b", "logits": [2]}\n'


@pytest.mark.parametrize(
    ("gpu", "outcome", "detail"),
    [
        (done("text cut to 9 tokens\n" + LINES), "passed", "2 rows have the CPU's bits"),
        (done(LINES.replace("2", "2.00000001")), "failed", "1 of 2 rows differ from the CPU's, the first is row 2"),
        (done(LINES[:30]), "failed", "1 answers for 2"),
        (done("no device\n", 1), "failed", "ended with 1: no device"),
    ],
)
def test_exact_rows_are_judged(gpu: Done, outcome: str, detail: str) -> None:
    check = judge_exact("it", done(LINES), gpu)
    assert check.outcome == outcome
    assert detail in check.detail
    assert judge_exact("it", done(), done()).outcome == "failed"


@pytest.mark.parametrize(
    ("fast", "outcome"),
    [
        (done("accuracy: 91.67 %\n"), "passed"),
        (done("accuracy: 91.66 %\n"), "failed"),
        (done("rows: 3\n"), "failed"),
        (done("accuracy: 95.00 %\n", 1), "failed"),
    ],
)
def test_accuracy_is_judged(fast: Done, outcome: str) -> None:
    assert judge_fast("it", done("labels read as names\naccuracy: 91.87 %\n"), fast).outcome == outcome
    assert judge_fast("it", done(""), fast).outcome == "failed"


def sass(*functions: tuple[str, str]) -> str:
    return "".join(f"\t\tFunction : {name}\n\t.headerflags\n        /*0010*/ {code} ;\n" for name, code in functions)


@pytest.mark.parametrize(
    ("text", "outcome", "detail"),
    [
        (sass(("run_S8Sink", "FADD R1, R2")), "passed", "no fused multiply-add in 1 of 1 kernels"),
        (sass(("run_S8Sink", "FFMA.FTZ R1, R2")), "failed", "fused multiply-add in run_S8Sink"),
        (
            sass(("run_S8Sink", "FADD R1"), ("run_F32Sink", "FFMA R1\n MUFU.RCP R2"), ("root", "MUFU.RSQ R1")),
            *("passed", "no fused multiply-add in 1 of 3 kernels; the others divide or take roots"),
        ),
        (sass(("run_S8Sink", "FFMA R1\n MUFU.RCP R2")), "failed", "each of 1 kernels divides or takes roots"),
        (
            sass(("run_Bf16Sink", "FFMA R1"), ("run_S8Sink", "FMUL R1")),
            *("passed", "no fused multiply-add in 1 of 1 kernels"),
        ),
        (sass(("run_Bf16Sink", "FFMA R1")), "failed", "there are none"),
        ("", "failed", "there are none"),
    ],
)
def test_machine_code_is_judged(text: str, outcome: str, detail: str) -> None:
    """Kernels that divide or take roots are not judged: the report says how many those are."""
    assert (judge_sass(text).outcome, judge_sass(text).detail) == (outcome, detail)


def test_commands_are_run_to_their_end() -> None:
    ended = run("test-gpu-check", ["sh", "-c", "echo first; echo last >&2; exit 3"])
    assert (ended.code, ended.text, ended.well) == (3, "first\nlast\n", False)
    assert ended.failure == "ended with 3: last (build/gpu-check/logs/test-gpu-check.txt)"
    assert ended.log.read_text() == "first\nlast\n"
    assert run("test-gpu-check", ["/no/such/program"]).code == 127
    ended.log.unlink()


def test_a_failure_is_the_first_error_it_named() -> None:
    text = "[ 5%] Building error.cpp.o\nx.cpp:3: error: no\nx.cpp:9: error: nor this\ngmake: *** [all] Error 2\n"
    done = Done(2, text, 1.0, ROOT / "build" / "logs" / "build.txt")
    assert done.failure == "ended with 2: x.cpp:3: error: no (build/logs/build.txt)"
    assert Done(1, "a\nb\n\n", 1.0, done.log).failure == "ended with 1: b (build/logs/build.txt)"
    assert Done(None, "", 9.0, done.log).failure == "stopped after 9 s: no output (build/logs/build.txt)"


# Enough of PyTorch for the program that measures it; a pass of 64 texts cannot be recorded.
TORCH_MODULE = """
import contextlib
__version__, bfloat16, inference_mode, recording = "0", None, contextlib.nullcontext, False
class Tensor:
    def __init__(self, texts): self.texts = texts
    def pin_memory(self): return self
    def to(self, *_): return self
    def copy_(self, other, non_blocking):
        if recording and self.texts == 64: raise RuntimeError("cannot be recorded")
def randint(low, high, shape): return Tensor(shape[0])
def empty(shape, dtype): return Tensor(shape[0])
class cuda:
    is_available = staticmethod(lambda: True)
    synchronize = staticmethod(lambda: None)
    class CUDAGraph:
        def replay(self): pass
    @staticmethod
    @contextlib.contextmanager
    def graph(_):
        global recording
        recording = True
        yield
        recording = False
"""
TRANSFORMERS_MODULE = """
class BertConfig:
    vocab_size, hidden_size = 2000, 768
    def __init__(self, attn_implementation): pass
class BertModel:
    def __init__(self, config): pass
    def eval(self): return self
    def to(self, *_): return self
    def __call__(self, input_ids): return self
    pooler_output = None
__version__ = "1"
"""


def test_pytorch_is_measured_where_it_can_be(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "tools/gpu/torch_peer.py"]

    def lines(*modules: tuple[str, str]) -> list[dict[str, Any]]:
        for name, text in modules:
            (tmp_path / name).write_text(text)
        ran = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, stdout=subprocess.PIPE, check=True, timeout=60)
        return [json.loads(line) for line in ran.stdout.splitlines()]

    assert lines(("torch.py", "raise ImportError('not here')")) == [{"skipped": "not here"}]
    rows = lines(("torch.py", TORCH_MODULE), ("transformers.py", TRANSFORMERS_MODULE))
    assert [(row["texts"], row["tokens"]) for row in rows] == [(1, 44), (1, 128), (1, 221), (64, 44), (64, 128)]
    assert all(row["eager_us"] > 0 and row["versions"] == "PyTorch 0, transformers 1" for row in rows)
    assert [row["graph_us"] is None for row in rows] == [False, False, False, True, True]


# --- the report ----------------------------------------------------------------------------------------------------

ROWS: list[dict[str, Any]] = [
    {"what": "memory", "mode": "fast", "weights": 11, "session": 12, "context": 13, "graphs": 14, "page-locked": 15},
    {"what": "latency", "mode": "fast", "texts": 1, "tokens": 221, "median_us": 250.0, "p95_us": 260.0}
    | {"bound_us": 200.0, "gpu_us": 240.0, "bound_gpu_us": 180.0},
    {"what": "op", "mode": "fast", "texts": 1, "tokens": 221, "op": "Attention", "calls": 12, "us": 30.0},
    {"what": "op", "mode": "fast", "texts": 1, "tokens": 221, "op": "matmul", "calls": 48, "us": 90.0},
]
TORCH = [{"texts": 1, "tokens": 221, "eager_us": 5000.0, "graph_us": None, "versions": "PyTorch 2"}]


def test_report(tmp_path: Path) -> None:
    checks = [Check("one", "passed", "a|b"), Check("two", "skipped", "no data"), Check("three", "failed", "x\ny")]
    report = Report(GPU, "CUDA 13.0.88", "2026-01-02", ("tests",), checks, {"bert_base": ROWS, "torch": TORCH})
    markdown, data = write_report(report, tmp_path / "new")
    text = markdown.read_text()
    assert "NVIDIA X, compute capability 9.0, 132 multiprocessors, 80 GB; driver for CUDA 13.0, CUDA 13.0.88" in text
    assert "**1 passed, 1 failed, 1 skipped**" in text
    assert "| one | passed | a\\|b |\n| two | skipped | no data |\n| three | failed | x y |" in text
    assert "| fast | 11 | 12 | 13 | 14 | 15 |" in text
    assert "| fast | 1 | 221 | 250.0 | 260.0 | 200.0 | 240.0 | 180.0 | 1.25 | 75 % |" in text
    assert text.index("| matmul | 48 | 90.0 | 75 % |") < text.index("| Attention | 12 | 30.0 | 25 % |")
    assert "| 1 | 221 | 5000.0 | - |" in text
    assert json.loads(data.read_text())["figures"]["bert_base"] == ROWS
    assert "Latency" not in as_markdown(Report(GPU, "", "", (), [], {}))
