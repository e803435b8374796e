# SPDX-License-Identifier: Apache-2.0
"""Added tokens: two sorted sets, one matched on raw text, one on normalized text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.load.tokenizer_spec import AddedToken, WordPieceSpec

# As in etch::AddedTokens.
SPECIAL, SINGLE_WORD, LEFT_STRIP, RIGHT_STRIP = 1, 2, 4, 8


@dataclass(frozen=True)
class AddedTokenTables:
    """Sorted by content."""

    text: bytes
    begins: np.ndarray  # uint32 [count + 1]
    ids: np.ndarray  # int32 [count]
    flags: np.ndarray  # uint8 [count]
    first_bytes: np.ndarray  # uint32 [8], a bit set


def compile_added_tokens(spec: WordPieceSpec) -> tuple[AddedTokenTables, AddedTokenTables]:
    """Those matched on raw text, and those matched on normalized text."""
    # The order of precedence where contents coincide after normalization: as `tokenizers` lists its patterns.
    tokens = sorted((token for token in spec.added_tokens if token.content), key=lambda token: not token.special)
    for token in tokens:
        _check(token)
    normalize = Tokenizer.from_str(spec.json).normalizer.normalize_str
    raw = [(token.content, token) for token in tokens if not token.normalized]
    normalized = [(normalize(token.content), token) for token in tokens if token.normalized]
    return _compile(raw), _compile(normalized)


def _check(token: AddedToken) -> None:
    if not 0 <= token.id < 2**31:
        raise EtchError("token-id-out-of-range", "front-end", f"added token {token.content!r} has id {token.id}")
    if "\ufffd" in token.content:
        # Invalid UTF-8 reads as U+FFFD, but its bytes differ.
        raise EtchError("added-token-unsupported", "front-end", f"added token {token.content!r} contains U+FFFD")


def _compile(patterns: Iterable[tuple[str, AddedToken]]) -> AddedTokenTables:
    by_content: dict[bytes, AddedToken] = {}
    for content, token in patterns:
        if not content:
            message = f"nothing is left of added token {token.content!r} after normalization"
            raise EtchError("added-token-unsupported", "front-end", message)
        by_content.setdefault(content.encode(), token)
    if any(token.rstrip for token in by_content.values()):
        for content, token in by_content.items():
            if content.decode()[0].isspace():
                # The white space that one token swallows could begin the next, and the two would overlap.
                message = f"added token {token.content!r} begins with white space while another has rstrip"
                raise EtchError("added-token-unsupported", "front-end", message)
    contents = sorted(by_content)
    ordered = [by_content[content] for content in contents]
    first_bytes = np.zeros(8, np.uint32)
    for content in contents:
        first_bytes[content[0] // 32] |= np.uint32(1 << content[0] % 32)
    return AddedTokenTables(
        text=b"".join(contents),
        begins=np.cumsum([0, *map(len, contents)]).astype(np.uint32),
        ids=np.array([token.id for token in ordered], np.int32),
        flags=np.array([_flags(token) for token in ordered], np.uint8),
        first_bytes=first_bytes,
    )


def _flags(token: AddedToken) -> int:
    return (
        SPECIAL * token.special
        | SINGLE_WORD * token.single_word
        | LEFT_STRIP * token.lstrip
        | RIGHT_STRIP * token.rstrip
    )
