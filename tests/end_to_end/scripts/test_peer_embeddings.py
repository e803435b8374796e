# SPDX-License-Identifier: Apache-2.0
"""tools/peers/embeddings.py over stand-ins for its libraries and for a wheel: who is asked, and what the table says."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from classify_program import ROOT

LIBRARY = """
import os
__version__ = "5.7.0"
class SentenceTransformer:
    def __init__(self, folder, backend, model_kwargs):
        self.folder, self.file = folder, model_kwargs.get("file_name")
    def save_pretrained(self, place):
        open(os.path.join(place, "saved"), "w").close()
    def encode(self, texts, batch_size, show_progress_bar):
        assert os.path.exists(os.path.join(self.folder, "saved"))
        print("{ a line that is no answer")
        assert len(texts) <= 2, texts
        return [[0.8, 0.6] if "qint8" in self.file else [1.0, 0.0]] * len(texts)
def export_dynamic_quantized_onnx_model(model, cpu, place):
    assert model.folder and cpu
"""
WHEEL = """
class Model:
    def __init__(self, threads):
        assert threads == 1
    def embed(self, texts):
        return [[0.6, 0.8]] * len(texts)
"""


def run(place: Path, library: str = LIBRARY, package: str = WHEEL) -> subprocess.CompletedProcess[str]:
    for folder in ("checkpoint", "libraries"):
        (place / folder).mkdir()
    (place / "libraries/sentence_transformers.py").write_text(library)
    (place / "libraries/onnxruntime.py").write_text('__version__ = "1.27"\nclass SessionOptions: pass\n')
    with zipfile.ZipFile(place / "tiny-0.5.0+abc-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny/__init__.py", package)
    (place / "texts.txt").write_text("a\nb\nc\n")
    files = ["--wheel", place / "tiny-0.5.0+abc-py3-none-any.whl", "--texts", place / "texts.txt", "--limit", "2"]
    command = [sys.executable, "-m", "tools.peers.embeddings", place / "checkpoint", *files, "--rounds", "2"]
    environment = os.environ | {"PYTHONPATH": str(place / "libraries")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_table(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[-3:]]
    library = "5.7.0, ONNX Runtime 1.27"
    names = ["etch 0.5.0", f"sentence-transformers-int8 {library}", f"sentence-transformers-fp32 {library}"]
    assert [row[0] for row in rows] == names
    assert [float(row[4]) for row in rows] == pytest.approx([0.6, 0.8, 1])
    assert all(float(number.replace(",", "")) > 0 for row in rows for number in row[1:4])


def test_a_library_that_fails(tmp_path: Path) -> None:
    """The others go on: here the wheel alone, and nothing to compare it with."""
    done = run(tmp_path, LIBRARY.replace("len(texts) <= 2", "len(texts) < 2"))
    assert done.returncode == 0
    assert "AssertionError: ['a', 'b']" in done.stderr
    for form in ("int8", "fp32"):
        peer = f"sentence-transformers-{form}"
        assert f"skipped {peer}: its process ended with exit code 1 (see {peer}.log)\n" in done.stderr
    [row] = done.stdout.splitlines()[2:]
    assert row.startswith("| etch 0.5.0 | ") and row.endswith(" | - |")


def test_libraries_that_all_fail(tmp_path: Path) -> None:
    """One in the middle of its work."""
    library = LIBRARY.replace("assert len(texts) <= 2, texts", "os.abort() if 'qint8' in self.file else os._exit(3)")
    done = run(tmp_path, library, WHEEL.replace("return", "raise RuntimeError;"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "skipped sentence-transformers-int8: its process was killed by SIGABRT" in done.stderr
    assert "skipped sentence-transformers-fp32: its process ended with exit code 3" in done.stderr
    assert done.stderr.endswith("embeddings: no runtime is left\n")


def test_an_export_that_fails(tmp_path: Path) -> None:
    done = run(tmp_path, LIBRARY.replace("assert model.folder and cpu", "raise SystemExit(4)"))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "embeddings: the export ended with exit code 4\n")
