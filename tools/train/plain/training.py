# SPDX-License-Identifier: Apache-2.0
"""Trains a TransformerEncoder from random weights; an interrupted run goes on after its last epoch."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from common.batches import by_tokens, longest_first, pad, shuffled_by_rows
from common.checkpoint import keep_state
from common.optimize import decay_groups, set_rate
from torch.nn.functional import cross_entropy
from transformer import TransformerEncoder

BATCH_TOKENS = 2_048  # where nothing is learnt
POOL_BATCHES = 16  # batches are of like lengths within a pool of this many


@dataclass(frozen=True)
class Settings:
    """How to train."""

    epochs: int
    batch: int = 32
    peak_rate: float = 1e-3
    warmup: float = 0.1  # share of the steps
    weight_decay: float = 0.05
    smoothing: float = 0.1  # of the labels
    hidden_words: float = 0.1  # share of the tokens shown as [UNK], against overfitting
    seed: int = 1


@dataclass(frozen=True)
class Rows:
    """Token ids of texts, [CLS] and [SEP] included, with their labels."""

    ids: list[list[int]]
    labels: torch.Tensor  # int64 [n]


@torch.inference_mode()
def logits(model: TransformerEncoder, ids: list[list[int]]) -> torch.Tensor:
    """[n, labels], float32."""
    model.eval()
    found = torch.empty(len(ids), model.classifier.out_features)
    lengths = [len(row) for row in ids]
    for batch in by_tokens(lengths, longest_first(lengths), BATCH_TOKENS):
        found[batch] = model(*_batch([ids[i] for i in batch]))
    return found


def accuracy(model: TransformerEncoder, rows: Rows) -> float:
    """Share of the texts whose label the model finds."""
    return float((logits(model, rows.ids).argmax(1) == rows.labels).double().mean())


def train(
    model: TransformerEncoder, rows: Rows, held_out: Rows, unknown_id: int, *, settings: Settings, state: Path
) -> float:
    """Trains `model` in place and returns its held-out accuracy after the last epoch; `state` keeps the last epoch."""
    torch.manual_seed(settings.seed)
    rng = random.Random(settings.seed)
    lengths = [len(row) for row in rows.ids]
    plans = [shuffled_by_rows(lengths, settings.batch, POOL_BATCHES, rng) for _ in range(settings.epochs)]
    steps = sum(map(len, plans))
    optimizer = torch.optim.AdamW(
        decay_groups(model, settings.weight_decay), lr=settings.peak_rate, betas=(0.9, 0.98), fused=True
    )
    done, share = _resume(state, model, optimizer)
    step = sum(map(len, plans[:done]))
    for epoch, plan in enumerate(plans[done:], done + 1):
        start = time.monotonic()
        model.train()
        total = 0.0
        for batch in plan:
            step += 1
            set_rate(optimizer, settings.peak_rate, step, steps, settings.warmup)
            ids, mask = _batch([rows.ids[i] for i in batch])
            hide = (torch.rand(ids.shape) < settings.hidden_words) & mask
            hide[:, 0] = False
            found = model(ids.masked_fill(hide, unknown_id), mask)
            loss = cross_entropy(found, rows.labels[batch], label_smoothing=settings.smoothing)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        share = accuracy(model, held_out)
        _keep(state, model, optimizer, epoch, share)
        spent = time.monotonic() - start
        print(f"epoch {epoch}: loss {total / len(plan):.4f}, held-out {share:.4f}, {spent:.0f} s", flush=True)
    return share


def _batch(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    ids, mask = pad(rows)
    return ids, mask.bool()


def _resume(state: Path, model: TransformerEncoder, optimizer: torch.optim.Optimizer) -> tuple[int, float]:
    """(epochs that are done, held-out accuracy after the last)."""
    if not state.exists():
        return 0, 0.0
    kept = torch.load(state, weights_only=True)
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    torch.set_rng_state(kept["random"])
    print(f"going on after epoch {kept['epoch']}", flush=True)
    return kept["epoch"], kept["held_out"]


def _keep(state: Path, model: TransformerEncoder, optimizer: torch.optim.Optimizer, epoch: int, share: float) -> None:
    keep_state(
        state,
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "epoch": epoch,
            "held_out": share,
        },
    )
