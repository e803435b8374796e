# SPDX-License-Identifier: Apache-2.0
"""A tiny checkpoint and its program, for the tests beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tiny_checkpoint import write_tiny_checkpoint

from codegen.frontends import build_graph
from codegen.ir.program import Program
from codegen.load.checkpoint import Checkpoint
from codegen.load.folder import load_checkpoint
from codegen.lower import lower
from codegen.quantize import RECIPES


def tiny_program(folder: Path, recipe: str, **shape: Any) -> tuple[Program, Checkpoint]:
    """The program of `write_tiny_checkpoint(folder, **shape)`."""
    if not (folder / "config.json").exists():
        write_tiny_checkpoint(folder, **shape)
    checkpoint = load_checkpoint(folder)
    return lower(build_graph(checkpoint, checkpoint.default_max_tokens), RECIPES[recipe]), checkpoint


def random_ids(program: Program, tokens: int, seed: int = 0) -> tuple[list[int], list[int]]:
    """Ids and segments, the second half in the last segment."""
    random = np.random.default_rng(seed)
    ids = random.integers(0, program.vocabulary, tokens).tolist()
    return ids, [(program.segments - 1) * int(i >= (tokens + 1) // 2) for i in range(tokens)]
