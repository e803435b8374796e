# SPDX-License-Identifier: Apache-2.0
"""The `tokenizers` library for vocabularies that lack some of the pieces that merging goes through: to the library
these have ids behind the others, and every id there means unknown text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenizers import Encoding, Tokenizer


class LookedUpTokenizer:
    """Called as a tokenizer of the library."""

    def __init__(self, wheel: Tokenizer, known: int, unknown: int) -> None:
        self._wheel = wheel
        self._known = known  # ids
        self._unknown = unknown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wheel, name)

    @property
    def encode_special_tokens(self) -> bool:
        """True: special tokens are ordinary text."""
        return self._wheel.encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._wheel.encode_special_tokens = value

    def encode(self, text: str, pair: str | None = None, *, add_special_tokens: bool = True) -> LookedUpEncoding:
        """A text or two."""
        return self._looked_up(self._wheel.encode(text, pair, add_special_tokens=add_special_tokens))

    def encode_batch(self, texts: Sequence[Any], **options: Any) -> list[LookedUpEncoding]:
        """Each as `encode` does it."""
        return [self._looked_up(encoding) for encoding in self._wheel.encode_batch(texts, **options)]

    def _looked_up(self, encoding: Encoding) -> LookedUpEncoding:
        return LookedUpEncoding(encoding, self._known, self._unknown)


class LookedUpEncoding:
    """As of the library, with the ids of the model."""

    def __init__(self, encoding: Encoding, known: int, unknown: int) -> None:
        self._encoding = encoding
        self.ids = [one if one < known else unknown for one in encoding.ids]
        self.overflowing = [LookedUpEncoding(part, known, unknown) for part in encoding.overflowing]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoding, name)
