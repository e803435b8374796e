# SPDX-License-Identifier: Apache-2.0
"""Shapes of BERT-base and BERT-large: from the folder to a running program within a bound of memory, the peak of any
one process, and one text against the float64 reference.

Times are printed (run with -s), not asserted.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT, Program
from tiny_checkpoint import DEFAULT_VOCAB, bert_shapes, write_tiny_checkpoint

from codegen.reference import Reference

pytestmark = pytest.mark.sweep

VOCABULARY = 30_522


@dataclass(frozen=True)
class Size:
    hidden: int
    layers: int
    heads: int
    most_bytes: int  # of memory

    @property
    def intermediate(self) -> int:
        return 4 * self.hidden

    @property
    def parameters(self) -> int:
        return 12 * self.layers * self.hidden**2 + VOCABULARY * self.hidden


SIZES = {"base": Size(768, 12, 12, 2 << 30), "large": Size(1024, 24, 16, 3 << 30)}
CASES = [("base", "F32", "w8a8"), ("base", "F16", "w8a8"), ("base", "F16", "fp32"), ("large", "F16", "w8a8")]


def write_folder(folder: Path, size: Size, dtype: str) -> None:
    """Random weights, written tensor by tensor, so that the test stays small."""
    vocab = [*DEFAULT_VOCAB, *(f"w{index}" for index in range(VOCABULARY - len(DEFAULT_VOCAB)))]
    write_tiny_checkpoint(folder, vocab=vocab, heads=size.heads, hidden=size.heads, layers=1, max_positions=512)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_size": size.hidden, "num_hidden_layers": size.layers, "intermediate_size": size.intermediate}
    config |= {"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}}
    (folder / "config.json").write_text(json.dumps(config))
    stored = np.dtype("<f4" if dtype == "F32" else "<f2")
    shapes = bert_shapes(
        hidden=size.hidden,
        layers=size.layers,
        intermediate=size.intermediate,
        labels=2,
        max_positions=512,
        type_vocab=2,
        vocab_size=VOCABULARY,
    )
    header, offset = {}, 0
    for name, shape in shapes.items():
        length = int(np.prod(shape)) * stored.itemsize
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + length]}
        offset += length
    text = json.dumps(header).encode()
    random = np.random.default_rng(1)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            values = 0.03 * random.standard_normal(shape, np.float32)
            file.write((values + name.endswith("LayerNorm.weight")).astype(stored).tobytes())


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
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    if shutil.disk_usage(tmp_path).free < 25 * size.parameters:
        pytest.skip(f"less than {25 * size.parameters >> 30} GB of disk are free")
    checkpoint, out, binary = tmp_path / "checkpoint", tmp_path / size_name, tmp_path / "build"
    write_folder(checkpoint, size, dtype)
    generate = measured(*(sys.executable, "-m", "codegen", "generate", checkpoint, "--out", out, "--recipe", recipe))
    jobs = str(os.cpu_count() or 1)
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DETCH_BUILD_TESTS=OFF", f"-DETCH_MODEL_DIRS={out}")
    configure = measured("cmake", "-S", ROOT, "-B", binary, *options)
    compile_ = measured("cmake", "--build", binary, "--parallel", jobs)
    for name, (seconds, wall, peak, _) in (("generate", generate), ("configure", configure), ("build", compile_)):
        print(f"{name}: {seconds:.1f} s of processor, {wall:.1f} s of wall, {peak / 1e6:.0f} MB at most")
    assert max(step[2] for step in (generate, configure, compile_)) <= size.most_bytes
    program = Program(binary / "bin" / f"classify-{size_name}")
    assert program.well("--self-test").lines == ["ok"]
    assert (out / f"{size_name}.tables").stat().st_size > size.parameters * (1 if recipe == "w8a8" else 4)
    check_one_text(program, checkpoint, recipe)


def check_one_text(program: Program, checkpoint: Path, recipe: str) -> None:
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 5 << 30:
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
