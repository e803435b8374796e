# SPDX-License-Identifier: Apache-2.0
"""Whole models over real texts: the exact mode bit for bit against the CPU, the accuracy of the fast one."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from codegen.files.outside_files import NamedFile
from codegen.files.table_file import split_rows

from .build import program
from .checks import BUILD, ROOT, Check, Done, run
from .models import Model

MOST_POINTS = 0.2  # of accuracy that the fast mode may lose to fp32
TEXTS = ROOT / "tests" / "golden" / "texts.txt"


def check_rows(models: Sequence[Model]) -> list[Check]:
    table = ag_news()
    checks = []
    for model in models:
        if not model.fp32:
            checks.append(check_exact(model, TEXTS if table is None or not model.classifies else lines_of(table)))
    if table is None:
        return [*checks, Check("accuracy of the fast mode", "skipped", "ETCH_DATA is not set")]
    built = {model.name for model in models}
    for model in models:
        if model.classifies and model.reference in built:
            checks.append(check_fast(model, table))
        elif model.classifies and not model.fp32:
            checks.append(Check(f"{model.name}: accuracy of the fast mode", "skipped", "its fp32 model is not there"))
    return checks


def ag_news() -> Path | None:
    folder = os.environ.get("ETCH_DATA")
    return Path(folder) / "ag_news" / "test.csv" if folder else None


def lines_of(table: Path) -> Path:
    """The texts of a table, one a line, as --evaluate joins them."""
    path = BUILD / "ag_news.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = split_rows(NamedFile(table, "table", "gpu").text(), table)
    texts = [" ".join(fields[1:]).replace("\n", " ") for _, fields in rows]
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def check_exact(model: Model, texts: Path) -> Check:
    name = f"{model.name}: exact mode, {texts.stem}"
    command = [program(model.program), "--json", "--file", texts]
    cpu = run(f"{model.name}-cpu", [*command, "--threads", "0"])
    if not cpu.well:
        return Check(name, "failed", f"on the CPU {cpu.failure}")
    gpu = run(f"{model.name}-exact", [*command, "--device", "cuda", "--mode", "exact"])
    return judge_exact(name, cpu, gpu)


def judge_exact(name: str, cpu: Done, gpu: Done) -> Check:
    """Equal lines are equal bits: 9 digits tell every float from its neighbours."""
    if not gpu.well:
        return Check(name, "failed", gpu.failure)
    ours, theirs = ([line for line in done.text.splitlines() if line.startswith("{")] for done in (gpu, cpu))
    if not theirs or len(ours) != len(theirs):
        return Check(name, "failed", f"{len(ours)} answers for {len(theirs)}")
    differ = [number for number, (a, b) in enumerate(zip(ours, theirs, strict=True), 1) if a != b]
    if differ:
        return Check(
            name, "failed", f"{len(differ)} of {len(ours)} rows differ from the CPU's, the first is row {differ[0]}"
        )
    return Check(
        name, "passed", f"{len(ours)} rows have the CPU's bits, {gpu.seconds:.1f} s (CPU: {cpu.seconds:.1f} s)"
    )


def check_fast(model: Model, table: Path) -> Check:
    name = f"{model.name}: accuracy of the fast mode"
    reference = f"classify-{model.reference}"
    fp32 = run(f"{model.reference}-accuracy", [program(reference), "--evaluate", table, "--threads", "0"])
    command = [program(model.program), "--evaluate", table, "--device", "cuda", "--mode", "fast"]
    return judge_fast(name, fp32, run(f"{model.name}-fast", command))


def judge_fast(name: str, fp32: Done, fast: Done) -> Check:
    for done in (fp32, fast):
        if not done.well:
            return Check(name, "failed", done.failure)
    found, least = accuracy(fast), accuracy(fp32) - MOST_POINTS
    detail = f"{found:.2f} %, fp32 on the CPU {accuracy(fp32):.2f} %, at least {least:.2f} % wanted"
    return Check(name, "passed" if found >= least - 1e-9 else "failed", detail)


def accuracy(done: Done) -> float:
    found = re.search(r"^accuracy: ([\d.]+) %", done.text, re.MULTILINE)
    return float(found[1]) if found else float("nan")
