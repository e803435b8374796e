# SPDX-License-Identifier: Apache-2.0
"""The tables of a WordPiece tokenizer, in the order of `etch::WordPiece`'s fields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import EtchError
from ..load.tokenizer_spec import WordPieceSpec
from . import perfect_hash
from .added_tokens import AddedTokenTables, compile_added_tokens

MOST_WORD_CHARS = 4096  # scratch grows with it, and so does the time for the worst word

_BLOCK = 64  # pieces that share a base, as in runtime/src/tokenizer/wordpiece.hpp
_REACH_KEY_BYTES, _REACH_UNLIMITED = 2, 255
_ASCII_PUNCTUATION = frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class WordPieceTables:
    """Arrays become const tables; `fields` is the initializer of `etch::WordPiece`, field by field.

    An array's name is a valid C++ identifier tail such as `piece_text`; the renderer gives it a prefix.
    """

    arrays: tuple[tuple[str, np.ndarray], ...]  # uint8, uint16, uint32 or int32, one-dimensional, never empty
    fields: tuple[Field, ...]
    constants: dict[str, int]  # scratch_bytes, max_word_chars, max_piece_bytes, piece_count, table_bytes


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
    text, bases, offsets = _piece_text(_texts_by_id(spec))
    lookup = _Lookup(spec)
    narrow = len(spec.pieces) <= 0x10000
    arrays = {
        "piece_text": text,
        "piece_bases": bases,
        "piece_offsets": offsets,
        "displacements": lookup.hash.displacements,
        "fingerprints": lookup.by_slot(perfect_hash.fingerprints(lookup.hash.states)),
        "slot_ids": lookup.by_slot(lookup.ids.astype(np.uint16 if narrow else np.uint32)),
        "reach": lookup.reach,
        "prefix": _bytes(spec.continuing_prefix.encode()),
        **_added_arrays("raw", raw_tokens),
        **_added_arrays("normalized", normalized_tokens),
    }
    scratch = scratch_bytes(spec.max_input_chars_per_word, lookup.max_piece_bytes)
    constants = {
        "scratch_bytes": scratch,
        "max_word_chars": spec.max_input_chars_per_word,
        "max_piece_bytes": lookup.max_piece_bytes,
        "piece_count": len(offsets) - 1,
        "table_bytes": sum(array.nbytes for array in arrays.values()),
    }
    pointers = ("piece_text", "piece_bases", "piece_offsets", "displacements", "fingerprints")
    slot_ids = (
        _pointer_or_null("slot_ids16", "slot_ids", narrow),
        _pointer_or_null("slot_ids32", "slot_ids", not narrow),
    )
    numbers = {
        "initial_seed": f"{lookup.hash.seeds[0]:#x}u",
        "continuing_seed": f"{lookup.hash.seeds[1]:#x}u",
        "piece_count": f"{constants['piece_count']}u",
        "bucket_count": f"{len(lookup.hash.displacements)}u",
        "slot_count": f"{lookup.hash.slot_count}u",
        "reach_bits": f"{lookup.reach_bits}u",
        "prefix_size": f"{len(spec.continuing_prefix.encode())}u",
        "max_piece_bytes": f"{lookup.max_piece_bytes}u",
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
        *(Field(name, array=name) for name in pointers),
        *slot_ids,
        Field("reach", array="reach"),
        Field("prefix", array="prefix"),
        Field("raw_tokens", group=_added_fields("raw", raw_tokens)),
        Field("normalized_tokens", group=_added_fields("normalized", normalized_tokens)),
        *(Field(name, literal=value) for name, value in numbers.items()),
    )
    return WordPieceTables(tuple(arrays.items()), fields, constants)


def scratch_bytes(max_word_chars: int, max_piece_bytes: int) -> int:
    """As `etch::tokenizer_scratch_bytes`."""
    return (14 * max_word_chars + 8 * max_piece_bytes + 7) // 8 * 8


class _Lookup:
    """The keys that the runtime searches for: a piece's text at the start of a word, its text without the prefix later.

    A piece that begins with the prefix is both. With a prefix like `##` the first can never be looked up, because ASCII
    punctuation is always a word of its own, and is left out.
    """

    def __init__(self, spec: WordPieceSpec) -> None:
        prefix = spec.continuing_prefix.encode()
        only_continuing = not _ASCII_PUNCTUATION.isdisjoint(prefix)
        longest_word = 4 * max(spec.max_input_chars_per_word, 1)
        initial, continuing = [], []
        for i, piece in enumerate(spec.pieces):
            text = (piece or "").encode()
            if text.startswith(prefix) and len(prefix) < len(text) <= len(prefix) + longest_word:
                continuing.append((text[len(prefix) :], i))
            is_initial = 0 < len(text) <= longest_word
            if is_initial and not (only_continuing and text.startswith(prefix) and len(text) > 1):
                initial.append((text, i))
        entries = initial + continuing
        keys = [key for key, _ in entries]
        kinds = np.repeat([0, 1], [len(initial), len(continuing)])
        self.ids = np.array([i for _, i in entries], np.uint32)
        self.hash = perfect_hash.build(keys, kinds)
        self.max_piece_bytes = max(map(len, keys))
        self.reach, self.reach_bits = _reach(keys, np.array(self.hash.seeds, np.uint64)[kinds])

    def by_slot(self, values: np.ndarray) -> np.ndarray:
        table = np.zeros(self.hash.slot_count, values.dtype)
        table[self.hash.slots] = values
        return table


def _reach(keys: list[bytes], states: np.ndarray) -> tuple[np.ndarray, int]:
    """Length of the longest key by the hash of its first two bytes: most words need few tries. One entry for about
    eight keys is enough to tell the letter pairs of a natural language apart."""
    bits = max(4, (len(keys) // 8).bit_length())
    sizes = np.array([len(key) for key in keys])
    blob = np.frombuffer(b"".join(keys), np.uint8)
    states = perfect_hash.hash_states(blob, sizes, states, _REACH_KEY_BYTES)
    table = np.ones(1 << bits, np.uint8)
    long_enough = sizes >= _REACH_KEY_BYTES
    at = (states[long_enough] >> np.uint64(64 - bits)).astype(np.int64)
    np.maximum.at(table, at, np.minimum(sizes[long_enough], _REACH_UNLIMITED).astype(np.uint8))
    return table, bits


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


def _piece_text(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    begins = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    bases = begins[::_BLOCK]
    offsets = begins - np.repeat(bases, _BLOCK)[: len(begins)]
    if offsets.max() > 0xFFFF:
        i = int(np.argmax(offsets > 0xFFFF)) - 1
        raise EtchError("piece-too-long", "pack", f"the piece with id {i} has {len(texts[i])} bytes")
    return _bytes(b"".join(texts)), bases.astype(np.uint32), offsets.astype(np.uint16)


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


def _pointer_or_null(name: str, array: str, present: bool) -> Field:
    return Field(name, array=array) if present else Field(name, literal="nullptr")


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _bytes(text: bytes) -> np.ndarray:
    return _never_empty(np.frombuffer(text, np.uint8))


def _never_empty(array: np.ndarray) -> np.ndarray:
    """C++ has no empty arrays."""
    return array if len(array) else np.zeros(1, array.dtype)
