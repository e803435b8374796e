# SPDX-License-Identifier: Apache-2.0
"""Texts to ids by the `sentencepiece` library, as MarianTokenizer and M2M100Tokenizer of `transformers` 5.23 drive it:
added tokens are found first, then, in Marian's, a code at the beginning of what is between them, and the text of each
piece is looked up. Called as a tokenizer of the `tokenizers` library."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ..ir.normalizer_spec import SentencePieceNormalizer
from ..ir.tokenizer_spec import METASPACE, CharacterBpeModel, SentencePieceFile, TokenizerSpec, UnigramModel
from ..load.tokenizer_files.sentencepiece_library import processor_of, without_normalization
from .composed_tokenizer import ComposedToken, ComposedTokenizer

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor


class SentencePieceTokenizer(ComposedTokenizer):
    """What lies between added tokens is one word."""

    def __init__(self, spec: TokenizerSpec, file: SentencePieceFile) -> None:
        super().__init__(spec)
        self._file = file
        self._processor = processor_of(file.model)
        normalizer = spec.normalizer
        self._finds_codes = isinstance(normalizer, SentencePieceNormalizer) and normalizer.unknown_code is not None

    def token_to_id(self, text: str) -> int | None:
        """None where the text has no id of its own."""
        return self._file.ids.get(text)

    def ids_in_word(self, word: str) -> list[int]:
        """Of a word that is normalized already, U+2581 included."""
        return [self._id(piece) for piece in self._of_words.encode(word, return_type=str)]

    @cached_property
    def _of_words(self) -> SentencePieceProcessor:
        return processor_of(without_normalization(self._file.model))

    @cached_property
    def _special(self) -> frozenset[str]:
        """Texts that are unknown where they are plain. M2M-100's BPE looks them up all the same, as its class does."""
        looked_up = not isinstance(self._spec.model, UnigramModel)
        return frozenset(token.content for token in self._spec.added_tokens if token.special and not looked_up)

    def _id(self, text: str) -> int:
        model = self._spec.model
        assert isinstance(model, UnigramModel | CharacterBpeModel) and model.unknown_id is not None
        is_hidden = self.encode_special_tokens and text in self._special
        return model.unknown_id if is_hidden else self._file.ids.get(text, model.unknown_id)

    def _segment(self, text: str, begin: int) -> Iterator[ComposedToken]:
        if self._finds_codes and text.startswith(">>") and "<<" in text:
            end = text.index("<<") + 2
            yield ComposedToken(self._id(text[:end]), begin, begin + end, begins_word=True)
            text, begin = text[end:], begin + end
        found = self._processor.encode(text, return_type="offset_mapping")
        for piece, (first, last) in zip(found["pieces"], found["offsets"], strict=True):
            yield ComposedToken(self._id(piece), begin + first, begin + last, piece.startswith(METASPACE))
