# SPDX-License-Identifier: Apache-2.0
"""What may stand where a text has a mask: `*ForMaskedLM`. As the fill-mask pipeline of `transformers`, over the whole
vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row, refused
from ..ir.task import Computation, Face, Measure, Task
from ..ir.text import Text
from ..ir.tokenizer_spec import METASPACE, AddedToken
from .columns import parts_of

MOST_CANDIDATES = 16  # of a mask
JUDGED = 5  # candidates among which the right one counts as found
AMONG, FIRST = Measure(f"top-{JUDGED} accuracy", percent=True), Measure("top-1 accuracy", percent=True)


@dataclass(frozen=True)
class FillMask(Task):
    """The most likely tokens for each mask."""

    mask: AddedToken
    candidates: int  # of each mask
    pieces: tuple[str, ...] = field(repr=False)  # by id; empty where there is none

    task_names = ("fill_mask",)
    verb = "fill_mask"
    face = Face(
        "fill_mask",
        outputs="candidates",
        reported="probabilities",
        field="best",
        key="masks",
        count="kBestWidth",
    )
    rows = "masks"
    names_pieces = True
    token_bytes = {"masks": 4, "scored_ids": 4, "scored_segments": 1}  # noqa: RUF012 - a constant of the class
    call_bytes = {"scoring": 64}  # noqa: RUF012

    @property
    def outputs(self) -> int:
        """Ids, then probabilities."""
        return 2 * self.candidates

    @property
    def result_bytes(self) -> int:
        """The result has views only, but the arena has more of them than other models', in each call's frame."""
        return 64 + 256

    @property
    def summary(self) -> str:
        return f"The likeliest of its pieces for each mask of a text, up to {self.candidates}"

    @property
    def golden_texts(self) -> tuple[str, ...]:
        mask = self.mask.content
        return (f"The {mask} of the museum {mask} in spring.",)

    @property
    def options(self) -> tuple[str, ...]:
        return ("--top", str(self.candidates))

    def described(self, computed: Computation) -> str:
        return f"the {self.candidates} most likely tokens for each {self.mask.content} (softmax over the vocabulary)"

    def template_values(self, literal: Callable[[str], str]) -> dict[str, Any]:
        return {"mask_id": self.mask.id, "mask_token": literal(self.mask.content), "candidates": self.candidates}

    def outputs_of(self, answer: Mapping[str, Any]) -> NDArray:
        rows = [
            [candidate[key] for key in ("id", "probability") for candidate in candidates]
            for candidates in answer["masks"]
        ]
        return np.array(rows, np.float32).reshape(len(rows), self.outputs)

    def rows_in(self, ids: Sequence[int]) -> int | None:
        return list(ids).count(self.mask.id)

    def compared(self, outputs: NDArray) -> NDArray:
        return outputs[:, self.candidates :]

    @property
    def measure(self) -> Measure:
        return AMONG

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (AMONG, FIRST)

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """Of each row the pieces of its masks."""
        found = np.empty(len(chosen), object)
        for index, row in enumerate(chosen):
            found[index] = parts_of(row.value)
            masks = row.joined.count(self.mask.content)
            if len(found[index]) != masks:
                pieces = f"the label {len(found[index])} pieces, separated by ;"
                raise refused(path, row.line, f"the text has {masks} masks, {pieces}")
        return found

    def answers(self, outputs: Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """Of each row the names of the first candidates of each mask."""
        found = np.empty(len(outputs), object)
        judged = min(JUDGED, self.candidates)
        for index, masks in enumerate(outputs):
            found[index] = [[names_of(self.pieces[int(i)]) for i in mask[:judged]] for mask in masks]
        return found

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return self.measured(answers, truths, AMONG)

    def measured(self, answers: NDArray, truths: NDArray, measure: Measure) -> float:
        judged = 1 if measure == FIRST else JUDGED
        wanted = sum(map(len, truths))
        right = sum(
            any(piece in names for names in candidates[:judged])
            for masks, pieces in zip(answers, truths, strict=True)
            for candidates, piece in zip(masks, pieces, strict=False)
        )
        return 100 * right / max(wanted, 1)


def names_of(piece: str) -> tuple[str, ...]:
    """What a piece is called in a table: as it is, or without the mark of a word's beginning."""
    plain = piece[1:] if piece.startswith((" ", METASPACE)) else piece
    return (piece, plain) if plain else (piece,)


TASK = FillMask
