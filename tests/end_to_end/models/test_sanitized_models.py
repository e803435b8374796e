# SPDX-License-Identifier: Apache-2.0
"""Generated models and the whole runtime under the address and undefined-behaviour sanitizers: what the fuzzers' model
lacks, as 4-bit weights and embeddings, the layout of boards, floats, a search of beams."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from classify_program import ROOT
from test_bart import folder

from codegen import pipeline

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("models under sanitizers")]

FLAGS = "-g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
SMALL = ROOT / "tools/train/agnews_small/checkpoint"
FORMS = {
    "four": pipeline.Request(SMALL, Path(), recipe="w4a8", embedding_bits=4),
    "board": pipeline.Request(SMALL, Path(), recipe="w4a8", embedding_bits=4, target="m-profile"),
    "floats": pipeline.Request(SMALL, Path(), recipe="fp32"),
}
TEXTS = ("Oil prices climb after the summit", "Zürich € 42 \U0001f642 中文", "a", "word " * 400)


def answers(program: Path, *options: str) -> bytes:
    """What it prints; a sanitizer's finding ends it."""
    lines = "".join(f"{text}\n" for text in TEXTS).encode()
    done = subprocess.run([program, "--json", *options], input=lines, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout


def test_every_kernel_answers_as_scalar_does(tmp_path: Path) -> None:
    made = {name: replace(form, out=tmp_path / name) for name, form in FORMS.items()}
    made["beams"] = pipeline.Request(folder(tmp_path / "checkpoint", num_beams=3), tmp_path / "beams", recipe="w4a8")
    for request in made.values():
        pipeline.generate(request, lambda _: None)
    build = tmp_path / "build"
    models = ";".join(str(request.out) for request in made.values())
    options = (f"-DETCH_MODEL_DIRS={models}", "-DETCH_BUILD_TESTS=OFF", f"-DCMAKE_CXX_FLAGS={FLAGS}")
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "--log-level=WARNING", *options], check=True)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", build, "--parallel", jobs, "--", "--quiet"], check=True)
    for name in made:
        [program] = (path for path in (build / "bin").glob(f"*-{name}") if path.stem == path.name)
        kernels = subprocess.run([program, "--kernel", "list"], capture_output=True, text=True, check=True).stdout
        meant = answers(program, "--kernel", "scalar")
        assert all(json.loads(line) for line in meant.splitlines())
        for kernel in kernels.split():
            assert answers(program, "--kernel", kernel) == meant, (name, kernel)
        answers(program, "--threads", "2")
        subprocess.run([program, "--self-test"], check=True, stdout=subprocess.DEVNULL)
