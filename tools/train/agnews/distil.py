# SPDX-License-Identifier: Apache-2.0
"""Trains the student on the teacher's answers and on the labels."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import torch
from common.batches import by_tokens, longest_first, pad
from common.optimize import decay_groups, set_rate
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy, kl_div, log_softmax, mse_loss, softmax
from transformers import BertForSequenceClassification
from views import View

BATCH_TOKENS = 3_072
POOL_BATCHES = 64  # batches are of like lengths within a pool of about this many
MASK_ID = 4  # of "[MASK]" in the student's vocabulary
MASKED = 0.05  # share of the tokens hidden from the student, against overfitting


@dataclass(frozen=True)
class Settings:
    """How to train."""

    epochs: int
    peak_rate: float = 8e-4
    warmup: float = 0.06  # share of the steps
    weight_decay: float = 0.01
    temperature: float = 3.0
    label_weight: float = 0.1
    hidden_weight: float = 1.0


class Pupil(torch.nn.Module):
    """The student with a projection of its [CLS] state onto the teacher's, dropped afterwards."""

    def __init__(self, model: BertForSequenceClassification, teacher_width: int) -> None:
        super().__init__()
        self.model = model
        self.bridge = torch.nn.Linear(model.config.hidden_size, teacher_width)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(logits [n, 4], guess of the teacher's [CLS] state [n, teacher width])."""
        states = self.model.bert(ids, attention_mask=mask)
        pooled = self.model.dropout(states.pooler_output)
        return self.model.classifier(pooled), self.bridge(states.last_hidden_state[:, 0])


def _plan(lengths: list[int], rng: random.Random) -> list[list[int]]:
    """One epoch: every text once, in batches of like lengths, in random order."""
    order = list(range(len(lengths)))
    rng.shuffle(order)
    mean = sum(lengths) / len(lengths)
    pool = int(POOL_BATCHES * BATCH_TOKENS / mean)
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda i: -lengths[i])
        batches += by_tokens(lengths, part, BATCH_TOKENS)
    rng.shuffle(batches)
    return batches


@torch.inference_mode()
def accuracy(model: BertForSequenceClassification, tokenizer: Tokenizer, texts: list[str], labels: list[int]) -> float:
    """Share of the texts whose label the model finds."""
    model.eval()
    ids = [e.ids[: model.config.max_position_embeddings] for e in tokenizer.encode_batch(texts)]
    lengths = [len(one) for one in ids]
    right = 0
    for batch in by_tokens(lengths, longest_first(lengths), BATCH_TOKENS):
        padded, mask = pad([ids[i] for i in batch])
        found = model(padded, attention_mask=mask).logits.argmax(1).tolist()
        right += sum(labels[i] == label for i, label in zip(batch, found, strict=True))
    return right / len(texts)


def train(
    model: BertForSequenceClassification,
    tokenizer: Tokenizer,
    views: list[View],
    held_out: tuple[list[str], list[int]],
    *,
    settings: Settings,
    seed: int,
) -> None:
    """Trains `model` in place; prints the held-out accuracy after each epoch."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    limit = model.config.max_position_embeddings
    ids = [e.ids[:limit] for v in views for e in tokenizer.encode_batch(v.texts)]
    lengths = [len(one) for one in ids]
    labels = torch.cat([v.labels for v in views])
    logits = torch.cat([v.lesson.logits for v in views])
    hidden = torch.cat([v.lesson.hidden for v in views])
    pupil = Pupil(model, hidden.shape[1])
    groups = decay_groups(pupil, settings.weight_decay)
    optimizer = torch.optim.AdamW(groups, lr=settings.peak_rate, betas=(0.9, 0.98), fused=True)
    plans = [_plan(lengths, rng) for _ in range(settings.epochs)]
    steps = sum(map(len, plans))
    step = 0
    start = time.monotonic()
    for epoch, plan in enumerate(plans, 1):
        pupil.train()
        total = 0.0
        for batch in plan:
            step += 1
            set_rate(optimizer, settings.peak_rate, step, steps, settings.warmup)
            padded, mask = pad([ids[i] for i in batch])
            hide = (torch.rand(padded.shape) < MASKED) & (mask == 1)
            hide[:, 0] = False
            padded[hide] = MASK_ID
            with torch.autocast("cpu", dtype=torch.bfloat16):
                said, guess = pupil(padded, mask)
            said, t = said.float(), settings.temperature
            loss = (
                (1 - settings.label_weight)
                * t
                * t
                * kl_div(log_softmax(said / t, 1), softmax(logits[batch] / t, 1), reduction="batchmean")
            )
            sure = labels[batch] >= 0
            if sure.any():
                per_row = cross_entropy(said[sure], labels[batch][sure], reduction="sum")
                loss = loss + settings.label_weight * per_row / len(batch)
            loss = loss + settings.hidden_weight * mse_loss(guess.float(), hidden[batch].float())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(pupil.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
            if step % 500 == 0:
                spent = time.monotonic() - start
                print(f"step {step}/{steps}, {spent:.0f} s, loss {loss.item():.3f}", flush=True)
        share = accuracy(model, tokenizer, *held_out)
        print(
            f"epoch {epoch}: mean loss {total / len(plan):.4f}, held-out {share:.4f}, {time.monotonic() - start:.0f} s",
            flush=True,
        )
