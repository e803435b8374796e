# SPDX-License-Identifier: Apache-2.0
"""tools/compare as a whole: a run with etch alone; generative models beside their peer; and, where the other runtimes
are installed, that what is written for them means the checkpoint."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import large_decoder
import large_translator
import numpy as np
import pytest
from classify_program import ROOT
from tiny_checkpoint import write_tiny_checkpoint

from codegen.oracle.bert import Reference

CHECKPOINT = ROOT / "tools/train/agnews/checkpoint"
PEERS_PYTHON = ROOT / "build/compare/venv/bin/python"


@pytest.mark.sweep
@pytest.mark.long_case("tools/compare")
def test_etch_alone(tmp_path: Path) -> None:
    if shutil.which("cmake") is None or shutil.which("cc") is None or shutil.which("taskset") is None:
        pytest.skip("no cmake, no C compiler, or no taskset")
    rows, lines = tmp_path / "rows.csv", tmp_path / "lines.jsonl"
    rows.write_text('"2","Champions beaten at home","A goal in extra time decides the cup final"\n')
    command = [sys.executable, "-m", "tools.peers", CHECKPOINT, "--peers", "etch", "--lengths", "8", "--rounds", "1"]
    command += ["--evaluate", rows, "--json", lines, "--kernel", "scalar"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    written = [json.loads(line) for line in lines.read_text().splitlines()]
    assert not [line for line in written if "skipped" in line]
    summaries = {line["peer"]: line for line in written if "accuracy" in line}
    assert set(summaries) == {"etch-w8a8", "etch-w7a8", "etch-fp32"}
    assert all((line["accuracy"], line["detail"]) == (1.0, "kernel scalar") for line in summaries.values())
    assert summaries["etch-fp32"]["mean_logit_error"] < 1e-5 < summaries["etch-w8a8"]["mean_logit_error"] < 0.1
    assert {(line["peer"], line["from"]) for line in written if "input" in line} == {
        (peer, form) for peer in summaries for form in ("ids", "text")
    }
    assert {line["throughput"]: line["batch"] for line in written if "throughput" in line} == dict.fromkeys(
        summaries, 0
    )
    tokens = {line["tokenizer"]: line["tokens"] for line in written if "tokenizer" in line}
    assert tokens["etch-w8a8"] == tokens["tokenizers"] == tokens["tokenizers-batch"]


def python_with(modules: str) -> Path | None:
    """The environment of tools/compare, where that has installed them."""
    command = [PEERS_PYTHON, "-c", f"import {modules}"]
    has_them = PEERS_PYTHON.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0
    return PEERS_PYTHON if has_them else None


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("family", "runtime", "modules"),
    [
        pytest.param(family, *runtime, id=name, marks=pytest.mark.long_case(f"tools/compare, {name}"))
        for name, family, *runtime in (
            ("translator", large_translator, "ctranslate2-fp32", "ctranslate2"),
            ("decoder", large_decoder, "llamacpp-f32", "llama_cpp, gguf"),
        )
    ],
)
def test_models_that_write(family: ModuleType, runtime: str, modules: str, tmp_path: Path) -> None:
    """With the other runtime where tools/compare has it: in float32 all write the same."""
    if shutil.which("cmake") is None or shutil.which("cc") is None or shutil.which("taskset") is None:
        pytest.skip("no cmake, no C compiler, or no taskset")
    family.write_folder(tmp_path / "writer", family.SIZES["tiny"])
    python = python_with(modules)
    names = "etch-w8a8,etch-fp32" if python is None else f"etch-w8a8,etch-fp32,{runtime}"
    lines = tmp_path / "lines.jsonl"
    command = [python or sys.executable, "-m", "tools.peers", tmp_path / "writer", "--peers", names, "--lengths", "9"]
    command += ["--rounds", "1", "--json", lines]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    written = [json.loads(line) for line in lines.read_text().splitlines()]
    assert not [line for line in written if "skipped" in line]
    exact = [line for line in written if line.get("peer") in ("etch-fp32", runtime)]
    assert exact and all(line["same_tokens"] == 9 for line in exact), exact


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("peer", "modules", "bound"),
    [
        ("onnxruntime-fp32", "onnx, onnxruntime", 1e-4),
        ("onnxruntime-fp32-fused", "onnx, onnxruntime", 1e-4),
        ("litert-fp32", "ai_edge_litert", 1e-4),
        ("litert-int8", "ai_edge_quantizer", 0.05),
    ],
)
def test_models_of_other_runtimes_mean_the_checkpoint(peer: str, modules: str, bound: float, tmp_path: Path) -> None:
    python = python_with(modules)
    if python is None:
        pytest.skip(f"tools/compare has not installed {modules}")
    folder = tmp_path / "model"
    folder.mkdir()
    write_tiny_checkpoint(folder, hidden=32, heads=4, layers=2, intermediate=48)
    texts = [[1, 5, 9, 6, 7, 2], [1, 4, 2]]
    code = (
        "import json, sys; from pathlib import Path; from tools.peers import prepare; "
        "from tools.peers.runtimes import load; from tools.peers.setup import Setup; "
        "folder, name, texts = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[4]); "
        "prepare.BUILD = Path(sys.argv[3]); model = prepare.Preparation(folder, 32, texts).model(name); "
        "runtime = load(Setup(name, 1, model, folder, 32)); "
        "print(json.dumps([runtime.call(ids)() for ids in texts]))"
    )
    command = [python, "-c", code, folder, peer, tmp_path / "build", json.dumps(texts)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    reference = Reference(folder)
    for ids, logits in zip(texts, json.loads(done.stdout), strict=True):
        assert np.abs(np.array(logits) - reference.output(ids, [0] * len(ids))).max() < bound
