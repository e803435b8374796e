# SPDX-License-Identifier: Apache-2.0
"""Texts to code points, as CanineTokenizer of `transformers` 5.23 makes them. Called as a tokenizer of `tokenizers`."""

from __future__ import annotations

from collections.abc import Iterator

from .composed_tokenizer import ComposedToken, ComposedTokenizer


class CodePointTokenizer(ComposedTokenizer):
    """Each character is a word."""

    def token_to_id(self, text: str) -> int | None:
        """None where the text is no character."""
        return ord(text) if len(text) == 1 else None

    def ids_in_word(self, word: str) -> list[int]:
        """Of each character."""
        return list(map(ord, word))

    def _segment(self, text: str, begin: int) -> Iterator[ComposedToken]:
        for i, character in enumerate(text, begin):
            yield ComposedToken(ord(character), i, i + 1, begins_word=True)
