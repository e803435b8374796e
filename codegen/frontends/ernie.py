# SPDX-License-Identifier: Apache-2.0
"""ERNIE: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`.

It is BERT; some of its checkpoints (`use_task_id`) add an embedding of the task, which is 0 where a caller names none.
"""

from __future__ import annotations

import numpy as np

from ..ir.graph import Graph, Parameter, Term
from ..ir.parameter import F32Array
from ..load.checkpoint import Checkpoint
from .bases import bert_like
from .shared import parts
from .shared.computed import Computed
from .shared.encoder_layer import LayerShape

MODEL_TYPE = "ernie"
NAME = "Ernie"
HARMLESS_KEYS = frozenset(("task_type_vocab_size",))  # without use_task_id


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""

    def tasks(prefix: str, shape: LayerShape, tables: bert_like.Tables) -> tuple[Term, ...]:
        if not checkpoint.config.flag("use_task_id", False):
            return ()
        return (Term(_task_0(checkpoint, prefix, shape.hidden, tables.segments), "segments"),)

    return bert_like.graph_of(checkpoint, max_tokens, NAME, f"{MODEL_TYPE}.", tasks)


def _task_0(checkpoint: Checkpoint, prefix: str, width: int, segments: int) -> Parameter:
    """[segments, width]: the entry of task 0, whatever the segment."""
    name = f"{prefix}embeddings.task_type_embeddings.weight"
    tasks = checkpoint.config.positive_int("task_type_vocab_size", 3, maximum=parts.MAX_WIDTH)
    learned = checkpoint.tensors.take(name, (tasks, width))

    def by_segment() -> F32Array:
        return np.repeat(learned.values[:1], segments, axis=0)

    return Parameter("task_embeddings", (Computed(name, (segments, width), by_segment, learned.file),))
