# SPDX-License-Identifier: Apache-2.0
"""The tables of a WordPiece tokenizer, in the order of `etch::WordPiece`'s fields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import EtchError
from ..load.tokenizer_spec import WordPieceSpec
from . import trie
from .added_tokens import AddedTokenTables, compile_added_tokens

MOST_WORD_CHARS = 4096  # scratch grows with it, and so does the time for the worst word

UNICODE_TABLE_BYTES = 20_144  # in libetch.a, once for all models: unicode_tables.table_bytes()

_NO_FIRST_NODE = 0xFF  # as in runtime/src/tokenizer/trie.hpp: no 255 bytes begin a character
_ASCII_PUNCTUATION = frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class WordPieceTables:
    """Arrays become const tables; `fields` is the initializer of `etch::WordPiece`, field by field.

    An array's name is a valid C++ identifier tail such as `labels`; the renderer gives it a prefix.
    """

    arrays: tuple[tuple[str, np.ndarray], ...]  # uint8, uint16, uint32 or int32, one-dimensional, never empty
    fields: tuple[Field, ...]
    constants: dict[str, int]  # scratch_bytes, max_word_chars, piece_count, table_bytes


@dataclass(frozen=True)
class Field:
    """One field of `etch::WordPiece` or of an `etch::AddedTokens` in it: exactly one of the three is set."""

    name: str
    array: str | None = None  # an array's name
    literal: str | None = None  # a number, `true`, `false` or `nullptr`
    group: tuple[Field, ...] | None = None


def compile_wordpiece(spec: WordPieceSpec) -> WordPieceTables:
    _check(spec)
    raw_tokens, normalized_tokens = compile_added_tokens(spec)
    texts = _texts_by_id(spec)
    id_bits = max((len(texts) - 1).bit_length(), 1)
    if id_bits > trie.MOST_VALUE_BITS:
        raise EtchError("vocabulary-too-large", "pack", f"{len(texts)} ids, at most {2**trie.MOST_VALUE_BITS}")
    pieces = trie.build(_keys(spec, texts))
    arrays = {
        "first_nodes": _first_nodes(pieces),
        "labels": pieces.labels,
        "blocks": pieces.blocks.reshape(-1),
        "ranks": pieces.ranks,
        "packed_ids": pieces.packed_values(id_bits),
        "prefix": _bytes(spec.continuing_prefix.encode()),
        **_added_arrays("raw", raw_tokens),
        **_added_arrays("normalized", normalized_tokens),
    }
    constants = {
        "scratch_bytes": scratch_bytes(spec.max_input_chars_per_word),
        "max_word_chars": spec.max_input_chars_per_word,
        "piece_count": len(texts),
        "table_bytes": sum(array.nbytes for array in arrays.values()),
    }
    numbers = {
        "block_count": f"{len(pieces.blocks)}u",
        "key_count": f"{len(pieces.values)}u",
        "id_bits": f"{id_bits}u",
        "initial_end": f"{pieces.roots[1]}u",
        "continuing_end": f"{pieces.roots[2]}u",
        "first_end": f"{pieces.roots[3]}u",
        "piece_count": f"{constants['piece_count']}u",
        "prefix_size": f"{len(spec.continuing_prefix.encode())}u",
        "max_word_chars": f"{spec.max_input_chars_per_word}u",
        "unknown_id": str(spec.unknown_id),
        "classify_id": str(spec.classify_id),
        "separate_id": str(spec.separate_id),
        "clean_text": _boolean(spec.clean_text),
        "handle_chinese_chars": _boolean(spec.handle_chinese_chars),
        "strip_accents": _boolean(spec.strip_accents),
        "lowercase": _boolean(spec.lowercase),
    }
    fields = (
        *(Field(name, array=name) for name in ("first_nodes", "labels", "blocks", "ranks", "packed_ids", "prefix")),
        Field("raw_tokens", group=_added_fields("raw", raw_tokens)),
        Field("normalized_tokens", group=_added_fields("normalized", normalized_tokens)),
        *(Field(name, literal=value) for name, value in numbers.items()),
    )
    return WordPieceTables(tuple(arrays.items()), fields, constants)


def scratch_bytes(max_word_chars: int) -> int:
    """As `etch::tokenizer_scratch_bytes`."""
    return (14 * max_word_chars + 7) // 8 * 8


def _keys(spec: WordPieceSpec, texts: list[bytes]) -> tuple[list[trie.Key], list[trie.Key], list[trie.Key]]:
    """What the runtime searches for: a piece's text at the start of a word, its text without the prefix later; and the
    texts that only the display of tokens needs.

    A piece that begins with the prefix is both. With a prefix like `##` the first can never be looked up, because ASCII
    punctuation is always a word of its own, and is left out.
    """
    prefix = spec.continuing_prefix.encode()
    only_continuing = not _ASCII_PUNCTUATION.isdisjoint(prefix)
    longest_word = 4 * max(spec.max_input_chars_per_word, 1)
    initial, continuing, displayed = [], [], []
    for i, text in enumerate(texts):
        is_piece = i < len(spec.pieces) and bool(spec.pieces[i])
        is_continuing = is_piece and text.startswith(prefix) and len(prefix) < len(text) <= len(prefix) + longest_word
        is_initial = is_piece and len(text) <= longest_word
        if is_initial and only_continuing and text.startswith(prefix) and len(text) > 1:
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


def _check(spec: WordPieceSpec) -> None:
    present = [piece for piece in spec.pieces if piece is not None]
    if len(set(present)) != len(present):
        raise EtchError("duplicate-piece", "front-end", "two ids of the vocabulary have the same piece")
    for what, i in (("unknown", spec.unknown_id), ("[CLS]", spec.classify_id), ("[SEP]", spec.separate_id)):
        if not 0 <= i < 2**31:
            raise EtchError("token-id-out-of-range", "front-end", f"the {what} token has id {i}")
    if not 0 <= spec.max_input_chars_per_word <= MOST_WORD_CHARS:
        message = f"max_input_chars_per_word is {spec.max_input_chars_per_word}, supported are 0 to {MOST_WORD_CHARS}"
        raise EtchError("word-limit-unsupported", "front-end", message)


def _texts_by_id(spec: WordPieceSpec) -> list[bytes]:
    """For the display of tokens: added tokens too, empty where an id has no text."""
    added = {token.id: token.content for token in spec.added_tokens}
    count = max(len(spec.pieces), *(i + 1 for i in added)) if added else len(spec.pieces)
    if count > len(spec.pieces) + len(added) + 0x10000:
        raise EtchError("token-id-out-of-range", "front-end", f"an added token has id {count - 1}")
    texts = [piece or "" for piece in spec.pieces] + [""] * (count - len(spec.pieces))
    return [(text or added.get(i, "")).encode() for i, text in enumerate(texts)]


def _added_arrays(which: str, tokens: AddedTokenTables) -> dict[str, np.ndarray]:
    return {
        f"{which}_text": _bytes(tokens.text),
        f"{which}_begins": tokens.begins,
        f"{which}_ids": _never_empty(tokens.ids),
        f"{which}_flags": _never_empty(tokens.flags),
        f"{which}_first_bytes": tokens.first_bytes,
    }


def _added_fields(which: str, tokens: AddedTokenTables) -> tuple[Field, ...]:
    names = ("text", "begins", "ids", "flags", "first_bytes")
    return (
        *(Field(name, array=f"{which}_{name}") for name in names),
        Field("count", literal=f"{len(tokens.ids)}u"),
    )


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _bytes(text: bytes) -> np.ndarray:
    return _never_empty(np.frombuffer(text, np.uint8))


def _never_empty(array: np.ndarray) -> np.ndarray:
    """C++ has no empty arrays."""
    return array if len(array) else np.zeros(1, array.dtype)
