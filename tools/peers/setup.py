# SPDX-License-Identifier: Apache-2.0
"""How a runtime is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Setup:
    """What a runtime is loaded with."""

    peer: str
    threads: int
    model: Path  # as prepared: a shared library, an ONNX file, a folder
    checkpoint: Path
    max_tokens: int
    writes: bool = False  # tokens; otherwise it answers with logits
    kernel: str = ""  # etch's kernel set; nothing: the best one
