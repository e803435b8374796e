# SPDX-License-Identifier: Apache-2.0
"""An embedding that a class of `transformers` makes by itself: one row of each text, and a linear where it has one."""

from __future__ import annotations

from ...ir.graph import Head, Node, Pool, Pooling
from ...load.checkpoint import Checkpoint
from ...load.multi_vector import MultiVectorModules
from ...load.safetensors import TensorFile
from ...load.sentence import SentenceModules
from ...tasks.embedding import Embedding
from . import parts
from .rows import HeadOps
from .sentence_head import OUT

_ROW = "row"


def check_no_rows(checkpoint: Checkpoint, name: str) -> None:
    """Refuses what a folder or --pooling would make of the rows of a class that makes its embedding by itself."""
    if isinstance(checkpoint.sentence, SentenceModules | MultiVectorModules):
        message = f"{name} makes the embedding by itself, and has no rows for modules.json or --pooling"
        raise parts.refuse("architecture-conflict", message)


def embedding_head(
    tensors: TensorFile,
    pooling: Pooling,
    value: str,
    width: int,
    projection: str | None = None,
    outputs: int = 0,
    *,
    bias: bool = True,
    end: int | None = None,
) -> HeadOps:
    """As `Pool` has the row. `projection` is what the file calls the linear to so many `outputs`."""
    if projection is None:
        return (Pool(pooling, value, OUT, end),), {OUT: width}, Head(Embedding(width), OUT)
    shape = (outputs, width)
    body: tuple[Node, ...] = (
        Pool(pooling, value, _ROW, end),
        parts.linear(tensors, "projection", [projection], shape, _ROW, OUT, bias=bias),
    )
    return body, {_ROW: width, OUT: outputs}, Head(Embedding(outputs), OUT)
