# SPDX-License-Identifier: Apache-2.0
"""The tables of each kind of model."""

from __future__ import annotations

from functools import singledispatch

from ..ir.character_models import BytesModel, CodePointsModel
from ..ir.tokenizer_spec import (
    ByteLevelBpeModel,
    CharacterBpeModel,
    TokenizerSpec,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)
from .byte_level_bpe import compile_byte_level_bpe
from .bytes_model import compile_bytes
from .character_bpe import compile_character_bpe
from .code_points_model import compile_code_points
from .fields import Part
from .unigram import compile_unigram
from .wordpiece import compile_word_level, compile_wordpiece


@singledispatch
def compile_model(model: object, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    """`model` is that of `spec`, `texts` are those of all ids, added tokens included."""
    raise TypeError(f"no tables for {type(model).__name__}")


@compile_model.register
def _(model: ByteLevelBpeModel, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    return compile_byte_level_bpe(model, texts, spec.trimming)


@compile_model.register
def _(model: BytesModel, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    return compile_bytes(model, texts)


@compile_model.register
def _(model: CodePointsModel, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    return compile_code_points()


@compile_model.register
def _(model: CharacterBpeModel, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    return compile_character_bpe(model, texts, _special(spec))


@compile_model.register
def _(model: UnigramModel, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    return compile_unigram(model, texts, _special(spec))


@compile_model.register
def _(model: WordLevelModel, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    return compile_word_level(model, texts, _special(spec))


@compile_model.register
def _(model: WordPieceModel, spec: TokenizerSpec, texts: list[bytes]) -> Part:
    return compile_wordpiece(model, texts)


def _special(spec: TokenizerSpec) -> set[int]:
    return {token.id for token in spec.added_tokens if token.special}
