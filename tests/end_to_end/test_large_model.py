# SPDX-License-Identifier: Apache-2.0
"""BERT-base shapes: from the folder to a running program within 2 GB of memory, the peak of any one process.

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
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT, Program
from tiny_checkpoint import DEFAULT_VOCAB, bert_shapes, write_tiny_checkpoint

pytestmark = pytest.mark.sweep

BYTES = 2 << 30
SHAPE = {"hidden": 768, "layers": 12, "intermediate": 3072, "labels": 2, "max_positions": 512, "type_vocab": 2}
VOCABULARY = 30_522


def write_base(folder: Path, dtype: str) -> None:
    """A folder of BERT-base's shapes; the weights are written tensor by tensor, so that the test stays small."""
    vocab = [*DEFAULT_VOCAB, *(f"w{index}" for index in range(VOCABULARY - len(DEFAULT_VOCAB)))]
    write_tiny_checkpoint(folder, vocab=vocab, heads=12, hidden=12, layers=1, max_positions=512)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072}
    config |= {"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}}
    (folder / "config.json").write_text(json.dumps(config))
    stored = np.dtype("<f4" if dtype == "F32" else "<f2")
    shapes = bert_shapes(vocab_size=VOCABULARY, **SHAPE)
    header, offset = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape)) * stored.itemsize
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
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


@pytest.mark.parametrize(("dtype", "recipe"), [("F32", "w8a8"), ("F16", "w8a8"), ("F16", "fp32")])
def test_generate_and_build(dtype: str, recipe: str, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    if shutil.disk_usage(tmp_path).free < 3 << 30:
        pytest.skip("less than 3 GB of disk are free")
    write_base(tmp_path / "checkpoint", dtype)
    out, binary = tmp_path / "base", tmp_path / "build"
    generate = measured(
        *(sys.executable, "-m", "codegen", "generate", tmp_path / "checkpoint", "--out", out, "--recipe", recipe)
    )
    jobs = str(os.cpu_count() or 1)
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DETCH_BUILD_TESTS=OFF", f"-DETCH_MODEL_DIRS={out}")
    configure = measured("cmake", "-S", ROOT, "-B", binary, *options)
    compile_ = measured("cmake", "--build", binary, "--parallel", jobs)
    for name, (seconds, wall, peak, _) in (("generate", generate), ("configure", configure), ("build", compile_)):
        print(f"{name}: {seconds:.1f} s of processor, {wall:.1f} s of wall, {peak / 1e6:.0f} MB at most")
    assert max(step[2] for step in (generate, configure, compile_)) <= BYTES
    program = Program(binary / "bin" / "classify-base")
    assert program.well("--self-test").lines == ["ok"]
    (answer,) = program.well("--json", "the cat sat on the mat").objects
    assert np.isfinite(answer["logits"]).all()
    assert (out / "base.tables").stat().st_size > (100e6 if recipe == "w8a8" else 400e6)


def test_the_measurement_sees_memory() -> None:
    seconds, _, peak, _ = measured(sys.executable, "-c", "x = bytes(range(256)) * (1 << 20)")
    assert peak > 256 << 20
    assert seconds > 0
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 0
