# SPDX-License-Identifier: Apache-2.0
"""How the classes of `transformers` that are written in Python find added tokens in a text, where that is what
`tokenizers` finds."""

from __future__ import annotations

from collections.abc import Sequence

from ..refusal import refusal, shown


def check_found_alike(tokens: Sequence[str], file: str) -> None:
    """That the longest token from the left is what `transformers` finds: it looks for them while it goes on, and where
    one can begin inside of another that turns out to be none, it may lose both."""
    firsts = {token[0] for token in tokens if token}
    single = {token for token in tokens if len(token) == 1}
    for token in tokens:
        if token.split() not in ([], [token]):
            raise refusal("added-token-unsupported", f"{shown(token)} has white space inside of it", file=file)
        inside = next((c for c in token[1:] if c in firsts), None)
        if inside is not None and token[0] not in single:
            message = f"{shown(token)} has {shown(inside)} inside of it, which begins others: a text could have both"
            raise refusal("added-token-unsupported", message, file=file)
