# SPDX-License-Identifier: Apache-2.0
"""Rows as the model sees them: token ids, or what a frozen encoder made of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from common.batches import by_tokens, longest_first, pad
from targets import Target
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification

BATCH_TOKENS = 4_096  # where nothing is learnt


@dataclass(frozen=True)
class Inputs:
    """n rows."""

    ids: list[list[int]]
    segments: list[list[int]]
    targets: torch.Tensor  # int64 [n], or float32 [n] or [n, labels]
    cut: int  # rows that were too long
    states: torch.Tensor | None = None  # [n, hidden] of a frozen encoder at [CLS]

    @property
    def lengths(self) -> list[int]:
        """Tokens of each row."""
        return [len(row) for row in self.ids]

    def logits(self, model: BertForSequenceClassification, batch: list[int]) -> torch.Tensor:
        """[batch, labels]."""
        if self.states is not None:
            pooled = model.bert.pooler(self.states[batch][:, None])
        else:
            pooled = _encode(model, self, batch).pooler_output
        return model.classifier(model.dropout(pooled))


def make_inputs(tokenizer: Tokenizer, texts: Sequence[tuple[str, ...]], targets: Sequence[Target]) -> Inputs:
    """Tokenizes single texts or pairs."""
    encodings = tokenizer.encode_batch([one if len(one) == 2 else one[0] for one in texts])
    return Inputs(
        ids=[e.ids for e in encodings],
        segments=[e.type_ids for e in encodings],
        targets=torch.tensor(targets, dtype=torch.int64 if isinstance(targets[0], int) else torch.float32),
        cut=sum(bool(e.overflowing) for e in encodings),
    )


@torch.inference_mode()
def all_logits(model: BertForSequenceClassification, inputs: Inputs) -> torch.Tensor:
    """[n, labels], without dropout."""
    model.eval()
    found = torch.empty(len(inputs.ids), model.config.num_labels)
    for batch in by_tokens(inputs.lengths, longest_first(inputs.lengths), BATCH_TOKENS):
        found[batch] = inputs.logits(model, batch)
    return found


@torch.no_grad()
def with_states(model: BertForSequenceClassification, inputs: Inputs) -> Inputs:
    """Runs a frozen encoder once, so that each epoch costs the pooler and the classifier alone."""
    model.eval()
    states = torch.empty(len(inputs.ids), model.config.hidden_size)
    for batch in by_tokens(inputs.lengths, longest_first(inputs.lengths), BATCH_TOKENS):
        states[batch] = _encode(model, inputs, batch).last_hidden_state[:, 0]
    return replace(inputs, states=states)


def _encode(model: BertForSequenceClassification, inputs: Inputs, batch: list[int]) -> object:
    ids, mask = pad([inputs.ids[i] for i in batch])
    segments, _ = pad([inputs.segments[i] for i in batch])
    return model.bert(ids, attention_mask=mask, token_type_ids=segments)
