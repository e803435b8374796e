# SPDX-License-Identifier: Apache-2.0
"""How a model that writes texts searches for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Search:
    """As `generate` of `transformers` 5 has it."""

    beams: int = 1  # sequences that are continued at the same time; 1: greedily
    length_penalty: float = 1.0  # the score of one that has ended is its sum / its length ^ this
    early_stopping: bool | Literal["never"] = False
    renormalize: bool = False  # the probabilities of what may be written have the sum 1


GREEDY = Search()
