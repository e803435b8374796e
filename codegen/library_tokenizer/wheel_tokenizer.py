# SPDX-License-Identifier: Apache-2.0
"""The library that reads texts as a specification means it: `tokenizers`, `sentencepiece`, or `sacremoses`
with the first; code points are Python's."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Encoding, Tokenizer

from ..ir.character_models import CodePointsModel
from ..ir.template_spec import Template
from ..ir.tokenizer_spec import CharacterBpeModel, MosesSegmenter, NormalizedMosesSegmenter, TokenizerSpec
from .code_point_tokenizer import CodePointTokenizer
from .composed_tokenizer import ComposedEncoding, ComposedTokenizer
from .looked_up_tokenizer import LookedUpEncoding, LookedUpTokenizer
from .moses_word_tokenizer import MosesWordTokenizer
from .sentencepiece_tokenizer import SentencePieceTokenizer

WheelTokenizer = Tokenizer | ComposedTokenizer | LookedUpTokenizer
WheelEncoding = Encoding | ComposedEncoding | LookedUpEncoding


def wheel_tokenizer(spec: TokenizerSpec) -> WheelTokenizer:
    """Of texts to the ids of the model."""
    if spec.sentencepiece is not None:
        return SentencePieceTokenizer(spec, spec.sentencepiece)
    if isinstance(spec.segmenter, MosesSegmenter | NormalizedMosesSegmenter):
        return MosesWordTokenizer(spec)
    if isinstance(spec.model, CodePointsModel):
        return CodePointTokenizer(spec)
    wheel = Tokenizer.from_str(spec.json)
    model = spec.model
    if isinstance(model, CharacterBpeModel) and model.without_id and model.unknown_id is not None:
        known = max(len(model.pieces), *(token.id + 1 for token in spec.added_tokens))
        return LookedUpTokenizer(wheel, known, model.unknown_id)
    return wheel


def text_tokenizer(spec: TokenizerSpec, max_tokens: int) -> WheelTokenizer:
    """The same, cutting texts at `max_tokens`, and padding them where the model reads that."""
    tokenizer = wheel_tokenizer(spec)
    set_length(tokenizer, max_tokens, spec.template)
    return tokenizer


def set_length(tokenizer: WheelTokenizer, max_tokens: int, template: Template) -> None:
    """Cuts texts at `max_tokens`, pairs as the template says, and pads both to what it says."""
    tokenizer.enable_truncation(max_tokens, strategy="only_first" if template.cuts_first else "longest_first")
    if template.padding is not None:
        assert not isinstance(tokenizer, ComposedTokenizer)
        tokenizer.enable_padding(pad_id=template.padding.id, length=template.padding.tokens)


def encode_batch(
    tokenizer: WheelTokenizer, texts: Sequence[str | tuple[str, str]], *, add_special_tokens: bool = True
) -> list[WheelEncoding]:
    """Each text or pair."""
    return [*tokenizer.encode_batch(list(texts), add_special_tokens=add_special_tokens)]


def can_be_cut(tokenizer: WheelTokenizer, first: str, second: str) -> bool:
    """False where only first texts are cut, and no token of this one would be left: an error to the wheel."""
    cut = tokenizer.truncation
    if cut is None or cut["strategy"] != "only_first":
        return True
    room = cut["max_length"] - tokenizer.num_special_tokens_to_add(is_pair=True)
    before, behind = (len(tokenizer.encode(text, add_special_tokens=False).ids) for text in (first, second))
    return before + behind <= room or behind < room


def ids_in_word(tokenizer: WheelTokenizer, word: str) -> list[int]:
    """Of a word as the model of the tokenizer takes it."""
    if isinstance(tokenizer, ComposedTokenizer):
        return tokenizer.ids_in_word(word)
    return [token.id for token in tokenizer.model.tokenize(word)]
