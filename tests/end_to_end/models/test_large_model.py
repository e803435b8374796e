# SPDX-License-Identifier: Apache-2.0
"""Shapes of BERT-base and BERT-large: from the folder to a running program within a bound of memory, the peak of any
one process, and one text against the float64 reference.

Times are printed (run with -s), not asserted.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT, Program
from large_checkpoint import SIZES, write_folder
from model_build import build_program
from sampling import sampled

from codegen.oracle.bert import Reference

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(3)]

BUILD = (
    f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(Path(__file__).parents[1])!r}]; from pathlib import Path; "
    "from model_build import build_model; build_model(Path(sys.argv[1]))"
)
CASES = sampled([("base", "F32", "w8a8"), ("base", "F16", "fp32"), ("large", "F16", "w8a8")], 1, "large models")


def measured(*command: str | Path) -> tuple[float, float, int, str]:
    """Processor seconds of a command with its children, wall seconds, the largest process's bytes, its output."""
    code = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); " + (
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr); sys.exit(done.returncode)"
    )
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    wall = time.monotonic() - begin
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    seconds, kilobytes = done.stderr.split()[-2:]
    return float(seconds), wall, int(kilobytes) << 10, done.stdout


@pytest.mark.parametrize(("size_name", "dtype", "recipe"), CASES)
def test_generate_and_build(size_name: str, dtype: str, recipe: str, tmp_path: Path) -> None:
    size = SIZES[size_name]
    if shutil.disk_usage(tmp_path).free < 25 * size.parameters:
        pytest.skip(f"less than {25 * size.parameters >> 30} GB of disk are free")
    checkpoint, out = tmp_path / "checkpoint", tmp_path / size_name
    write_folder(checkpoint, size, dtype)
    generate = measured(*(sys.executable, "-m", "codegen", "generate", checkpoint, "--out", out, "--recipe", recipe))
    compile_ = measured(sys.executable, "-c", BUILD, out)
    for name, (seconds, wall, peak, _) in (("generate", generate), ("build", compile_)):
        print(f"{name}: {seconds:.1f} s of processor, {wall:.1f} s of wall, {peak / 1e6:.0f} MB at most")
    assert max(step[2] for step in (generate, compile_)) <= size.most_bytes
    program = build_program(out)
    assert program.well("--self-test").lines == ["ok"]
    assert (out / f"{size_name}.tables").stat().st_size > size.parameters * (1 if recipe == "w8a8" else 4)
    check_one_text(program, checkpoint, recipe)


def available_memory() -> int:
    """Bytes that programs can have, what the system keeps of files only for speed included."""
    [kilobytes] = re.findall(r"^MemAvailable: +(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(kilobytes) << 10


def check_one_text(program: Program, checkpoint: Path, recipe: str) -> None:
    if available_memory() < 5 << 30:
        pytest.skip("less than 5 GB of memory are free: not compared with the reference")
    text = "the cat sat on the mat"
    (tokens,) = program.well("--tokens", text).objects
    (answer,) = program.well("--json", text).objects
    exact = Reference(checkpoint).output(tokens["ids"], [0] * len(tokens["ids"]))
    difference = np.abs(np.array(answer["logits"]) - exact).max()
    print(f"logits {exact}, difference {difference:.3g}")
    # 8 bits have no bound, but noise through 24 layers stays well below the logits.
    assert difference <= (1e-4 if recipe == "fp32" else np.abs(exact).max() / 4)


def test_the_measurement_sees_memory() -> None:
    seconds, _, peak, _ = measured(sys.executable, "-c", "x = bytes(range(256)) * (1 << 20)")
    assert peak > 256 << 20
    assert seconds > 0
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 0
