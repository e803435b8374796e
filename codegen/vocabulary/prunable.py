# SPDX-License-Identifier: Apache-2.0
"""What pruning asks of a tokenizer's model, a kind of model at a time, and a tokenizer with some of its ids.

Of byte-level BPE a piece stays with the two that it is merged of, and these with theirs. So a word whose pieces all
stay is tokenized as before: each piece is made by one merge, so that the merges of these words are those of the pieces
that stay; of the possible merges the one of the lowest rank is done next, and none of those that went ever was.

Of Unigram any piece may go, but for single characters, and for the one of the lowest score, by which unknown text is
scored. So a word whose pieces all stay is tokenized as before: the best way to write it is still there, and no better
one or equal one has come.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import EtchError
from ..ir.byte_pieces import BYTE_OF, BYTE_PIECES
from ..ir.normalizer_spec import Normalizer, SentencePieceNormalizer
from ..ir.template_spec import Template, TemplatePart
from ..ir.tokenizer_spec import (
    END_OF_WORD,
    ByteLevelBpeModel,
    CharacterBpeModel,
    Model,
    SentencePieceFile,
    TokenizerSpec,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)
from ..load.tokenizer_files.sentencepiece_library import with_pieces
from ..tokenizer.byte_level_bpe import made_by

STAGE = "prune"

RareWords = Literal["spelled", "unknown"]
RARE_WORDS: tuple[RareWords, ...] = ("spelled", "unknown")

_CHARACTER_OF = {byte: character for character, byte in BYTE_OF.items()}


@singledispatch
def rare_words_of(model: object) -> tuple[RareWords, ...]:
    """What can become of the words whose piece goes: in order of preference."""
    raise EtchError("tokenizer-not-prunable", STAGE, f"a vocabulary of {type(model).__name__} cannot be pruned")


def is_prunable(model: object) -> bool:
    """Whether any words may go."""
    return rare_words_of.dispatch(type(model)) is not rare_words_of.dispatch(object)


@singledispatch
def spelling_ids(model: object) -> list[int]:
    """Pieces that spell what has no other: where they stay, rare words are spelled."""
    raise TypeError(type(model).__name__)


@singledispatch
def continuing_ids(model: object) -> list[int]:
    """Pieces that go on a word: without them rare words are unknown."""
    raise TypeError(type(model).__name__)


@singledispatch
def needed_by(model: object, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """By id: these pieces and those without which they are not found."""
    return kept


@singledispatch
def spelled(model: object, ids: Sequence[int]) -> str:
    """The word of these pieces, as the model of `tokenizers` takes it."""
    raise TypeError(type(model).__name__)


@singledispatch
def unknown_ids(model: object) -> tuple[int, ...]:
    """The token of unknown words, where there is one."""
    return ()


@singledispatch
def unspelled_ids(model: object) -> set[int]:
    """Pieces that are found otherwise than by their texts: `spelled` is of none of them."""
    return set(unknown_ids(model))


@singledispatch
def _with_ids(model: Model, described: dict[str, Any], number: dict[int, int]) -> Model:
    """The model with the ids that `number` has, numbered anew, and `described`, the model in tokenizer.json, changed
    in its place. Its vocabulary is changed already."""
    raise TypeError(type(model).__name__)


@rare_words_of.register
def _(model: WordPieceModel) -> tuple[RareWords, ...]:
    return RARE_WORDS


@spelling_ids.register
def _(model: WordPieceModel) -> list[int]:
    """ASCII characters, bare and continuing, so that no word of them becomes unknown."""
    bare = (piece.removeprefix(model.continuing_prefix) if piece is not None else "" for piece in model.pieces)
    return [i for i, piece in enumerate(bare) if len(piece) == 1 and piece.isascii()]


@continuing_ids.register
def _(model: WordPieceModel) -> list[int]:
    prefix = model.continuing_prefix
    return [i for i, piece in enumerate(model.pieces) if piece and piece != prefix and piece.startswith(prefix)]


@spelled.register
def _(model: WordPieceModel, ids: Sequence[int]) -> str:
    first, *others = (model.pieces[i] or "" for i in ids)
    return first + "".join(piece.removeprefix(model.continuing_prefix) for piece in others)


@unknown_ids.register
def _(model: WordPieceModel) -> tuple[int, ...]:
    return (model.unknown_id,)


@_with_ids.register
def _(model: WordPieceModel, described: dict[str, Any], number: dict[int, int]) -> WordPieceModel:
    pieces = tuple(model.pieces[old] if old < len(model.pieces) else None for old in number)
    return replace(model, pieces=pieces, unknown_id=number[model.unknown_id])


@rare_words_of.register
def _(model: ByteLevelBpeModel) -> tuple[RareWords, ...]:
    return ("spelled",)


@spelling_ids.register
def _(model: ByteLevelBpeModel) -> list[int]:
    """The bytes, those at the ends of words too."""
    end = END_OF_WORD.encode() if model.marks_ends else b""
    return [i for i, piece in enumerate(model.pieces) if piece is not None and len(piece.removesuffix(end)) == 1]


@needed_by.register
def _(model: ByteLevelBpeModel, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    halves = {i: (left, right) for i, (_, left, right) in made_by(model).items()}
    needed = kept.copy()
    waiting = np.flatnonzero(kept).tolist()
    while waiting:
        for half in halves.get(waiting.pop(), ()):
            if not needed[half]:
                needed[half] = True
                waiting.append(half)
    return needed


@spelled.register
def _(model: ByteLevelBpeModel, ids: Sequence[int]) -> str:
    return "".join(_CHARACTER_OF[byte] for i in ids for byte in model.pieces[i] or b"")


@_with_ids.register
def _(model: ByteLevelBpeModel, described: dict[str, Any], number: dict[int, int]) -> ByteLevelBpeModel:
    makes = {(left, right): i for i, (_, left, right) in made_by(model).items()}
    stays = [makes[pair] in number for pair in model.merges]
    described["merges"] = [merge for merge, stay in zip(described["merges"], stays, strict=True) if stay]
    merges = tuple(
        (number[left], number[right]) for (left, right), stay in zip(model.merges, stays, strict=True) if stay
    )
    pieces = tuple(model.pieces[old] for old in number if old < len(model.pieces))
    return replace(model, pieces=pieces, merges=merges)


@rare_words_of.register
def _(model: UnigramModel) -> tuple[RareWords, ...]:
    return ("spelled",)


@spelling_ids.register
def _(model: UnigramModel) -> list[int]:
    """Single characters, those that unknown text is looked up in, too, and bytes; and the piece of the lowest score."""
    texts = [(piece, i) for i, piece in enumerate(model.pieces) if piece is not None]
    lowest = min(texts, key=lambda text: model.scores[text[1]])
    single = [i for text, i in (*texts, *model.named) if len(text) == 1]
    return [*single, *_byte_ids(model), lowest[1]]


@spelled.register
def _(model: UnigramModel, ids: Sequence[int]) -> str:
    return "".join(model.pieces[i] or "" for i in ids)


@unknown_ids.register
def _(model: UnigramModel) -> tuple[int, ...]:
    return (model.unknown_id,)


@unknown_ids.register
def _(model: CharacterBpeModel) -> tuple[int, ...]:
    return () if model.unknown_id is None else (model.unknown_id,)


@unspelled_ids.register
def _(model: UnigramModel) -> set[int]:
    return {model.unknown_id, *_byte_ids(model), *(i for _, i in model.named)}


@_with_ids.register
def _(model: UnigramModel, described: dict[str, Any], number: dict[int, int]) -> UnigramModel:
    kept = [old for old in number if old < len(model.pieces)]
    return replace(
        model,
        pieces=tuple(model.pieces[old] for old in kept),
        scores=tuple(model.scores[old] for old in kept),
        unknown_id=number[model.unknown_id],
        named=tuple((text, number[old]) for text, old in model.named if old in number),
    )


@_with_ids.register
def _(model: WordLevelModel, described: dict[str, Any], number: dict[int, int]) -> WordLevelModel:
    pieces = tuple(model.pieces[old] for old in number if old < len(model.pieces))
    return replace(model, pieces=pieces, unknown_id=number[model.unknown_id])


def _byte_ids(model: UnigramModel) -> list[int]:
    found = set(BYTE_PIECES) if model.byte_fallback else set()
    return [i for i, piece in enumerate(model.pieces) if piece in found]


def keep_pieces(spec: TokenizerSpec, kept: NDArray[np.int64]) -> TokenizerSpec:
    """The specification with these ids, ascending, numbered from 0 on."""
    number = {old: new for new, old in enumerate(kept.tolist())}
    described: dict[str, Any] = {}
    if spec.sentencepiece is None:
        described = json.loads(spec.json)
        _shorten(described["model"], number)
        for token in described["added_tokens"]:
            token["id"] = number[token["id"]]
        _renumber_processor(described["post_processor"], number)
    return replace(
        spec,
        normalizer=_without_codes(spec.normalizer, number),
        model=_with_ids(spec.model, described.get("model", {}), number),
        template=_renumbered(spec.template, number),
        added_tokens=tuple(replace(token, id=number[token.id]) for token in spec.added_tokens),
        json=json.dumps(described) if described else "",
        sentencepiece=None if spec.sentencepiece is None else _kept_file(spec.sentencepiece, number),
    )


def _shorten(model: dict[str, Any], number: dict[int, int]) -> None:
    """The vocabulary of tokenizer.json changed in its place."""
    vocab = model["vocab"]
    if isinstance(vocab, dict):
        model["vocab"] = {piece: number[old] for piece, old in vocab.items() if old in number}
        return
    model["vocab"] = [piece for i, piece in enumerate(vocab) if i in number]
    model["unk_id"] = number[model["unk_id"]]


def _kept_file(file: SentencePieceFile, number: dict[int, int]) -> SentencePieceFile:
    """Pieces without an id stay: they are written as unknown."""
    return SentencePieceFile(
        with_pieces(file.model, lambda text: file.ids.get(text) is None or file.ids[text] in number),
        {text: number[old] for text, old in file.ids.items() if old in number},
    )


def _without_codes(normalizer: Normalizer, number: dict[int, int]) -> Normalizer:
    if not isinstance(normalizer, SentencePieceNormalizer):
        return normalizer
    codes = tuple((text, number[old]) for text, old in normalizer.codes if old in number)
    unknown = normalizer.unknown_code
    return replace(normalizer, codes=codes, unknown_code=None if unknown is None else number[unknown])


def _renumbered(template: Template, number: dict[int, int]) -> Template:
    def parts(of: tuple[TemplatePart, ...]) -> tuple[TemplatePart, ...]:
        return tuple(
            replace(part, content=number[part.content]) if isinstance(part.content, int) else part for part in of
        )

    padding = template.padding
    padding = None if padding is None else replace(padding, id=number[padding.id])
    return replace(template, single=parts(template.single), pair=parts(template.pair), padding=padding)


def _renumber_processor(processor: dict[str, Any] | None, number: dict[int, int]) -> None:
    """The ids of tokenizer.json's post-processor, in their place."""
    if processor is None:
        return
    for part in processor.get("processors", ()):
        _renumber_processor(part, number)
    for token in processor.get("special_tokens", {}).values():
        token["ids"] = [number[old] for old in token["ids"]]
    for key in ("cls", "sep"):
        if key in processor:
            content, old = processor[key]
            processor[key] = [content, number[old]]
