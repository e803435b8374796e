# SPDX-License-Identifier: Apache-2.0
"""What every recipe does alike: weight decay on matrices alone, and a rate that rises, then falls as a cosine."""

from __future__ import annotations

import math
from typing import Any

import torch
from common.refusal import Refused


def decay_groups(module: torch.nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """AdamW's parameter groups; biases and norms are not decayed, frozen parameters are left out."""
    live = [p for p in module.parameters() if p.requires_grad]
    return [
        {"params": [p for p in live if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in live if p.ndim == 1], "weight_decay": 0.0},
    ]


def set_rate(optimizer: torch.optim.Optimizer, peak: float, step: int, steps: int, warmup: float) -> None:
    """The rate of `step` (from 1): up to `peak` in the first `warmup` share of the steps, then down to 0."""
    rising = step / (steps * warmup)
    falling = 0.5 + 0.5 * math.cos(math.pi * step / steps)
    for group in optimizer.param_groups:
        group["lr"] = peak * min(rising, falling)


def finite(loss: torch.Tensor, step: int, rate: float) -> float:
    """The loss of a step as a number; refused where it is none, for the weights are no numbers then, either."""
    value = loss.item()
    if not math.isfinite(value):
        raise Refused(f"the loss is not finite in step {step}: lower --rate {rate:g}")
    return value
