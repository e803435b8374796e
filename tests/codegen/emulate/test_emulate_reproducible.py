# SPDX-License-Identifier: Apache-2.0
"""The same bytes whatever instructions NumPy and its BLAS choose, and however many threads they use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint

SCRIPT = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from tiny_program import random_ids, tiny_program
from codegen.emulate import emulate
from codegen.golden import make_golden
for recipe in ("w8a8", "fp32"):
    program, checkpoint = tiny_program(Path(sys.argv[1]), recipe)
    print(emulate(program, *random_ids(program, 150)).tobytes().hex())
    for golden in make_golden(program, checkpoint.tokenizer):
        print(golden.text.hex(), golden.ids, golden.truncated, golden.output.tobytes().hex())
"""
HERE = Path(__file__).parent


def output(folder: Path, **environment: str) -> str:
    paths = [HERE, HERE.parent, HERE.parents[2]]
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, folder, *paths],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def dispatched_features() -> list[str]:
    return np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    write_tiny_checkpoint(folder, hidden=96, heads=3, layers=2, intermediate=384, max_positions=256)
    return folder


@pytest.fixture(scope="module")
def usual(checkpoint: Path) -> str:
    return output(checkpoint, OPENBLAS_NUM_THREADS="4")


def test_without_numpys_vector_instructions(checkpoint: Path, usual: str) -> None:
    features = dispatched_features()
    if not features:
        pytest.skip("this NumPy or this CPU has no instructions beyond NumPy's baseline")
    assert output(checkpoint, NPY_DISABLE_CPU_FEATURES=" ".join(features)) == usual


@pytest.mark.parametrize("core", ["Prescott", "Nehalem", "Haswell"])
def test_with_the_blas_of_another_cpu(checkpoint: Path, usual: str, core: str) -> None:
    assert output(checkpoint, OPENBLAS_CORETYPE=core) == usual


def test_with_one_blas_thread_and_another_hash_seed(checkpoint: Path, usual: str) -> None:
    assert output(checkpoint, OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="7", LC_ALL="C") == usual
