# SPDX-License-Identifier: Apache-2.0
"""The tables of a WordPiece model, in the order of `etch::WordPiece`'s fields."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..errors import EtchError
from ..ir.tokenizer_spec import MOST_WORD_CHARS, WordLevelModel, WordPieceModel
from . import trie
from .fields import Field, Part, byte_array, signed, unsigned

_NO_FIRST_NODE = 0xFF  # as in runtime/src/tokenizer/models/trie.hpp: no 255 bytes begin a character
_ASCII_PUNCTUATION = frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def compile_wordpiece(spec: WordPieceModel, texts: list[bytes]) -> Part:
    """`texts` are those of all ids, added tokens included."""
    _check(spec)
    return _compile(spec, texts, _keys(spec, texts))


def compile_word_level(spec: WordLevelModel, texts: list[bytes], special: Collection[int]) -> Part:
    """As a WordPiece whose pieces are whole words. In the place of those that go on a word are the words of special
    tokens, whose ids are `special`: plain text becomes none of them."""
    longest = max((len(piece) for piece in spec.pieces if piece), default=1)
    as_pieces = WordPieceModel(spec.pieces, "", longest, spec.unknown_id)
    _check(as_pieces)
    words = [(piece.encode(), i) for i, piece in enumerate(spec.pieces) if piece]
    known = {i for _, i in words}
    displayed = [(text, i) for i, text in enumerate(texts) if text and i not in known]
    ordinary = [(text, i) for text, i in words if i not in special]
    return _compile(as_pieces, texts, (ordinary, [(text, i) for text, i in words if i in special], displayed))


def _compile(
    spec: WordPieceModel, texts: list[bytes], keys: tuple[list[trie.Key], list[trie.Key], list[trie.Key]]
) -> Part:
    id_bits = trie.value_bits(len(texts))
    pieces = trie.build(keys)
    arrays = (
        ("first_nodes", _first_nodes(pieces)),
        *trie.arrays(pieces, id_bits),
        ("prefix", byte_array(spec.continuing_prefix.encode())),
    )
    fields = (
        Field("first_nodes", array="first_nodes"),
        trie.field(pieces, id_bits),
        Field("prefix", array="prefix"),
        unsigned("initial_end", pieces.roots[1]),
        unsigned("continuing_end", pieces.roots[2]),
        unsigned("first_end", pieces.roots[3]),
        unsigned("piece_count", len(texts)),
        unsigned("prefix_size", len(spec.continuing_prefix.encode())),
        unsigned("max_word_chars", spec.max_input_chars_per_word),
        signed("unknown_id", spec.unknown_id),
    )
    longest = spec.max_input_chars_per_word
    return Part("WordPiece", fields, arrays, scratch_bytes(longest), most_pieces=longest + 16)


def scratch_bytes(max_word_chars: int) -> int:
    """As `etch::model_scratch_bytes`."""
    return (14 * max_word_chars + 7) // 8 * 8


def _keys(spec: WordPieceModel, texts: list[bytes]) -> tuple[list[trie.Key], list[trie.Key], list[trie.Key]]:
    """What the runtime searches for: a piece's text at the start of a word, its text without the prefix later; and the
    texts that only the display of tokens needs.

    A piece that begins with the prefix is both. With a prefix like `##` it is left out of the first: BERT's words never
    begin so, and of others the runtime looks behind the prefix, too.
    """
    prefix = spec.continuing_prefix.encode()
    only_continuing = not _ASCII_PUNCTUATION.isdisjoint(prefix)
    longest_word = 4 * max(spec.max_input_chars_per_word, 1)
    initial, continuing, displayed = [], [], []
    for i, text in enumerate(texts):
        is_piece = i < len(spec.pieces) and bool(spec.pieces[i])
        is_continuing = is_piece and text.startswith(prefix) and len(prefix) < len(text) <= len(prefix) + longest_word
        is_initial = is_piece and len(text) <= longest_word
        if is_initial and only_continuing and text.startswith(prefix) and len(text) > len(prefix):
            is_initial = False
        if is_continuing:
            continuing.append((text[len(prefix) :], i))
        if is_initial:
            initial.append((text, i))
        if text and not is_initial and not is_continuing:
            displayed.append((text, i))
    if not initial and not continuing:
        raise EtchError("empty-vocabulary", "pack", "the vocabulary has no piece that could match")
    return initial, continuing, displayed


def _first_nodes(pieces: trie.Trie) -> np.ndarray:
    """By kind and first byte: the node, counted from the first one of its kind."""
    table = np.full((2, 256), _NO_FIRST_NODE, np.uint8)
    for kind in (0, 1):
        first, last = pieces.roots[kind : kind + 2]
        table[kind, pieces.labels[first:last]] = np.arange(last - first)
    return table.reshape(-1)


def _check(spec: WordPieceModel) -> None:
    if not 0 <= spec.unknown_id < 2**31:
        raise EtchError("token-id-out-of-range", "front-end", f"the unknown token has id {spec.unknown_id}")
    if not 0 <= spec.max_input_chars_per_word <= MOST_WORD_CHARS:
        message = f"max_input_chars_per_word is {spec.max_input_chars_per_word}, supported are 0 to {MOST_WORD_CHARS}"
        raise EtchError("word-limit-unsupported", "front-end", message)
