# SPDX-License-Identifier: Apache-2.0
"""Which of the labels that a call brings hold of a text: a classifier of entailment that is asked for it by `--task
zero-shot`. A label makes a hypothesis, "This example is {}."; the rule of scores is that of the zero-shot pipeline of
`transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EtchError
from ..files.table_file import Row
from ..ir.task import Computation, Face, Measure, Task
from ..ir.text import Text
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from .classification import Classification
from .names import printable_name

HYPOTHESIS = "This example is {}."
_BEGINNING = "entail"  # of the label's name, in upper or lower case


@dataclass(frozen=True)
class ZeroShot(Task):
    """Logits of a text with one hypothesis; what several make of a label is the call's to say."""

    labels: tuple[str, ...]  # of the classifier
    entailment: int
    contradiction: int

    task_names = ("zero_shot",)
    verb = "zero_shot"
    face = Face(
        "zero_shot",
        outputs="logits",
        reported="logits",
        field="logits",
        key="logits",
        count="kLogitCount",
        options=("--logits",),
    )
    beside_others = False
    own_calls = True
    token_bytes = {"hypothesis": 16}  # noqa: RUF012 - a constant of the class
    call_bytes = {"choosing": 128}  # noqa: RUF012

    @classmethod
    def of_classifier(cls, task: Task) -> ZeroShot:
        """EtchError where the classifier is none of entailment. What contradicts is found as the pipeline finds it: the
        first label, or the last where the first one is entailment."""
        if not isinstance(task, Classification) or not task.one_label:
            raise _refuse(f"zero-shot is for a classifier that gives one label of several, not for {task.name}")
        found = [i for i, name in enumerate(task.labels) if name.lower().startswith(_BEGINNING)]
        if len(found) != 1:
            names = ", ".join(printable_name(name) for name in task.labels)
            raise _refuse(f"{len(found)} labels are called '{_BEGINNING}…', zero-shot needs one: {names}")
        return cls(task.labels, found[0], len(task.labels) - 1 if found[0] == 0 else 0)

    @property
    def outputs(self) -> int:
        return len(self.labels)

    @property
    def result_bytes(self) -> int:
        """Logits and a probability; a call's frames have results of their own, those of the C functions more of it."""
        return 3 * (4 * self.outputs + 4) + 768

    @property
    def summary(self) -> str:
        return "Which of the labels that a call brings hold of a text"

    def template_values(self, literal: Any) -> dict[str, Any]:
        before, _, after = HYPOTHESIS.partition("{}")
        return {
            "entailment": self.entailment,
            "contradiction": self.contradiction,
            "before": literal(before),
            "after": literal(after),
            "hypothesis_bytes": self.token_bytes["hypothesis"],
        }

    def described(self, computed: Computation) -> str:
        for_it, against = (printable_name(self.labels[i]) for i in (self.entailment, self.contradiction))
        return f"zero-shot classification into labels of a call ({for_it} against {against})"

    @property
    def measure(self) -> Measure:
        return Measure("accuracy", percent=True)

    def truths(self, path: Path, table: Sequence[Row], chosen: Sequence[Row], spec: str | None = None) -> NDArray:
        """The labels are the different values of the column."""
        if spec is not None:
            raise EtchError("option-conflict", "arguments", "--labels: zero-shot asks for the values of the column")
        labels = _labels_of(chosen)
        return np.array([labels.index(row.value) for row in chosen])

    def encoded(self, spec: TokenizerSpec, max_tokens: int, rows: Sequence[Row]) -> list[Any]:
        """Each text with the hypothesis of each label. EtchError where one leaves no room for the text."""
        tokenizer = text_tokenizer(spec, max_tokens)
        hypotheses = [HYPOTHESIS.replace("{}", label) for label in _labels_of(rows)]
        room = max_tokens - tokenizer.num_special_tokens_to_add(is_pair=True)
        for hypothesis in hypotheses:
            if len(tokenizer.encode(hypothesis, add_special_tokens=False).ids) >= room:
                message = f"the hypothesis '{printable_name(hypothesis)}' leaves no room for the text"
                raise EtchError("table-malformed", "evaluate", message)
        pairs = [(row.joined, hypothesis) for row in rows for hypothesis in hypotheses]
        return [Text(e.ids, e.type_ids) for e in tokenizer.encode_batch(pairs)]

    def answers(self, outputs: NDArray | Sequence[NDArray], rows: Sequence[Row], texts: Sequence[Text]) -> NDArray:
        return np.asarray(outputs)[:, self.entailment].reshape(len(rows), -1).argmax(axis=1)

    def score(self, answers: NDArray, truths: NDArray) -> float:
        return 100 * float((answers == truths).mean())


def _labels_of(rows: Sequence[Row]) -> list[str]:
    """By their bytes, as the programs sort them."""
    return sorted({row.value for row in rows}, key=str.encode)


def _refuse(message: str) -> EtchError:
    return EtchError("option-conflict", "arguments", f"--task zero-shot: {message}")


TASK = ZeroShot
