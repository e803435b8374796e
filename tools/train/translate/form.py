# SPDX-License-Identifier: Apache-2.0
"""What a recipe has to know of the model that it trains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import GenerationMixin

# (model, sources [n, tokens], begun targets [n, tokens], what counts of them) -> [what counts, vocabulary]
Logits = Callable[[torch.nn.Module, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Form:
    """Of a translator. The padding is the last of the pieces, and what a target begins with."""

    pieces: int
    new: Callable[[], torch.nn.Module]  # of random weights
    read: Callable[[Path], torch.nn.Module]  # of a folder that `write` made
    logits: Logits
    write: Callable[[Path, torch.nn.Module, Path], None]  # to a folder, the pieces of another one with it
    writer: Callable[[Path], GenerationMixin]  # what writes texts as such a folder says
