# SPDX-License-Identifier: Apache-2.0
"""What ops of a program read and write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["s8", "f32"]
Rows = Literal["tokens", "block", "carried", "one", "masks", "steps", "sequences"]
Storage = Literal["f32", "quantized", "keys", "values", "key_rows", "rows", "state", "routes"]
CACHES = ("keys", "values", "key_rows", "rows")  # of all rows, packed: by head, or as they are
KEPT = ("steps", "sequences")  # rows that are there from step to step


@dataclass(frozen=True)
class Buffer:
    """Activations in the arena: one row per token of the text, per row of the current block, per mask of the current
    block of masks, per step, per sequence that is written, or one row; a carried one is what each block of rows hands
    to the next.

    Keys and values are `heads` packed matrices each, rows of keys `heads` times rows that a product reads; `kind` is
    then what their elements are. A state is what a sequence keeps of its last rows, in floats. Those that what repeats
    reads are there for each of `layers`, one behind the other.

    Rows of groups of tokens are those of texts, but fewer: one for every `rate` tokens (row_groups.py).

    Of rows that go through several experts there are as many `times`; routes say which of `heads` experts each row has
    chosen, `width` of them.
    """

    name: str
    storage: Storage
    rows: Rows
    width: int
    heads: int = 1
    kind: Kind = "f32"
    layers: int = 1
    times: int = 1
    rate: int = 1
