# SPDX-License-Identifier: Apache-2.0
"""Figures: each model's benchmark, and PyTorch beside BERT-base where it can be imported."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .build import program
from .checks import LOGS, ROOT, Check, run
from .models import Model

MEMORY_NAMES = ("weights", "session", "context", "graphs", "page-locked")
MEMORY = re.compile(rf"^({'|'.join(MEMORY_NAMES)}) +(\d+) bytes", re.MULTILINE)

Figures = dict[str, list[dict[str, Any]]]  # by model, or "torch"


def measure(models: Sequence[Model]) -> tuple[Figures, list[Check]]:
    figures: Figures = {}
    checks = []
    for model in models:
        if model.fp32:
            continue
        memory, check = measure_memory(model)
        checks.append(check)
        path = LOGS / f"bench-{model.name}.jsonl"
        path.unlink(missing_ok=True)
        done = run(f"bench-{model.name}", [program(f"bench-cuda-{model.name}"), "--json", path])
        name = f"{model.name}: benchmark"
        if done.well and path.exists():
            figures[model.name] = memory + read_figures(path)
            checks.append(Check(name, "passed", f"{len(figures[model.name])} figures, {done.seconds:.0f} s"))
        else:
            checks.append(Check(name, "failed", done.failure))
    checks.append(measure_torch(figures))
    return figures, checks


def measure_memory(model: Model) -> tuple[list[dict[str, Any]], Check]:
    """What weights and a session for one text take, as the program says."""
    rows = []
    for mode in ("exact", "fast"):
        done = run(f"memory-{model.name}", [program(model.program), "--memory", "--device", "cuda", "--mode", mode])
        found = {name: int(number) for name, number in MEMORY.findall(done.text)}
        if not done.well or len(found) < len(MEMORY_NAMES):
            return rows, Check(f"{model.name}: memory", "failed", done.failure)
        rows.append({"what": "memory", "mode": mode} | found)
    weights = ", ".join(f"{row['mode']} {(row['weights'] + row['session']) / 1e6:.1f} MB" for row in rows)
    return rows, Check(f"{model.name}: memory", "passed", f"weights and session: {weights}")


def read_figures(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def measure_torch(figures: Figures) -> Check:
    name = "PyTorch beside it"
    python = shutil.which("python3") or "python3"
    done = run("torch", [python, ROOT / "tools" / "gpu" / "torch_peer.py"])
    lines = [json.loads(line) for line in done.text.splitlines() if line.startswith("{")]
    if done.well and lines and "skipped" in lines[0]:
        return Check(name, "skipped", lines[0]["skipped"])
    if not done.well or not lines:
        return Check(name, "failed", done.failure)
    figures["torch"] = lines
    return Check(name, "passed", lines[0]["versions"])
