# SPDX-License-Identifier: Apache-2.0
"""The C++ tests on the GPU: kernels against scalar, whole models in both modes; and under compute-sanitizer."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

from .build import program
from .checks import LOGS, Check, Done, run

# What each sanitizer runs. racecheck slows a kernel down a hundredfold: cuBLASLt's too, of which whole models are made.
SANITIZED = {"memcheck": "-*Long*", "racecheck": "-*Long*:Modes/*", "initcheck": "-*Long*", "synccheck": "-*Long*"}
CUDA_BIN = "/usr/local/cuda/bin"


def run_device_tests() -> list[Check]:
    report = LOGS / "device-tests.json"
    report.unlink(missing_ok=True)
    done = run("device-tests", [program("test-cuda-device"), "--gtest_brief=1", f"--gtest_output=json:{report}"])
    return [judge_tests(done, json.loads(report.read_text()) if report.exists() else None)]


def judge_tests(done: Done, report: dict[str, Any] | None) -> Check:
    """Passed only where tests ran, all of those that ran passed, and the program itself ended well."""
    name = "C++ tests on the GPU"
    if report is None:
        return Check(name, "failed", done.failure)
    cases = [(suite["name"], case) for suite in report["testsuites"] for case in suite["testsuite"]]
    failed = [f"{suite}.{case['name']}" for suite, case in cases if case.get("failures")]
    skipped = [f"{suite}.{case['name']}" for suite, case in cases if case["result"] == "SKIPPED"]
    passed = len(cases) - len(failed) - len(skipped)
    detail = f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped, {done.seconds:.0f} s"
    if failed:
        return Check(name, "failed", f"{detail}: {', '.join(failed[:20])}")
    if not done.well:
        return Check(name, "failed", f"{detail}, then {done.failure}")
    if passed == 0:
        return Check(name, "failed", f"{detail}: nothing ran")
    if re.search(r"^no GPU$", done.text, re.MULTILINE):
        return Check(name, "failed", f"{detail}: the CUDA runtime does not see the GPU that the driver has")
    return Check(name, "passed", detail + (f": {', '.join(skipped[:20])}" if skipped else ""))


def run_sanitizers() -> list[Check]:
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=CUDA_BIN)
    if sanitizer is None:
        return [Check("compute-sanitizer", "skipped", "it is not installed")]
    checks = []
    for tool, tests in SANITIZED.items():
        command = [sanitizer, "--tool", tool, "--error-exitcode", "99", program("test-cuda-device")]
        done = run(f"sanitizer-{tool}", [*command, "--gtest_brief=1", f"--gtest_filter={tests}"], timeout=300)
        checks.append(judge_sanitizer(f"compute-sanitizer {tool}", done))
    return checks


def judge_sanitizer(name: str, done: Done) -> Check:
    found = re.search(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (.*)", done.text)
    if re.search(r"Device not supported|Failed to initialize", done.text):
        return Check(name, "skipped", f"it cannot watch this GPU ({done.place})")
    if not done.well or found is None:
        return Check(name, "failed", found[1] + f" ({done.place})" if found else done.failure)
    ran = re.search(r"\[  PASSED  \] (\d+) test", done.text)
    if ran is None or ran[1] == "0":
        return Check(name, "failed", f"no test ran ({done.place})")
    return Check(name, "passed", f"{ran[1]} tests, {found[1]}, {done.seconds:.0f} s")
