# SPDX-License-Identifier: Apache-2.0
"""What stands behind an encoder's rows, by the class that a checkpoint was saved from.

A family says how its sequence classifier is made; a head that is the same in every family is one of `task_heads`.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir.graph import Head, Node
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.gru_head import GruHead
from ...load.multi_vector import MultiVectorModules
from ..shared import parts
from ..shared.gru_head import gru_head
from ..shared.multi_vector_head import multi_vector_head
from ..shared.prediction_head import Prediction
from ..shared.rows import HeadOps, Pooled, Rows
from ..shared.sentence_head import sentence_head
from ..task_heads import heads_of_tasks

CLASSIFIER_ENDING = "ForSequenceClassification"


def head_class(config: Config, classifier: str) -> str | None:
    """The ending of the class that the checkpoint was saved from, where a task has the head; `classifier` is the
    family's sequence classifier."""
    family = classifier.removesuffix(CLASSIFIER_ENDING)
    found = next((name for name in heads_of_tasks(family) if name in config.architectures), None)
    return None if found is None else found.removeprefix(family)


def read_head(
    checkpoint: Checkpoint,
    classifier: str,
    value: str,
    width: int,
    classify: Callable[[], HeadOps] | None,
    pooler: tuple[str, ...] = (),
    body: tuple[Node, ...] = (),
    prediction: Prediction | None = None,
    pooled: Pooled | None = None,
    tags: str = "classifier",
) -> tuple[tuple[Node, ...], dict[str, int], Head, tuple[str, ...]]:
    """The head of a checkpoint, and notes. `classify` reads that of a sequence classifier, where the family has one;
    `pooler` are tensors that files often have and few other heads use; `body` makes `value`, `prediction` says what
    predicts words of it, `pooled` reads the head of a class for two texts, `tags` is what the file calls the
    linear of a token classifier."""
    config, tensors = checkpoint.config, checkpoint.tensors
    ending = head_class(config, classifier)
    if isinstance(checkpoint.sentence, GruHead):
        return *gru_head(checkpoint.sentence, value, width), parts.left_out(tensors, *pooler, by="the GRU")
    if isinstance(checkpoint.sentence, MultiVectorModules):
        return *multi_vector_head(checkpoint.sentence, value, width), parts.left_out(tensors, *pooler)
    if checkpoint.sentence is not None:
        return *sentence_head(checkpoint.sentence, value, width), parts.left_out(tensors, *pooler)
    if ending is None:
        assert classify is not None
        return *classify(), ()
    name = classifier.removesuffix(CLASSIFIER_ENDING) + ending
    tokenizer, sparse = checkpoint.tokenizer, checkpoint.sparse
    rows = Rows(config, tensors, value, width, body, tokenizer, prediction, pooled, tags, sparse)
    head = heads_of_tasks(name.removesuffix(ending))[name](rows)
    return *head, parts.left_out(tensors, *pooler, by=name)
