# SPDX-License-Identifier: Apache-2.0
"""The head of a sequence classifier: one row of the text, a linear that most families have, and one to the outputs."""

from __future__ import annotations

from ...ir.graph import Head, Node, Norm, Pool, Pooling
from ...ir.task import Task
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .classifier_task import classifier_task

POOLED, OUT = "pooled", "logits"
Dense = tuple[str, str, str]  # a linear: its name, that in the file, its activation


def classifier_head(
    config: Config,
    tensors: TensorFile,
    value: str,
    width: int,
    source: str,
    dense: Dense | None = None,
    *,
    dense_bias: bool = True,
    norm: Norm | None = None,
    pooling: Pooling = "first",
    bias: bool = True,
    task: Task | None = None,
) -> tuple[tuple[Node, ...], dict[str, int], Head]:
    """The ops from `value` to the logits, the widths of what they write, and the result.

    `source` is what the file calls the last linear, `dense` one before, whose outputs, `POOLED`, may go
    through a `norm`. `task` is that of a class whose configuration does not say it.
    """
    task = classifier_task(config) if task is None else task
    row = POOLED if dense is None else "first" if pooling == "first" else "row"
    body: tuple[Node, ...] = (Pool(pooling, value, row),)
    if dense is not None:
        name, tensor, activation = dense
        body += (
            parts.linear(tensors, name, [tensor], (width, width), row, POOLED, activation, bias=dense_bias),
            *(() if norm is None else (norm,)),
        )
    shape = (task.outputs, width)
    body += (parts.linear(tensors, "classifier", [source], shape, POOLED, OUT, exact=True, bias=bias),)
    return body, {row: width, POOLED: width, OUT: task.outputs}, Head(task, OUT)
