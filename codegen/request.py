# SPDX-License-Identifier: Apache-2.0
"""What `generate` is asked for: its arguments, and which of them contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .budget import Limits
from .errors import EtchError
from .evaluate import DEFAULT_ROWS
from .files.table_file import Columns
from .head_folders import HeadFolder
from .load.sentence import Pooling
from .load.tokenizer_files.languages import Languages
from .memory.regions import Room
from .memory.table_places import TablePlace
from .quantize.bits import Bits
from .render.model import TableForm
from .vocabulary.pruning import Bound, RareWords


@dataclass(frozen=True)
class Prune:
    """--prune-vocabulary: what a corpus uses less often than this goes. What is None the search for a budget finds."""

    corpus: Path
    min_count: int | None
    rare_words: RareWords | None = None

    @property
    def bound(self) -> Bound:
        """EtchError where there is none."""
        if self.min_count is None:
            raise EtchError("option-incomplete", "arguments", "--prune-vocabulary needs --min-count")
        return Bound(self.min_count, self.rare_words or "spelled")


@dataclass(frozen=True)
class Evaluate:
    """--evaluate: a labelled table, and how many of its rows are asked."""

    table: Path
    rows: int = DEFAULT_ROWS
    measure: str | None = None  # that decides: the first word of its name; None: the task's own


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a checkpoint folder is read, where another way than it says."""

    pooling: Pooling | None = None  # of an encoder alone, whose folder says none
    task: str | None = None  # one of asked_task.ASKED
    beams: int | None = None  # of a generative model
    max_target: int | None = None  # of what is written
    languages: Languages | None = None  # of a translator of many
    dimensions: int | None = None  # of an embedding the first values
    heads: Sequence[HeadFolder] = ()  # on the encoder of the folder, in the place of its own head


AS_IT_SAYS = Reading()


@dataclass(frozen=True)
class Request(Reading):
    """The arguments of `generate`."""

    folder: Path
    out: Path
    name: str | None = None  # of the model; from the name of `out` where None
    recipe: str = "w8a8"
    max_tokens: int | None = None  # the checkpoint's own limit where None
    tables: TableForm = "incbin"
    target: str = "host"
    build: bool = False
    gpu: bool = False  # files for NVIDIA GPUs, too
    prune: Prune | None = None
    keep_vocabulary: Path | None = None  # a generated folder, whose pieces are kept
    evaluate: Evaluate | None = None
    columns: Columns = field(default_factory=Columns)  # of tables, unless
    prune_columns: Columns | None = None  # that of `prune` has its own,
    calibrate_columns: Columns | None = None  # or that of `calibrate`,
    smooth_columns: Columns | None = None  # or that of `smooth`
    embedding_bits: int = 8
    calibrate: Path | None = None  # texts, one a line or a row
    smooth: Path | None = None  # the same
    bits: Bits = field(default_factory=dict)  # of places that recipe and embedding_bits say otherwise of
    limits: Limits | None = None  # bits, embedding_bits and what is pruned are then chosen by the search
    board: str | None = None  # whose firmware `build` links where there are limits
    rooms: tuple[Room, ...] = ()  # regions of memory, the cheapest first, the workspace's last
    table_places: tuple[TablePlace, ...] = ()  # memories for tables, the cheapest first

    def __post_init__(self) -> None:
        """EtchError where two arguments contradict each other."""
        if self.gpu and self.target != "host":
            message = f"--gpu is for --target host: {self.target} has no NVIDIA GPU"
            raise EtchError("option-conflict", "arguments", message)
        regions = "--region" if self.rooms else "--table-region" if self.table_places else ""
        if regions and (self.gpu or self.limits is not None):
            option = "--gpu" if self.gpu else "a budget"
            message = f"{option} is for a model with one arena and its tables in one place: leave {regions} out"
            raise EtchError("option-conflict", "arguments", message)
        if self.smooth is not None and (self.gpu or self.limits is not None):
            why = "GPUs have no second norms" if self.gpu else "a budget judges the model as it is"
            raise EtchError("option-conflict", "arguments", f"{why}: leave --smooth out")
        if self.table_places and self.tables == "c":
            message = "--table-region names sections in assembly: leave --tables c out"
            raise EtchError("option-conflict", "arguments", message)
        if self.keep_vocabulary is not None and (self.prune is not None or self.limits is not None):
            other = "--prune-vocabulary" if self.prune is not None else "a budget"
            message = f"--keep-vocabulary says which pieces stay, {other} chooses them: leave one out"
            raise EtchError("option-conflict", "arguments", message)
        given = {
            "--task": self.task is not None,
            "--pooling": self.pooling is not None,
            "--dimensions": self.dimensions is not None,
            "--evaluate": self.evaluate is not None,
            "--prune-vocabulary": self.prune is not None,
            "--keep-vocabulary": self.keep_vocabulary is not None,
            "--gpu": self.gpu,
            "--beams": self.beams is not None,
            "--languages": self.languages is not None,
        }
        asked = next((option for option, is_given in given.items() if is_given), None)
        if self.heads and asked is not None:
            raise EtchError("option-conflict", "arguments", f"{asked} is for a model of one head: leave --head out")
