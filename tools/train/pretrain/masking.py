# SPDX-License-Identifier: Apache-2.0
"""BERT's pre-training step (Devlin et al., 2019): tokens that are hidden and asked for, texts that follow or do not."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy
from transformers import BertForMaskedLM, BertForPreTraining

SHARE = 0.15  # of the tokens, which are asked for
HIDDEN, RANDOM = 0.8, 0.1  # of those: shown as [MASK], as another piece; the others as they are
NOT_ASKED = -100


@dataclass(frozen=True)
class Step:
    """A batch as it is shown; all int64."""

    ids: torch.Tensor  # [n, tokens]
    mask: torch.Tensor  # the same: 1 where there is a token
    segments: torch.Tensor  # the same
    targets: torch.Tensor  # the same: the piece that was there, NOT_ASKED elsewhere
    random: torch.Tensor | None = None  # [n]: 1 where the second text does not follow the first one


def hide(ids: torch.Tensor, words: torch.Tensor, mask_id: int, pieces: range) -> tuple[torch.Tensor, torch.Tensor]:
    """(what is shown of `ids`, targets); only where `words` holds are tokens asked for, `pieces` are those to draw."""
    asked = (torch.rand(ids.shape) < SHARE) & words
    drawn = torch.rand(ids.shape)
    shown = torch.where(asked & (drawn < HIDDEN), mask_id, ids)
    others = torch.randint(pieces.start, pieces.stop, ids.shape)
    shown = torch.where(asked & (drawn >= 1 - RANDOM), others, shown)
    return shown, torch.where(asked, ids, NOT_ASKED)


def loss_of(model: BertForMaskedLM | BertForPreTraining, step: Step) -> torch.Tensor:
    """Mean cross-entropy of the tokens that are asked for, and that of the texts' order where it is; logits are made
    only where they count."""
    found = model.bert(step.ids, attention_mask=step.mask, token_type_ids=step.segments)
    asked = step.targets != NOT_ASKED
    logits = model.cls.predictions(found.last_hidden_state[asked])
    loss = cross_entropy(logits, step.targets[asked], reduction="sum") / max(1, len(logits))
    if step.random is None:
        return loss
    return loss + cross_entropy(model.cls.seq_relationship(found.pooler_output), step.random)
