# SPDX-License-Identifier: Apache-2.0
"""ERNIE: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`.

It is BERT; some of its checkpoints (`use_task_id`) add an embedding of the task, which is 0 where a caller names none.
"""

from __future__ import annotations

import numpy as np

from ...ir.graph import Parameter, Term
from ...ir.parameter import F32Array
from ...load.checkpoint import Checkpoint
from ..bases.bert_like import Family, Tables
from ..shared import parts
from ..shared.computed import Computed
from ..shared.encoder_layer import LayerShape

MODEL_TYPE = "ernie"
HARMLESS_KEYS = frozenset(("task_type_vocab_size",))  # without use_task_id


def _tasks(checkpoint: Checkpoint, prefix: str, shape: LayerShape, tables: Tables) -> tuple[Term, ...]:
    if not checkpoint.config.flag("use_task_id", False):
        return ()
    return (Term(_task_0(checkpoint, prefix, shape.hidden, tables.segments), "segments"),)


def _task_0(checkpoint: Checkpoint, prefix: str, width: int, segments: int) -> Parameter:
    """[segments, width]: the entry of task 0, whatever the segment."""
    name = f"{prefix}embeddings.task_type_embeddings.weight"
    tasks = checkpoint.config.positive_int("task_type_vocab_size", 3, maximum=parts.MAX_WIDTH)
    learned = checkpoint.tensors.take(name, (tasks, width))

    def by_segment() -> F32Array:
        return np.repeat(learned.values[:1], segments, axis=0)

    return Parameter("task_embeddings", (Computed(name, (segments, width), by_segment, learned.file),))


FAMILY = Family("Ernie", "ernie.", terms=_tasks)
