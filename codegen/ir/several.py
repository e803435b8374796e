# SPDX-License-Identifier: Apache-2.0
"""Several tasks on one encoder: a pass of it, and a result of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import EtchError
from .task import Computation, Face, Measure, Task, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..files.table_file import Row
    from .text import Text


@dataclass(frozen=True)
class Several(Task):
    """The tasks of some heads, by the heads' names, in their order."""

    tasks: Mapping[str, Task]

    task_names = ("several",)
    verb = "analyze"
    face = Face(
        "several", outputs="outputs of all heads", reported="outputs", field="", key="heads", count="kHeadCount"
    )

    @property
    def outputs(self) -> int:
        return sum(task.outputs for task in self.tasks.values())

    @property
    def result_bytes(self) -> int:
        """Of all heads: a result has one of each, and the self test one of them beside it."""
        return 2 * sum(task.result_bytes for task in self.tasks.values()) + 64 * len(self.tasks)

    @property
    def token_bytes(self) -> Mapping[str, int]:  # type: ignore[override]
        return {name: size for task in self.tasks.values() for name, size in task.token_bytes.items()}

    @property
    def call_bytes(self) -> Mapping[str, int]:  # type: ignore[override]
        return {name: size for task in self.tasks.values() for name, size in task.call_bytes.items()}

    @property
    def asks(self) -> bool:  # type: ignore[override]
        """Whether a head does: it has calls of its own, that of all heads leaves it out."""
        return any(task.asks for task in self.tasks.values())

    @property
    def by_words(self) -> bool:  # type: ignore[override]
        return any(task.by_words for task in self.tasks.values())

    @property
    def takes_pairs(self) -> bool:  # type: ignore[override]
        """Where every head does that reads texts as they are."""
        return all(task.takes_pairs for task in self.tasks.values() if not task.asks)

    @property
    def summary(self) -> str:
        return f"{counted(len(self.tasks), 'head')} on one encoder ({', '.join(self.tasks)})"

    @property
    def golden_texts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for task in self.tasks.values() for text in task.golden_texts))

    @property
    def options(self) -> tuple[str, ...]:
        """Each once; not those of a head that has calls of its own."""
        options = (task.options for task in self.tasks.values() if not task.asks)
        found = {each[0]: each for each in options if each}
        return tuple(part for option in found.values() for part in option)

    def described(self, computed: Computation) -> str:
        heads = "; ".join(f"{name}: {task.described(computed)}" for name, task in self.tasks.items())
        return f"{counted(len(self.tasks), 'head')} on one encoder, {heads}"

    @property
    def measure(self) -> Measure:
        self._refuse()

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        self._refuse()

    def answers(self, outputs: NDArray | Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        self._refuse()

    def score(self, answers: NDArray, truths: NDArray) -> float:
        self._refuse()

    def _refuse(self) -> NoReturn:
        """A labelled table is of one head."""
        message = (
            "--evaluate judges a model of one head: generate each head's own folder for its figures, or ask the "
            "program of all heads, analyze-NAME --evaluate FILE --head NAME"
        )
        raise EtchError("heads-not-supported", "arguments", message)


def task_of_heads(heads: Sequence[Any]) -> Task:
    """Of a graph's heads or a program's outputs: that of the only one, or all of them."""
    return heads[0].task if len(heads) == 1 else Several({head.name: head.task for head in heads})
