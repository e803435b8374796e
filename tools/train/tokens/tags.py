# SPDX-License-Identifier: Apache-2.0
"""Tags of words: the first token of a word is to have its label, as `tag-NAME --evaluate` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch
from common.batches import by_tokens, longest_first, pad
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from codegen.files.table_file import Row
from codegen.tasks.entities import entity_f1
from codegen.tasks.tagged_words import read_tagged, tags_of_words
from codegen.tasks.tagging import OUTSIDE

_EVALUATED_TOKENS = 4096  # of a batch that is measured
_NONE = -100  # of a token that is the first one of no word

Of = TypeVar("Of")


class Tags:
    """Texts with their words' tags."""

    read = staticmethod(read_tagged)

    def __init__(self, tokenizer: Tokenizer, labels: Sequence[str], rows: Sequence[Row]) -> None:
        self.names = tuple(labels)
        self.rows = rows
        self.encodings = tokenizer.encode_batch([row.joined for row in rows])
        self.lengths = [len(encoding.ids) for encoding in self.encodings]

    @staticmethod
    def labels(rows: Sequence[Row]) -> tuple[str, ...]:
        """Outside first, then by name."""
        found = {tag for row in rows for tag in row.value.split(" ")}
        return (OUTSIDE, *sorted(found - {OUTSIDE}))

    def described(self) -> str:
        """What there is to learn from."""
        cut = sum(bool(encoding.overflowing) for encoding in self.encodings)
        return f"{len(self.rows)} texts, {cut} of them cut, {len(self.names)} labels"

    def loss(self, model: PreTrainedModel, batch: list[int]) -> torch.Tensor:
        """Mean cross-entropy of the words' first tokens."""
        logits = self._logits(model, batch)
        targets = torch.full(logits.shape[:2], _NONE)
        for i, of_row in zip(batch, targets, strict=True):
            tags = self.rows[i].value.split(" ")
            for token, tag in zip(self._by_word(i, range(self.lengths[i]), _NONE), tags, strict=True):
                if token != _NONE:
                    of_row[token] = self.names.index(tag)
        return cross_entropy(logits.transpose(1, 2), targets, ignore_index=_NONE)

    def measure(self, model: PreTrainedModel) -> dict[str, float]:
        """Entity F1 by seqeval's rules, and the share of words that have their label."""
        answers: list[list[str]] = [[]] * len(self.rows)
        for batch in by_tokens(self.lengths, longest_first(self.lengths), _EVALUATED_TOKENS):
            for i, of_row in zip(batch, self._logits(model, batch).argmax(2).tolist(), strict=True):
                answers[i] = self._by_word(i, [self.names[k] for k in of_row[: self.lengths[i]]], OUTSIDE)
        truths = [row.value.split(" ") for row in self.rows]
        right = [a == t for of_row in zip(answers, truths, strict=True) for a, t in zip(*of_row, strict=True)]
        return {"entity F1": entity_f1(truths, answers), "words with the right label": sum(right) / len(right)}

    def _logits(self, model: PreTrainedModel, batch: Sequence[int]) -> torch.Tensor:
        ids, mask = pad([self.encodings[i].ids for i in batch])
        return model(ids, attention_mask=mask).logits.float()

    def _by_word(self, row: int, values: Sequence[Of], nothing: Of) -> list[Of]:
        return tags_of_words(self.rows[row].joined, self.encodings[row].offsets, values, nothing)
