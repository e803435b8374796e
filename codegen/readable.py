# SPDX-License-Identifier: Apache-2.0
"""Whether a checkpoint that etch itself has made is one that it reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .errors import printable
from .load.bare_encoder import is_bare, with_pooling
from .pipeline import load, to_graph


def check_readable(folder: Path, echo: Callable[[str], None]) -> None:
    """That the weights are those of the model: a front-end takes each by name and shape, and leaves none."""
    checkpoint = load(folder)
    graph = to_graph(with_pooling(checkpoint, "mean" if is_bare(checkpoint) else None), None)
    echo(f"checked      {checkpoint.config.model_type}, {len(checkpoint.tensors.names)} tensors by name and shape")
    for note in checkpoint.notes + graph.notes:
        echo(f"note         {printable(note)}")
