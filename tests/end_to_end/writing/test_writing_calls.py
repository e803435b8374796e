# SPDX-License-Identifier: Apache-2.0
"""Calls of generative models as nobody should make them: refused, cancelled, in pieces, by models that never end."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from classify_program import ROOT
from graph_builder import VOCABULARY
from model_build import build_test
from once import once
from test_generation_programs import RESTRICTED, ROOMY, checkpoint, generate, graph

from codegen.ir.search import Search

__all__ = ["checkpoint"]  # a fixture


@pytest.mark.parametrize(
    "form", [f"encoder and decoder{ROOMY}{RESTRICTED}", pytest.param("gpt2/two_layers", marks=pytest.mark.sweep)]
)
def test_calls(form: str, checkpoint: Path, shared: Path, tmp_path: Path) -> None:
    """Its end may come behind as many tokens as there are room for: nothing but the length ends it."""
    made = graph(form)
    assert made.target_rules is not None
    rules = replace(made.target_rules, search=Search(3), least_tokens=made.target_rules.max_tokens)
    folder = shared / "endless" / form.replace(", ", "_").replace(" ", "_").replace("/", "_") / "form"
    once(
        folder.parent / "made",
        form,
        lambda: generate(replace(made, target_rules=rules), "w8a8", "host", checkpoint, folder),
    )
    source = ROOT / "tests" / "end_to_end" / "writing" / "writing_calls.cpp"
    program = build_test(folder, source, tmp_path / "program", f"-DETCH_VOCABULARY={VOCABULARY}")
    for seed in range(3):
        done = subprocess.run([program, str(seed)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_an_executor_that_fails(checkpoint: Path, shared: Path, tmp_path: Path) -> None:
    """In float32, where what nobody wrote stays no number up to the logits."""
    made = graph(f"encoder and decoder{ROOMY}")
    assert made.target_rules is not None
    rules = replace(made.target_rules, search=Search(3))
    folder = shared / "failing" / "form"
    once(
        folder.parent / "made",
        "fp32",
        lambda: generate(replace(made, target_rules=rules), "fp32", "host", checkpoint, folder),
    )
    source = ROOT / "tests" / "end_to_end" / "writing" / "writing_failing_executor.cpp"
    done = subprocess.run(
        [build_test(folder, source, tmp_path / "program")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "same bits" in done.stdout
