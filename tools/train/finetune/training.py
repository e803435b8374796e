# SPDX-License-Identifier: Apache-2.0
"""The loop: every row once an epoch, held-out rows after each, the weights of the best epoch kept."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from common.batches import shuffled_by_rows
from common.optimize import decay_groups, finite, set_rate
from inputs import Inputs, all_logits
from metrics import is_better, measure, shown
from settings import Settings
from targets import Labels
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss
from transformers import BertForSequenceClassification

POOL_BATCHES = 32  # batches are of like lengths within a pool of this many
PROGRESS_SECONDS = 10.0
LARGEST_GRADIENT = 1.0

Echo = Callable[[str], None]


@dataclass(frozen=True)
class Epoch:
    """What one epoch came to."""

    number: int
    loss: float  # mean over the training rows
    held_out_loss: float
    metrics: dict[str, float]  # on the held-out rows
    seconds: float


@dataclass(frozen=True)
class Scale:
    """Numbers are learnt as (value - mean) / deviation, and the classifier takes both over at the end."""

    mean: float
    deviation: float

    @staticmethod
    def of(task: str, targets: torch.Tensor) -> Scale:
        """The training rows' in a regression; otherwise none."""
        if task != "regression":
            return UNSCALED
        return Scale(float(targets.double().mean()), float(targets.double().std(correction=0)))

    def fold_into(self, classifier: torch.nn.Linear) -> None:
        """The classifier then gives the numbers themselves."""
        with torch.no_grad():
            classifier.weight.mul_(self.deviation)
            classifier.bias.mul_(self.deviation).add_(self.mean)


UNSCALED = Scale(0.0, 1.0)


def evaluate(
    model: BertForSequenceClassification, labels: Labels, inputs: Inputs, scale: Scale
) -> tuple[dict[str, float], float]:
    """(metrics, loss); `scale` is that of a model whose classifier has not taken it over."""
    logits = all_logits(model, inputs)
    loss = float(_loss(labels.task, logits, (inputs.targets - scale.mean) / scale.deviation))
    values = logits.double().numpy() * scale.deviation + scale.mean
    return measure(labels.task, labels.names, values, inputs.targets.numpy().astype(np.float64)), loss


def train(
    model: BertForSequenceClassification,
    labels: Labels,
    rows: Inputs,
    held_out: Inputs,
    settings: Settings,
    echo: Echo,
) -> tuple[list[Epoch], Epoch]:
    """Trains in place; returns every epoch, and the one whose weights the model has at the end."""
    rng = random.Random(settings.seed)
    torch.manual_seed(settings.seed)
    scale = Scale.of(labels.task, rows.targets)
    targets = (rows.targets - scale.mean) / scale.deviation
    optimizer = torch.optim.AdamW(decay_groups(model, settings.weight_decay), lr=settings.rate, fused=True)
    plans = [shuffled_by_rows(rows.lengths, settings.batch, POOL_BATCHES, rng) for _ in range(settings.epochs)]
    steps = sum(map(len, plans))
    step = 0
    epochs: list[Epoch] = []
    best, weights = None, {}
    for number, plan in enumerate(plans, 1):
        begin = told = time.monotonic()
        model.train()
        total = 0.0
        for done, batch in enumerate(plan, 1):
            step += 1
            set_rate(optimizer, settings.rate, step, steps, settings.warmup)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=settings.bfloat16):
                logits = rows.logits(model, batch)
            loss = _loss(labels.task, logits.float(), targets[batch])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
            optimizer.step()
            total += finite(loss, step, settings.rate) * len(batch)
            if time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                echo(f"epoch {number}, step {done} of {len(plan)}: loss {loss.item():.4f}, {told - begin:.0f} s")
        metrics, held_out_loss = evaluate(model, labels, held_out, scale)
        epoch = Epoch(number, total / len(rows.ids), held_out_loss, metrics, time.monotonic() - begin)
        epochs.append(epoch)
        losses = f"loss {epoch.loss:.4f}, held out {held_out_loss:.4f}"
        echo(f"epoch {number}: {losses}, {shown(metrics)}, {epoch.seconds:.0f} s")
        if best is None or is_better(labels.task, (metrics, held_out_loss), (best.metrics, best.held_out_loss)):
            best, weights = epoch, {name: value.clone() for name, value in model.state_dict().items()}
        elif number - best.number >= settings.patience:
            echo(f"no gain in {settings.patience} epochs: stopped")
            break
    assert best is not None
    model.load_state_dict(weights)
    scale.fold_into(model.classifier)
    return epochs, best


def _loss(task: str, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    if task == "regression":
        return mse_loss(logits[:, 0], targets)
    if task == "multi_label":
        return binary_cross_entropy_with_logits(logits, targets)
    return cross_entropy(logits, targets.long())
