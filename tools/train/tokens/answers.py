# SPDX-License-Identifier: Apache-2.0
"""Answers to questions: the tokens of a context where they begin and end, in the windows that `answer` reads."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import torch
from common.batches import by_tokens, longest_first, pad
from common.refusal import Refused
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from codegen.files.table_file import Row
from codegen.tasks.spans import Window, best_answer, windows_of
from codegen.tasks.squad import exact_match, f1, read_questions

_EVALUATED_TOKENS = 4096  # of a batch that is measured
_MEASURED_ROWS = 256  # whose windows are measured together


class Answers:
    """Questions, contexts and right answers."""

    read = staticmethod(read_questions)

    def __init__(self, tokenizer: Tokenizer, labels: Sequence[str], rows: Sequence[Row]) -> None:
        self.tokenizer = tokenizer
        self.max_tokens = tokenizer.truncation["max_length"]
        self.rows = rows
        self.certain = [row for row in rows if _is_certain(row)]
        self.lengths = [sum(map(len, row.texts)) for row in self.certain]  # characters: tokens are not counted yet

    @staticmethod
    def labels(rows: Sequence[Row]) -> tuple[str, ...]:
        """Of the two outputs, whatever the rows: as `transformers` calls them."""
        return ("LABEL_0", "LABEL_1")

    def described(self) -> str:
        """What there is to learn from."""
        if not self.certain:
            raise Refused("no question has an answer that its context holds once")
        return f"{len(self.rows)} questions, {len(self.certain)} of them with an answer that the context holds once"

    def loss(self, model: PreTrainedModel, batch: list[int]) -> torch.Tensor:
        """Mean cross-entropy of the first and of the last token of the answers."""
        aims = [self._aim(self.certain[i]) for i in batch]
        logits = _logits(model, [window for window, _ in aims])
        logits = logits.masked_fill(_mask([window for window, _ in aims])[:, :, None] == 0, -torch.inf)
        ends = torch.tensor([ends for _, ends in aims])
        return (cross_entropy(logits[:, :, 0], ends[:, 0]) + cross_entropy(logits[:, :, 1], ends[:, 1])) / 2

    def measure(self, model: PreTrainedModel) -> dict[str, float]:
        """Exact match and F1 as SQuAD's script has them."""
        exact = total = 0.0
        for begin in range(0, len(self.rows), _MEASURED_ROWS):
            rows = self.rows[begin : begin + _MEASURED_ROWS]
            windows = [w for i, row in enumerate(rows) for w in self._windows(i, row)]
            outputs = _all_logits(model, windows)
            for i, row in enumerate(rows):
                own = [k for k, window in enumerate(windows) if window.row == i]
                answer = best_answer(row.texts[1], [windows[k] for k in own], [outputs[k] for k in own])
                exact += exact_match(answer, json.loads(row.value))
                total += f1(answer, json.loads(row.value))
        return {"exact match": exact / len(self.rows), "F1": total / len(self.rows)}

    def _windows(self, number: int, row: Row) -> list[Window]:
        return windows_of(self.tokenizer, self.max_tokens, number, *row.texts)

    def _aim(self, row: Row) -> tuple[Window, tuple[int, int]]:
        """The first window with the whole answer, and its first and last token; [CLS] where none has it."""
        answer = _first_answer(row)
        begin = row.texts[1].index(answer)
        windows = self._windows(0, row)
        for window in windows:
            first, last = window.context
            inside = [
                i
                for i in range(first, last)
                if window.offsets[i][1] > begin and window.offsets[i][0] < begin + len(answer)
            ]
            if (
                inside
                and window.offsets[inside[0]][0] <= begin
                and window.offsets[inside[-1]][1] >= begin + len(answer)
            ):
                return window, (inside[0], inside[-1])
        return windows[0], (0, 0)


def _first_answer(row: Row) -> str:
    answers = json.loads(row.value)
    return answers[0] if answers else ""


def _is_certain(row: Row) -> bool:
    """Whether it is known where the answer is: the context holds it once."""
    answer = _first_answer(row)
    return answer != "" and row.texts[1].count(answer) == 1


def _mask(windows: Sequence[Window]) -> torch.Tensor:
    return pad([list(window.ids) for window in windows])[1]


def _logits(model: PreTrainedModel, windows: Sequence[Window]) -> torch.Tensor:
    """[windows, tokens, 2]: that an answer begins there, that one ends there."""
    ids, mask = pad([list(window.ids) for window in windows])
    segments = {"token_type_ids": pad([list(window.segments) for window in windows])[0]}
    takes = segments if getattr(model.config, "type_vocab_size", 0) > 1 else {}
    found = model(ids, attention_mask=mask, **takes)
    return torch.stack((found.start_logits, found.end_logits), dim=2).float()


def _all_logits(model: PreTrainedModel, windows: Sequence[Window]) -> list[np.ndarray]:
    lengths = [len(window.ids) for window in windows]
    found: list[np.ndarray] = [np.empty(0)] * len(windows)
    for batch in by_tokens(lengths, longest_first(lengths), _EVALUATED_TOKENS):
        for i, of_window in zip(batch, _logits(model, [windows[i] for i in batch]).numpy(), strict=True):
            found[i] = of_window[: lengths[i]]
    return found
