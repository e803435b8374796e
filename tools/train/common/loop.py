# SPDX-License-Identifier: Apache-2.0
"""A number of steps over some rows. A run that is interrupted goes on after what it kept last, to the same weights; one
that is asked for more steps goes on, too."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from common.batches import shuffled_by_rows
from common.checkpoint import digest, keep_state
from common.optimize import decay_groups, finite, set_rate
from common.refusal import Refused

POOL_BATCHES = 32  # batches are of like lengths within a pool of this many
WARMUP = 0.1
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
KEPT_SECONDS = 60.0

Loss = Callable[[list[int]], torch.Tensor]  # of a batch of rows


@dataclass(frozen=True)
class Steps:
    """How to train: AdamW, a rate that rises for a tenth of the steps and then falls as a cosine to 0."""

    count: int
    batch: int  # rows a step
    rate: float
    seed: int


def train(
    model: torch.nn.Module,
    lengths: list[int],
    loss_of: Loss,
    steps: Steps,
    state: Path,
    depends: Mapping[str, object],
) -> None:
    """Trains `model` in place on rows of about these `lengths`; `state` is the file that keeps the run. `depends` has
    by name what the weights depend on beside `steps`, for a run goes on only where nothing of it is another."""
    optimizer = torch.optim.AdamW(decay_groups(model, WEIGHT_DECAY), lr=steps.rate, fused=True)
    run = {name: digest(value) for name, value in depends.items()}
    run |= {"batch": steps.batch, "rate": steps.rate, "seed": steps.seed}
    done = _resume(state, model, optimizer, run, steps.count)
    begin = kept = time.monotonic()
    first, total = done, 0.0
    batches = _batches(lengths, steps)
    model.train()
    for number in range(1, steps.count + 1):
        batch = next(batches)
        if number <= done:
            continue
        torch.manual_seed(steps.seed * 1_000_003 + number)  # a step is the same, whatever ran before it
        set_rate(optimizer, steps.rate, number, steps.count, WARMUP)
        loss = loss_of(batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimizer.step()
        total += finite(loss, number, steps.rate)
        if number == steps.count or time.monotonic() - kept >= KEPT_SECONDS:
            kept = time.monotonic()
            now = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "run": run | {"steps": number}}
            keep_state(state, now)
            mean, spent = total / (number - first), kept - begin
            print(f"step {number} of {steps.count}: loss {mean:.4f}, {spent:.0f} s", file=sys.stderr, flush=True)
            first, total = number, 0.0


def _batches(lengths: list[int], steps: Steps) -> Iterator[list[int]]:
    """Without end; an epoch is the same however often it is begun."""
    epoch = 0
    while True:
        rng = random.Random(steps.seed * 1_009 + epoch)
        yield from shuffled_by_rows(lengths, steps.batch, POOL_BATCHES, rng)
        epoch += 1


def _resume(
    state: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, run: dict[str, Any], most: int
) -> int:
    """How many steps are done, `most` at most."""
    if not state.exists():
        return 0
    kept: dict[str, Any] = torch.load(state, weights_only=True)
    for name, value in run.items():
        before = kept["run"].get(name)
        if before != value:
            raise _not_ours(state, f"other {name}" if isinstance(value, str) else f"{name} {before}, not {value}")
    if kept["run"]["steps"] > most:
        raise _not_ours(state, f"{kept['run']['steps']} steps, not {most}")
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    print(f"going on after step {kept['run']['steps']}", file=sys.stderr, flush=True)
    return kept["run"]["steps"]


def _not_ours(state: Path, what: str) -> Refused:
    return Refused(f"{state.name}: is of a run with {what}: remove it, or name another --state")
