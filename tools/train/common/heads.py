# SPDX-License-Identifier: Apache-2.0
"""How a width is split among heads."""

from __future__ import annotations

from common.refusal import Refused


def heads_of(width: int, of_head: int) -> int:
    """As many heads of about `of_head` as there is room for; refuses a width that they do not share evenly."""
    heads = max(1, width // of_head)
    if width % heads:
        raise Refused(f"--width {width}: {heads} heads do not share it evenly; a multiple of {of_head} does")
    return heads
