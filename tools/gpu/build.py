# SPDX-License-Identifier: Apache-2.0
"""The build of what the checks run: preset gpu-check, for the GPU that is here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .checks import BUILD, Check, run
from .device import Device
from .models import Model


def program(name: str) -> Path:
    return BUILD / "bin" / name


def build(device: Device, models: Sequence[Model], with_tests: bool) -> list[Check]:
    """Configures and builds; no check in the list failed where the programs are there."""
    configure = run(
        "configure",
        [
            *("cmake", "--preset", "gpu-check", f"-DCMAKE_CUDA_ARCHITECTURES={device.capability}-real"),
            f"-DETCH_BUILD_TESTS={'ON' if with_tests else 'OFF'}",
            f"-DETCH_MODEL_DIRS={';'.join(str(model.folder) for model in models)}",
        ],
    )
    if not configure.well:
        return [Check("build", "failed", configure.failure)]
    targets = [model.program for model in models] + [f"bench-cuda-{model.name}" for model in models if not model.fp32]
    if with_tests:
        targets.append("test-cuda-device")
    jobs = str(os.cpu_count() or 1)
    made = run("build", ["cmake", "--build", "--preset", "gpu-check", "--parallel", jobs, "--target", *targets])
    if not made.well:
        return [Check("build", "failed", made.failure)]
    return [Check("build", "passed", f"{len(targets)} programs for sm_{device.capability}, {made.seconds:.0f} s")]
