# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/gpu-check. Exit codes: 0 nothing failed, 1 something did, 2 wrong use, 77 no GPU."""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.support.options import OptionParser

from .bench import Figures, measure
from .build import build
from .checks import BUILD, Check, run
from .device import Device, NoDevice, find_device
from .device_tests import CUDA_BIN, run_device_tests, run_sanitizers
from .models import prepare_models
from .report import Report, summary, write_report
from .rows import check_rows
from .sass import check_sass

STEPS = ("tests", "rows", "sass", "bench", "sanitizers")
NO_DEVICE = 77


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        device = find_device()
    except NoDevice as reason:
        print(f"gpu-check: {reason}: nothing was checked", file=sys.stderr)
        return NO_DEVICE
    if options.find:
        print(f"{device.name}, compute capability {device.capability}")
        return 0
    checks, figures = _run_steps(device, options.only, options.without_tests)
    report = Report(device, _toolkit(), datetime.date.today().isoformat(), options.only, checks, figures)
    for path in write_report(report, options.out):
        print(path)
    print(summary(checks))
    return 1 if any(check.outcome == "failed" for check in checks) else 0


def _run_steps(device: Device, steps: Sequence[str], without_tests: bool) -> tuple[list[Check], Figures]:
    checks: list[Check] = []
    figures: Figures = {}

    def add(found: Sequence[Check]) -> None:
        for check in found:
            print(f"{check.outcome}: {check.name}: {check.detail}", flush=True)
        checks.extend(found)

    models, found = prepare_models()
    add(found)
    add(build(device, models, not without_tests))
    if checks[-1].outcome == "failed":
        return checks, figures
    no_tests = [Check("C++ tests on the GPU", "skipped", "GoogleTest is not installed")]
    if "tests" in steps:
        add(no_tests if without_tests else run_device_tests())
    if "rows" in steps:
        add(check_rows(models))
    if "sass" in steps:
        add(check_sass())
    if "bench" in steps:
        figures, found = measure(models)
        add(found)
    if "sanitizers" in steps:
        add(no_tests if without_tests else run_sanitizers())
    return checks, figures


def _toolkit() -> str:
    done = run("nvcc", ["nvcc", "--version"])
    if not done.well:
        done = run("nvcc", [Path(CUDA_BIN) / "nvcc", "--version"])
    found = re.search(r"release [\d.]+, V([\d.]+)", done.text)
    return f"CUDA {found[1]}" if found else "CUDA of unknown version"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = OptionParser("gpu-check")
    parser.add_argument("--out", type=Path, default=BUILD)
    parser.add_argument("--only", type=_steps, default=STEPS)
    parser.add_argument("--find", action="store_true")
    parser.add_argument("--without-tests", action="store_true")  # the script's: GoogleTest is missing
    return parser.parse_args(arguments)


def _steps(text: str) -> tuple[str, ...]:
    steps = tuple(text.split(","))
    if unknown := [step for step in steps if step not in STEPS]:
        raise argparse.ArgumentTypeError(f"there is no step {unknown[0]!r}")
    return steps
