# SPDX-License-Identifier: Apache-2.0
"""The machine code of the exact kernels: no fused multiply-add. Those that divide or take roots are not looked at: both
are made of fused ones, correctly rounded, and no instruction tells these from others."""

from __future__ import annotations

import re
import shutil

from .build import program
from .checks import Check, run
from .device_tests import CUDA_BIN

FUSED = re.compile(r"\bFFMA")
DIVIDES = re.compile(r"\bMUFU\.(RCP|RSQ)")  # where a division or a square root begins
NAME = "machine code of the exact kernels"


def check_sass() -> list[Check]:
    dump = shutil.which("cuobjdump") or shutil.which("cuobjdump", path=CUDA_BIN)
    if dump is None:
        return [Check(NAME, "skipped", "cuobjdump is not installed")]
    done = run("sass", [dump, "-sass", program("libetch_cuda.a")])
    if not done.well:
        return [Check(NAME, "failed", done.failure)]
    return [judge_sass(done.text)]


def judge_sass(text: str) -> Check:
    functions = re.split(r"^\s*Function : ", text, flags=re.MULTILINE)[1:]
    exact = [function for function in functions if is_exact(function.split(None, 1)[0])]
    if not exact:
        return Check(NAME, "failed", "there are none")
    judged = [function for function in exact if not DIVIDES.search(function)]
    fused = [function.split(None, 1)[0] for function in judged if FUSED.search(function)]
    if fused:
        return Check(NAME, "failed", f"fused multiply-add in {', '.join(fused[:10])}")
    if not judged:
        return Check(NAME, "failed", f"each of {len(exact)} kernels divides or takes roots")
    others = "; the others divide or take roots" if len(judged) < len(exact) else ""
    return Check(NAME, "passed", f"no fused multiply-add in {len(judged)} of {len(exact)} kernels{others}")


def is_exact(mangled: str) -> bool:
    """The fast kernels are those that know bf16."""
    return not re.search(r"Bf16|Fast", mangled)
