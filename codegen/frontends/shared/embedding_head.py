# SPDX-License-Identifier: Apache-2.0
"""An embedding that a class of `transformers` makes by itself: one row of each text, and a linear where it has one."""

from __future__ import annotations

from ...ir.graph import Head, Node, Pool, Pooling
from ...load.safetensors import TensorFile
from ...tasks.embedding import Embedding
from . import parts
from .heads import HeadOps
from .sentence_head import OUT

_ROW = "row"


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
