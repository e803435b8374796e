# SPDX-License-Identifier: Apache-2.0
"""Texts to ids as BioGptTokenizer, FlaubertTokenizer and XLMTokenizer of `transformers` 5.23 make them:
words by the `sacremoses` library, their pieces by `tokenizers`. Called as a tokenizer of the latter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tokenizers import Tokenizer

from ..ir.tokenizer_spec import CharacterBpeModel, NormalizedMosesSegmenter, TokenizerSpec
from ..load.tokenizer_files.moses_library import moses_words, normalized_moses_words
from .composed_tokenizer import ComposedToken, ComposedTokenizer

_KEPT_WORDS = 1 << 14  # most words of a text are among so many


class MosesWordTokenizer(ComposedTokenizer):
    """Offsets are those of what lies between added tokens: the library tells no more of its words."""

    def __init__(self, spec: TokenizerSpec) -> None:
        super().__init__(spec)
        assert isinstance(spec.model, CharacterBpeModel) and spec.model.unknown_id is not None
        self._wheel = Tokenizer.from_str(spec.json)
        self._unknown = spec.model.unknown_id
        self._known = max(len(spec.model.pieces), *(token.id + 1 for token in spec.added_tokens))
        self._found_in = lru_cache(maxsize=_KEPT_WORDS)(self._find_in)

    def token_to_id(self, text: str) -> int | None:
        """None where the text has no id of its own."""
        number = self._wheel.token_to_id(text)
        return None if number is None or number >= self._known else number

    def ids_in_word(self, word: str) -> list[int]:
        """Of a word that Moses' rules have found."""
        return list(self._found_in(word))

    def _find_in(self, word: str) -> tuple[int, ...]:
        found = (token.id for token in self._wheel.model.tokenize(word))
        return tuple(number if number < self._known else self._unknown for number in found)

    def _segment(self, text: str, begin: int) -> Iterator[ComposedToken]:
        for word in self._words(text):
            for i, number in enumerate(self._found_in(word)):
                yield ComposedToken(number, begin, begin + len(text), begins_word=i == 0)

    def _words(self, text: str) -> list[str]:
        segmenter = self._spec.segmenter
        if not isinstance(segmenter, NormalizedMosesSegmenter):
            return moses_words(text)
        normalizer = self._wheel.normalizer
        return normalized_moses_words(text if normalizer is None else normalizer.normalize_str(text), segmenter)
