# SPDX-License-Identifier: Apache-2.0
"""What `--target` chooses: the weight packing and the sizes that the plan works with. The bits do not depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Packing = Literal["panel", "rows"]

PANEL_WIDTH = 16  # etch::kPanelWidth
ENCODED_PADDING = 16  # etch::kEncodedPadding
PANEL_INPUTS = 4  # etch::kPanelInputs
PACKED_ALIGNMENT = 16  # etch::kPackedAlignment
MEMORY_ALIGNMENT = 64  # etch::kMemoryAlignment


@dataclass(frozen=True)
class Target:
    name: str
    packing: Packing
    encoded_row_bytes_per_value: int  # etch::max_encoded_row_bytes_per_value(packing)
    alignment: int  # bytes, of every table and arena buffer
    block_bytes: int  # activations of one block of rows should fit in this
    block_granule: int  # rows; blocks are a multiple of it where they can be
    block_least_rows: int  # but not fewer than this: each block reads all the weights of its ops
    block_rows_beyond: int  # where fewer would fit: weights are not in the cache either, and the fewer blocks read them
    attention_tile_rows: int  # query rows whose scores are alive at once
    mask_rows: int  # masks that go through the vocabulary together: each block of them reads all of it
    recurrent_products: int  # multiply-adds of a GRU that are one unit of work, or one row's where they are more
    stack_budget: int  # bytes; the build checks it


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(
            "host",
            packing="panel",
            encoded_row_bytes_per_value=2,
            alignment=64,
            block_bytes=1 << 20,  # one core's L2
            block_granule=24,
            block_least_rows=72,
            block_rows_beyond=224,
            attention_tile_rows=24,
            mask_rows=8,
            recurrent_products=1 << 20,
            stack_budget=4096,
        ),
        Target(
            "m-profile",
            packing="rows",
            encoded_row_bytes_per_value=1,
            alignment=16,
            block_bytes=8 << 10,
            block_granule=4,
            block_least_rows=4,
            block_rows_beyond=4,
            attention_tile_rows=4,
            mask_rows=1,
            recurrent_products=1 << 15,
            stack_budget=4096,
        ),
    )
}


def round_up(value: int, multiple: int) -> int:
    """`value` rounded up to a multiple."""
    return -(-value // multiple) * multiple
