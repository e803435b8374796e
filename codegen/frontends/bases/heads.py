# SPDX-License-Identifier: Apache-2.0
"""What stands behind an encoder's rows, by the class that a checkpoint was saved from, and the graph of both.

A family says how its sequence classifier is made; a head that is the same in every family is one of `task_heads`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...ir.graph import Graph, Head, Node
from ...ir.task import Task
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.gru_head import GruHead
from ...load.multi_vector import MultiVectorModules
from ..shared import parts
from ..shared.classifier_head import Dense, classifier_head
from ..shared.gru_head import gru_head
from ..shared.multi_vector_head import multi_vector_head
from ..shared.prediction_head import Prediction
from ..shared.rows import HeadOps, Pooled, Rows
from ..shared.sentence_head import sentence_head
from ..task_heads import heads_of_tasks

# Heads that classes of pretraining have beside what predicts words, or in its place: BERT's, ELECTRA's, DeBERTa's,
# ALBERT's.
_OF_PRETRAINING = ("cls.*", "discriminator_predictions.*", "lm_predictions.*", "mask_predictions.*", "sop_classifier.*")


@dataclass(frozen=True)
class Encoder:
    """What makes the rows of a text; those of a decoder are read in the same way."""

    body: tuple[Node, ...]
    widths: dict[str, int]  # of the values that it writes
    vocabulary: int
    segments: int = parts.SEGMENTS
    value: str = "hidden"  # its rows

    @property
    def width(self) -> int:
        return self.widths[self.value]


@dataclass(frozen=True)
class Classifier:
    """What most families read the first row with: linears, as the file calls them."""

    source: str  # the last one of a sequence classifier
    dense: Dense | None  # the one before
    pooler: Dense | None = None  # the one before in classes for two texts, where it is another one
    pairs: bool = True  # whether there are such classes


@dataclass(frozen=True)
class FamilyHeads:
    """What the classes of a family have behind its rows."""

    classifier: Classifier | Callable[[], HeadOps] | None = None  # of one text, where there is such a class
    prediction: Prediction | None = None  # what predicts words
    pooled: Pooled | None = None  # of two texts, where a `Classifier` does not say it
    tags: str = "classifier"  # what the file calls the linear of a token classifier
    left_out: tuple[str, ...] = ()  # tensors that files often have and few other heads than the classifier use
    unread: tuple[str, ...] = ()  # those that they may have whatever the head is
    own: Mapping[str, Callable[[], HeadOps]] = field(default_factory=dict)  # of classes that no other family has so

    @property
    def beside_rows(self) -> tuple[str, ...]:
        """Tensors that files have of whose encoder sentence-transformers takes the rows alone."""
        return self.left_out + _OF_PRETRAINING + (() if self.prediction is None else self.prediction.tensors)


def head_class(config: Config, name: str) -> str | None:
    """The ending of the class that the checkpoint was saved from, where a task has the head; `name` is what the
    family's classes begin with."""
    found = next((each for each in heads_of_tasks(name) if each in config.architectures), None)
    return None if found is None else found.removeprefix(name)


def graph_with_head(
    checkpoint: Checkpoint,
    max_tokens: int,
    name: str,
    encoder: Encoder,
    heads: FamilyHeads,
    notes: tuple[str, ...] = (),
) -> Graph:
    """The graph of a checkpoint whose `encoder` has been read: takes what is left of the file. `name` is what the
    family's classes begin with."""
    body, widths, result, of_head = _read_head(checkpoint, name, encoder, heads)
    unused = checkpoint.tensors.ignore(*heads.unread)
    checkpoint.tensors.finish()
    return Graph(
        encoder.widths | widths,
        encoder.body + body,
        (result,),
        encoder.vocabulary,
        encoder.segments,
        max_tokens,
        (*of_head, *((f"not used: {', '.join(unused)}",) if unused else ()), *notes),
    )


def _read_head(
    checkpoint: Checkpoint, name: str, encoder: Encoder, heads: FamilyHeads
) -> tuple[tuple[Node, ...], dict[str, int], Head, tuple[str, ...]]:
    """The head of a checkpoint, and notes."""
    config, tensors, sentence = checkpoint.config, checkpoint.tensors, checkpoint.sentence
    value, width = encoder.value, encoder.width
    if isinstance(sentence, GruHead):
        return *gru_head(sentence, value, width), parts.left_out(tensors, *heads.left_out, by="the GRU")
    if isinstance(sentence, MultiVectorModules):
        return *multi_vector_head(sentence, value, width), _beside_rows(checkpoint, name, heads)
    if sentence is not None:
        return *sentence_head(sentence, value, width), _beside_rows(checkpoint, name, heads)
    ending, classifier = head_class(config, name), heads.classifier
    if ending is None:
        assert classifier is not None
        if isinstance(classifier, Classifier):
            return *classifier_head(config, tensors, value, width, classifier.source, classifier.dense), ()
        return *classifier(), ()
    if ending in heads.own:
        return *heads.own[ending](), parts.left_out(tensors, *heads.left_out, by=f"{name}{ending}")
    rows = Rows(
        *(config, tensors, value, width, encoder.body, checkpoint.tokenizer),
        *(heads.prediction, _pooled(checkpoint, encoder, heads), heads.tags, checkpoint.sparse),
    )
    head = heads_of_tasks(name)[f"{name}{ending}"](rows)
    return *head, parts.left_out(tensors, *heads.left_out, by=f"{name}{ending}")


def _beside_rows(checkpoint: Checkpoint, name: str, heads: FamilyHeads) -> tuple[str, ...]:
    """Notes on what sentence-transformers leaves aside, which makes the model of rows alone, by its model type: heads,
    and a class of another program."""
    tensors, named = checkpoint.tensors, checkpoint.config.architectures
    unused = tensors.ignore(*heads.beside_rows) + tensors.ignore_outside()
    notes = parts.not_used(unused, "sentence-transformers")
    if not named or any(each.lower().startswith(name.lower()) for each in named):
        return notes
    return (*notes, f"config.json says {', '.join(named)}: read by model_type, as {name}Model")


def _pooled(checkpoint: Checkpoint, encoder: Encoder, heads: FamilyHeads) -> Pooled | None:
    """What classes for two texts have, where there are some."""
    classifier = heads.classifier
    if heads.pooled is not None or not isinstance(classifier, Classifier) or not classifier.pairs:
        return heads.pooled
    dense = classifier.pooler or classifier.dense

    def read(source: str, task: Task) -> HeadOps:
        config, tensors = checkpoint.config, checkpoint.tensors
        return classifier_head(config, tensors, encoder.value, encoder.width, source, dense, task=task)

    return read
