# SPDX-License-Identifier: Apache-2.0
"""What a generated model computes for token ids, on every kernel of this machine: by outputs_of_ids.cpp."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from classify_program import ROOT
from model_build import build_test
from numpy.typing import NDArray
from recorded_tasks import kernels_of

from codegen.ir.text import Text


@dataclass(frozen=True)
class IdsProgram:
    """Asks a model for outputs; each text is given at once, then in steps, which must agree."""

    path: Path

    @classmethod
    def of(cls, folder: Path, field: str, out: Path) -> IdsProgram:
        """Built in `out` over a generated folder; `field` is the member of its Result."""
        source = ROOT / "tests" / "end_to_end" / "models" / "outputs_of_ids.cpp"
        return cls(build_test(folder, source, out, f"-DETCH_OUTPUT={field}"))

    def kernels(self) -> list[str]:
        """The best first."""
        return kernels_of(self.path)

    def outputs(self, kernel: str, texts: Sequence[Text]) -> NDArray[np.float32]:
        """float32 [texts, outputs]."""
        given = "\n".join(" ".join(map(str, (len(text.ids), *text.ids, *text.segments))) for text in texts)
        done = subprocess.run([self.path, kernel], input=given, capture_output=True, text=True, check=True)
        return np.array([line.split() for line in done.stdout.splitlines()], np.float32)

    def on_every_kernel(self, texts: Sequence[Text]) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """Of one kernel after the other, with its name."""
        for kernel in self.kernels():
            yield kernel, self.outputs(kernel, texts)
