# SPDX-License-Identifier: Apache-2.0
"""The tables of a whole tokenizer, in the order of `etch::Tokenizer`'s fields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import EtchError
from ..ir.character_models import CODE_POINTS, CodePointsModel
from ..ir.tokenizer_spec import TokenizerSpec, WordPieceModel
from .added_tokens import compile_added_tokens
from .content_tables import content_arrays, content_fields
from .fields import Field
from .models import compile_model
from .normalizers import compile_normalizer
from .piece_characters import piece_characters
from .segmenters import compile_segmenter
from .template import compile_template

UNICODE_TABLE_BYTES = 20_144  # in libetch.a, once for all models: unicode_tables.table_bytes()


@dataclass(frozen=True)
class TokenizerTables:
    """Arrays become const tables; `fields` is the initializer of `cpp_type`, field by field.

    An array's name is a valid C++ identifier tail such as `labels`; the renderer gives it a prefix.
    """

    cpp_type: str  # etch::Tokenizer of the parts' types
    arrays: tuple[tuple[str, np.ndarray], ...]  # uint8, uint16, uint32 or int32, one-dimensional, never empty
    fields: tuple[Field, ...]
    constants: dict[str, int]  # scratch_bytes, stack_bytes, most_pieces, piece_count, table_bytes


def compile_tokenizer(spec: TokenizerSpec, *, words_of: int = 0) -> TokenizerTables:
    """`words_of`: with the table that tells which tokens begin a word, where the model needs one, of so many ids: of
    the word embedding, which may have more rows than the tokenizer has pieces."""
    raw_tokens, normalized_tokens = compile_added_tokens(spec)
    texts = texts_by_id(spec)
    normalizer, segmenter = compile_normalizer(spec.normalizer), compile_segmenter(spec.segmenter)
    template = compile_template(spec.template)
    model = compile_model(spec.model, spec, texts)
    arrays = (
        *(array for part in (model, normalizer, segmenter, template) for array in part.arrays),
        *content_arrays("raw", raw_tokens),
        *content_arrays("normalized", normalized_tokens),
        *_word_arrays(spec, texts, words_of),
    )
    fields = (
        Field("raw_tokens", group=content_fields("raw", raw_tokens)),
        Field("normalized_tokens", group=content_fields("normalized", normalized_tokens)),
        Field("normalizer", group=normalizer.fields),
        Field("segmenter", group=segmenter.fields),
        Field("model", group=model.fields),
        Field("parts", group=template.fields),
    )
    constants = {
        "scratch_bytes": model.scratch_bytes,
        "stack_bytes": normalizer.stack_bytes + segmenter.stack_bytes,
        "most_pieces": model.most_pieces,
        "piece_count": CODE_POINTS if isinstance(spec.model, CodePointsModel) else len(texts),
        "table_bytes": sum(array.nbytes for _, array in arrays),
    }
    cpp_type = f"Tokenizer<{normalizer.cpp_type}, {segmenter.cpp_type}, {model.cpp_type}>"
    return TokenizerTables(cpp_type, arrays, fields, constants)


def _word_arrays(spec: TokenizerSpec, texts: list[bytes], words_of: int) -> list[tuple[str, np.ndarray]]:
    if words_of == 0 or not isinstance(spec.model, WordPieceModel):
        return []
    without_text = [b""] * (words_of - len(texts))
    return [("piece_characters", piece_characters(spec.model, [*texts, *without_text]))]


def texts_by_id(spec: TokenizerSpec) -> list[bytes]:
    """For the display of tokens: added tokens too, empty where an id has no text. Code points have none: ids say it."""
    if isinstance(spec.model, CodePointsModel):
        return []
    pieces = spec.model.pieces
    present = [piece for piece in pieces if piece is not None]
    if len(set(present)) != len(present):
        raise EtchError("duplicate-piece", "front-end", "two ids of the vocabulary have the same piece")
    added = {token.id: token.content for token in spec.added_tokens}
    count = max(len(pieces), *(i + 1 for i in added)) if added else len(pieces)
    if count > len(pieces) + len(added) + 0x10000:
        raise EtchError("token-id-out-of-range", "front-end", f"an added token has id {count - 1}")
    known = [piece.encode() if isinstance(piece, str) else piece or b"" for piece in pieces]
    return [text or added.get(i, "").encode() for i, text in enumerate([*known, *[b""] * (count - len(pieces))])]
