# SPDX-License-Identifier: Apache-2.0
"""Trains a translator; a run that is interrupted, anywhere, goes on after what was kept last."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from common.checkpoint import keep_state
from common.optimize import decay_groups
from form import Form
from torch.nn.functional import cross_entropy

BATCH_TOKENS = 4_096  # where nothing is learnt
POOL_BATCHES = 50  # batches are of like lengths within a pool of about this many
KEPT_EPOCHS = 5  # whose weights are averaged
KEEP_STEPS = 100


@dataclass(frozen=True)
class Settings:
    """How to train."""

    epochs: int
    batch_tokens: int = 1_200  # of the targets, padded
    peak_rate: float = 1e-3
    warmup: int = 600  # steps; then the rate falls with the root of the steps
    ending: int = 3  # epochs at the end in which it falls to 0
    weight_decay: float = 0.01
    smoothing: float = 0.1  # of the target's words
    seed: int = 1
    bfloat16: bool = False  # products of bfloat16, where a processor has them


@dataclass(frozen=True)
class Rows:
    """Token ids of sources and of their targets, the end included."""

    sources: list[list[int]]
    targets: list[list[int]]

    def __len__(self) -> int:
        return len(self.sources)


def loss_of(
    model: torch.nn.Module, form: Form, rows: Rows, batch: list[int], smoothing: float
) -> tuple[torch.Tensor, int]:
    """(summed cross-entropy, its tokens): padding takes no part."""
    pad = form.pieces - 1
    sources, targets = (_padded([of[i] for i in batch], pad) for of in (rows.sources, rows.targets))
    begun = torch.cat([torch.full((len(batch), 1), pad), targets[:, :-1]], dim=1)
    counts = targets != pad
    logits = form.logits(model, sources, begun, counts).float()
    return cross_entropy(logits, targets[counts], label_smoothing=smoothing, reduction="sum"), len(logits)


@torch.inference_mode()
def loss_per_token(model: torch.nn.Module, form: Form, rows: Rows) -> float:
    """Mean cross-entropy of the targets, in nats."""
    model.eval()
    total, tokens = 0.0, 0
    for batch in _batches(rows, sorted(range(len(rows)), key=lambda i: _lengths(rows, i)), BATCH_TOKENS):
        loss, count = loss_of(model, form, rows, batch, 0.0)
        total, tokens = total + loss.item(), tokens + count
    return total / tokens


def train(model: torch.nn.Module, form: Form, rows: Rows, held_out: Rows, *, settings: Settings, state: Path) -> None:
    """Trains `model` in place; it ends with the mean of the last epochs, or the last one where that is better."""
    optimizer = torch.optim.AdamW(
        decay_groups(model, settings.weight_decay), lr=settings.peak_rate, betas=(0.9, 0.98), fused=True
    )
    epoch, step, done = _resume(state / "state.pt", model, optimizer)
    while epoch < settings.epochs:
        plan = list(_epoch(rows, settings, epoch))
        start, total, tokens = time.monotonic(), 0.0, 0
        model.train()
        torch.manual_seed(settings.seed * 100_003 + step)
        for batch in range(done, len(plan)):
            step += 1
            _set_rate(optimizer, settings, step, (settings.epochs - epoch - batch / len(plan)) / settings.ending)
            with torch.autocast("cpu", torch.bfloat16, enabled=settings.bfloat16):
                loss, count = loss_of(model, form, rows, plan[batch], settings.smoothing)
            optimizer.zero_grad(set_to_none=True)
            (loss / count).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total, tokens = total + loss.item(), tokens + count
            if step % KEEP_STEPS == 0:
                _keep(state / "state.pt", model, optimizer, (epoch, step, batch + 1))
                spent = time.monotonic() - start
                print(f"step {step}: loss {total / tokens:.3f}, {tokens / spent:.0f} tokens/s", flush=True)
        epoch, done = epoch + 1, 0
        torch.save(model.state_dict(), state / f"epoch-{epoch}.pt")
        (state / f"epoch-{epoch - KEPT_EPOCHS}.pt").unlink(missing_ok=True)
        _keep(state / "state.pt", model, optimizer, (epoch, step, 0))
        print(f"epoch {epoch}: held-out loss {loss_per_token(model, form, held_out):.4f}", flush=True)
    _average(model, form, held_out, state)


def _average(model: torch.nn.Module, form: Form, held_out: Rows, state: Path) -> None:
    last = {name: value.clone() for name, value in model.state_dict().items()}
    kept = [torch.load(path, weights_only=True) for path in sorted(state.glob("epoch-*.pt"))]
    alone = loss_per_token(model, form, held_out)
    model.load_state_dict({name: sum(weights[name] for weights in kept) / len(kept) for name in last})
    together = loss_per_token(model, form, held_out)
    print(f"held-out loss: last {alone:.4f}, mean of {len(kept)} epochs {together:.4f}", flush=True)
    if alone < together:
        model.load_state_dict(last)


def _set_rate(optimizer: torch.optim.Optimizer, settings: Settings, step: int, left: float) -> None:
    """`left` is 1 where the end begins, 0 at the end."""
    rate = settings.peak_rate * min(step / settings.warmup, (settings.warmup / step) ** 0.5) * min(1.0, left)
    for group in optimizer.param_groups:
        group["lr"] = rate


def _epoch(rows: Rows, settings: Settings, epoch: int) -> Iterator[list[int]]:
    """Every row once, in batches of like lengths, in random order; an epoch is the same however often it is begun."""
    rng = random.Random(settings.seed * 1_009 + epoch)
    order = list(range(len(rows)))
    rng.shuffle(order)
    pool = POOL_BATCHES * settings.batch_tokens // 15  # rows: a target has about 15 tokens
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda i: _lengths(rows, i))
        batches += _batches(rows, part, settings.batch_tokens)
    rng.shuffle(batches)
    return iter(batches)


def _lengths(rows: Rows, i: int) -> tuple[int, int]:
    return len(rows.targets[i]), len(rows.sources[i])


def _batches(rows: Rows, order: list[int], tokens: int) -> list[list[int]]:
    """Cuts `order`, the shortest target first, into batches of at most `tokens` padded ones of the targets."""
    batches: list[list[int]] = []
    for i in order:
        if batches and (len(batches[-1]) + 1) * len(rows.targets[i]) <= tokens:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


def _padded(rows: list[list[int]], pad: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])


def _resume(path: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> tuple[int, int, int]:
    """(epochs that are done, steps, batches of the epoch that was begun)."""
    if not path.exists():
        return 0, 0, 0
    kept = torch.load(path, weights_only=True)
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    print(f"going on after step {kept['done'][1]}", flush=True)
    return tuple(kept["done"])


def _keep(path: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, done: tuple[int, int, int]) -> None:
    keep_state(path, {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "done": done})
