# SPDX-License-Identifier: Apache-2.0
"""Labels of tokens, and entities made of them: `*ForTokenClassification`.

Names are read as the pipeline of `transformers` reads them (TokenClassificationPipeline.get_tag, group_sub_entities).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Columns, Echo, Row, refused
from ..ir.task import Computation, Face, Measure, Task, counted, margin
from ..ir.text import Text
from ..ir.tokenizer_spec import TokenizerSpec
from .entities import entity_f1
from .names import listed, printable_name
from .tagged_words import read_tagged, tags_of_words
from .token_places import need_token_places

OUTSIDE = "O"


@dataclass(frozen=True)
class Tagging(Task):
    """The labels of tokens; exactly one holds for each."""

    labels: tuple[str, ...]

    task_names = ("tagging",)
    verb = "tag"
    face = Face(
        "tagging",
        outputs="probabilities",
        reported="probabilities",
        field="probability",
        key="probabilities",
        count="kLabelCount",
        options=("--probabilities",),
    )
    has_labels = True
    rows = "tokens"
    token_bytes = {"offsets": 8, "marks": 1}  # noqa: RUF012 - a constant of the class
    takes_pairs = False
    by_words = True

    @property
    def outputs(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        return self.labels

    @property
    def entities(self) -> tuple[str, ...]:
        """What entities are called."""
        return tuple(dict.fromkeys(map(_entity, self.labels)))

    @property
    def result_bytes(self) -> int:
        """The result has views only."""
        return 64

    @property
    def summary(self) -> str:
        return f"Tokens of a text into {counted(self.outputs, 'label')}"

    def described(self, computed: Computation) -> str:
        return f"tagging of tokens (softmax), {listed(self.labels, 'label')}"

    def template_values(self, literal: Callable[[str], str]) -> dict[str, Any]:
        """The entity that each label is of, and which labels may go on which."""
        groups = list(dict.fromkeys(map(_group, self.labels)))
        return {
            "entities": [literal(name) for name in self.entities],
            "tag_labels": [
                {
                    "entity": self.entities.index(_entity(label)),
                    "group": groups.index(_group(label)),
                    "begins": label.startswith("B-"),
                    "outside": label == OUTSIDE,
                    "no_entity": _entity(label) == OUTSIDE,
                }
                for label in self.labels
            ],
        }

    def change(self, outputs: NDArray, expected: NDArray) -> str | None:
        here, there = np.argmax(outputs, axis=1), np.argmax(expected, axis=1)
        other = np.flatnonzero(here != there)
        if not other.size:
            return None
        token = int(other[0])
        label, changed = int(there[token]), int(here[token])
        reference = f"{self._named(expected[token], label)}, {margin(expected[token], label, changed)}"
        ours = f"{self._named(outputs[token], changed)}, {margin(outputs[token], changed, label)}"
        return f"{counted(other.size, 'token')}, first token {token + 1}: reference {reference}; here {ours}"

    def _named(self, row: NDArray, label: int) -> str:
        return f"{printable_name(self.labels[label])} {float(row[label]):.6f}"

    @property
    def measure(self) -> Measure:
        return Measure("entity F1", percent=True)

    def read(self, path: Path, columns: Columns, echo: Echo) -> list[Row]:
        return read_tagged(path)

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """Of each row the tags of its words."""
        for row in table:
            for tag in row.value.split(" "):
                if tag != OUTSIDE and tag not in self.labels:
                    raise refused(path, row.line, f"unknown label '{printable_name(tag)}'")
        return _lists([row.value.split(" ") for row in chosen])

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Text] | None:
        need_token_places(spec)
        return super().encoded(spec, max_tokens, rows)

    def answers(self, outputs: Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """The same, by each word's first token."""
        return _lists(
            [
                tags_of_words(row.joined, text.offsets, [self.labels[i] for i in np.argmax(found, axis=1)], OUTSIDE)
                for found, row, text in zip(outputs, rows, texts, strict=True)
            ]
        )

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return 100 * entity_f1(truths, answers)


TASK = Tagging


def _entity(label: str) -> str:
    """The name of an entity that begins with a token of this label."""
    return label.split("-", 1)[-1]


def _group(label: str) -> str:
    """Labels with the same one may go on each other."""
    return label[2:] if label.startswith(("B-", "I-")) else label


def _lists(values: list[list[str]]) -> NDArray:
    """[rows] of lists, whatever their lengths."""
    array = np.empty(len(values), object)
    array[:] = values
    return array
