# SPDX-License-Identifier: Apache-2.0
"""A text out of a text, token by token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.table_file import Row
from ..ir.chat import Chat
from ..ir.task import Computation, Face, Measure, Task
from ..ir.text import Text
from .translation_scores import bleu, chrf

EXACT, BLEU, CHRF = Measure("exact match", True), Measure("BLEU", True, ""), Measure("chrF", True, "")
MEASURES = (EXACT, BLEU, CHRF)


@dataclass(frozen=True)
class Generation(Task):
    """Logits of a vocabulary for each step; the largest one's token is written."""

    vocabulary: int
    max_tokens: int  # of a text that is written, its end included
    chat: Chat | None = None  # how conversations are written, of a model that goes on with texts

    task_names = ("generation",)
    verb = "generate"
    face = Face("generation", outputs="tokens", reported="texts", field="tokens", key="ids", count="kMaxTarget")
    rows = "steps"
    beside_others = False
    takes_pairs = False

    @property
    def outputs(self) -> int:
        return self.vocabulary

    @property
    def result_bytes(self) -> int:
        """The result has numbers only: the text goes where the caller says."""
        return 32

    @property
    def summary(self) -> str:
        return f"Writes up to {self.max_tokens} tokens"

    def described(self, computed: Computation) -> str:
        chat = "" if self.chat is None else ", conversations"
        return f"{self.name} ({_search(computed)}), up to {self.max_tokens} tokens of {self.vocabulary:,}{chat}"

    def template_values(self, literal: Callable[[str], str]) -> dict[str, Any]:
        chat = self.chat
        if chat is None:
            return {"chat": None}
        before_system, behind_system = chat.system or ("", "")
        texts = {
            "before": chat.before,
            "before_system": before_system,
            "behind_system": behind_system,
            "before_answer": chat.before_answer,
            "behind_answer": chat.behind_answer,
            "ask": chat.ask,
            "thinking_end": chat.thinking_end,
        }
        trims = {
            "trim_system": chat.trim_system,
            "trim_user": chat.trim_user,
            "trim_answer": chat.trim_answer,
            "trim_behind_thinking": chat.trim_behind_thinking,
        }
        written = {name: literal(text) for name, text in texts.items()}
        return {"chat": written | trims | {"takes_system": "false" if chat.system is None else "true"}}

    @property
    def measure(self) -> Measure:
        return EXACT

    @property
    def measures(self) -> tuple[Measure, ...]:
        return MEASURES

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """Of each row the text that should be written."""
        return np.array([row.value for row in chosen], object)

    def answers(self, outputs: NDArray | Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        """The outputs are texts already."""
        return np.array(outputs, object)

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return 100 * float(np.mean(answers == truths))

    def measured(self, answers: NDArray, truths: NDArray, measure: Measure) -> float:
        if measure == EXACT:
            return self.score(answers, truths)
        return (bleu if measure == BLEU else chrf)(answers.tolist(), truths.tolist())


def _search(computed: Computation) -> str:
    if computed.target_rules is not None and computed.target_rules.sampling is not None:
        return "drawn"
    beams = 1 if computed.target_rules is None else computed.target_rules.search.beams
    return "greedy" if beams == 1 else f"{beams} beams"


TASK = Generation
