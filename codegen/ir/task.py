# SPDX-License-Identifier: Apache-2.0
"""What a model answers with, as every stage sees it. Each task is a module of `codegen/tasks`; no stage knows which.

Imported before NumPy may be: `etch --help` needs the names of tasks only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from ..files.table_file import Columns, Echo, Row
    from .target_rules import TargetRules
    from .tokenizer_spec import TokenizerSpec


@dataclass(frozen=True)
class Face:
    """How a task's outputs appear in generated code and in the program's JSON."""

    template: str  # templates/tasks/TEMPLATE.j2, .h.j2 and .c.j2; .example.j2 prints a result
    outputs: str  # in words
    reported: str  # in words, of many texts
    field: str  # of Result: the outputs as the model computes them
    key: str  # of the JSON, for the same
    count: str  # the constant of their number
    options: tuple[str, ...] = ()  # that the program needs besides --json to print them


@dataclass(frozen=True)
class Measure:
    """What tells how good answers are; larger is better, 1 or 100 % the best."""

    name: str
    percent: bool = False
    sign: str = " %"  # behind a share of 100

    def text(self, value: float) -> str:
        """A value of it."""
        return f"{value:.2f}{self.sign}" if self.percent else f"{value:.4f}"


class Computation(Protocol):
    """How the outputs are computed, as far as a description says it: what is asked of a graph, which has a task and so
    is not known here."""

    @property
    def body(self) -> Sequence[object]:
        """The ops and layers of the phase that runs once."""

    @property
    def target_rules(self) -> TargetRules | None:
        """What it writes."""


class Task(ABC):
    """Graph and program carry one; a subclass is a frozen dataclass with what differs from model to model."""

    task_names: ClassVar[tuple[str, ...]]  # all that `name` can be
    verb: ClassVar[str]  # what functions and the program are called
    face: ClassVar[Face]
    has_labels: ClassVar[bool] = False  # outputs are of labels, of which some hold
    says_label: ClassVar[bool] = False  # the program's JSON has a `label`, that of the largest output
    on_gpus: ClassVar[bool] = False  # whether the code for GPUs has it
    activates: ClassVar[bool] = False  # whether the outputs go through one more op into the result
    many_outputs: ClassVar[bool] = False  # so many that self_test() knows a CRC of them
    rows: ClassVar[Literal["text", "tokens", "masks", "steps"]] = "text"  # what the outputs have a row of
    token_bytes: ClassVar[Mapping[str, int]] = MappingProxyType({})  # that the arena has for each token of a result
    call_bytes: ClassVar[Mapping[str, int]] = MappingProxyType({})  # and for each call
    names_pieces: ClassVar[bool] = False  # whether it has ids of the vocabulary, which then stays whole
    by_words: ClassVar[bool] = False  # whether it is asked which tokens begin a word
    asks: ClassVar[bool] = False  # takes a question and a context of any length, which is read in windows
    own_calls: ClassVar[bool] = False  # VERB() takes more than a text, as the templates say; VERB_text() takes one
    beside_others: ClassVar[bool] = True  # may be one of several heads: reads texts as they are, or `asks`
    takes_pairs: ClassVar[bool] = True  # whether two texts may come at once
    relative: ClassVar[bool] = False  # outputs may have any size: differences count relative to the largest
    texts_of_row: ClassVar[int] = 1  # of a labelled table: texts that are asked one by one

    @property
    def name(self) -> str:
        """As in etch::Task and etch.json."""
        return self.task_names[0]

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Floats that the model computes for a row."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the outputs, where they have any."""
        return ()

    @property
    @abstractmethod
    def result_bytes(self) -> int:
        """Of the arrays in Result."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """What the model does, for the first line of its header."""

    @property
    def tables(self) -> Mapping[str, NDArray]:
        """Arrays that only the task's own calls read, by name."""
        return {}

    def template_values(self, literal: Callable[[str], str]) -> dict[str, Any]:
        """What only this task's own templates ask for; `literal` makes C++ of a string."""
        return {}

    @abstractmethod
    def described(self, computed: Computation) -> str:
        """What the report says."""

    @property
    def one_label(self) -> bool:
        """Whether it answers with the label of the largest output."""
        return False

    # --- how a model's answers compare with another's

    @property
    def golden_texts(self) -> tuple[str, ...]:
        """What the golden texts need to have some of."""
        return ()

    @property
    def options(self) -> tuple[str, ...]:
        """That the program needs besides --json to print all outputs."""
        return self.face.options

    def outputs_of(self, answer: Mapping[str, Any]) -> NDArray:
        """The outputs as the program printed them: 9 significant digits name one float32, whose bits reading them
        through float64 gives back. KeyError, TypeError or ValueError where it did not."""
        import numpy as np

        return np.array(answer[self.face.key], np.float32)

    def rows_in(self, ids: Sequence[int]) -> int | None:
        """How many rows of outputs a text of these tokens has; None: one, of the text."""
        return len(ids) if self.rows == "tokens" else None

    def compared(self, outputs: NDArray) -> NDArray:
        """The part of the outputs whose differences count."""
        return outputs

    def change(self, outputs: NDArray, expected: NDArray) -> str | None:
        """Where other labels hold than expected: which; None where none do, or the task has no labels."""
        return None

    # --- how good a model's answers are on a labelled table

    @property
    @abstractmethod
    def measure(self) -> Measure:
        """What the score is."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All that there are, `measure` the first."""
        return (self.measure,)

    def measured(self, answers: NDArray, truths: NDArray, measure: Measure) -> float:
        """By one of `measures`, in its unit."""
        return self.score(answers, truths)

    def read(self, path: Path, columns: Columns, echo: Echo) -> list[Row]:
        """All rows of a labelled file, of which `echo` is told what is used. EtchError where it is none."""
        from ..files.table_file import read_table

        return read_table(path, columns, echo)

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Any] | None:
        """What is asked for the rows of a table, a `Text` or what has its members; None: each text of a row."""
        return None

    @abstractmethod
    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """What the answers to the chosen rows of a table should be: [rows, ...]. EtchError where a row is none. `spec`
        says how labels are read: 0, 1 or names."""

    @abstractmethod
    def answers(self, outputs: Any, rows: Sequence[Row], texts: Sequence[Any]) -> NDArray:
        """The answers, as the truths are written, from the outputs for all texts of the rows: [texts, outputs], or
        [tokens, outputs] for each."""

    @abstractmethod
    def score(self, answers: NDArray, truths: NDArray) -> float:
        """In the unit of `measure`."""


def counted(n: int, noun: str) -> str:
    """`3 labels`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def margin(values: NDArray, label: int, other: int) -> str:
    """`margin 0.012345`: by how much one label is ahead of another one."""
    return f"margin {float(values[label] - values[other]):.6f}"
