# SPDX-License-Identifier: Apache-2.0
"""The tables of a BPE model over characters, in the order of `etch::CharacterBpe`'s fields.

The vocabulary is a trie. SentencePiece's merges, as others write them down, are all pairs of pieces that spell a piece,
those of the first ids first: they follow from the vocabulary, and cost a bit a piece. Where a file has other ones, the
pairs that make a piece lie one after the other, each as the size of its left one and its rank: the texts of a pair are
where the piece's text is cut. A pair then costs three bytes or four.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate, pairwise

import numpy as np

from ..errors import EtchError
from ..ir.tokenizer_spec import END_OF_WORD, GOES_ON, METASPACE, CharacterBpeModel, goes_on
from . import trie
from .byte_level_bpe import MOST_BYTES, MOST_PIECES, SCRATCH_BYTES
from .fields import Field, Part, boolean, never_empty, signed, unsigned
from .merging import merged
from .piece_trie import build_piece_trie, byte_ids

# As in etch::CharacterBpe.
_MARK_BITS = 3
_WHOLE, _SPECIAL, _UNMADE = 1, 2, 4

Ranks = dict[tuple[str, str], int]


def compile_character_bpe(spec: CharacterBpeModel, texts: list[bytes], special: Collection[int]) -> Part:
    """`texts` are those of all ids, added tokens included; `special` are the ids of special tokens."""
    names = tuple(_symbol(spec, piece) for piece in (*spec.pieces, *spec.without_id))
    ids = {piece: i for i, piece in enumerate(names[: len(spec.pieces)]) if piece is not None}
    ids |= {piece: len(texts) + i for i, piece in enumerate(names[len(spec.pieces) :]) if piece is not None}
    hidden = {piece for piece, i in ids.items() if i in special and i != spec.unknown_id}
    ranks = {(names[left] or "", names[right] or ""): rank for rank, (left, right) in enumerate(spec.merges)}
    pairs = _pairs_by_piece(ranks)
    reached = {piece for piece in hidden if piece in pairs or len(piece) == 1}
    matched = [(_key(spec, piece).encode(), i) for piece, i in ids.items()]
    text_of = {i: piece for piece, i in ids.items()}
    found = build_piece_trie(matched, texts, spec.named, len(spec.without_id))
    by_key = [text_of.get(i, "") for i in found.ids]
    words = {piece: _characters(spec, piece) for piece in ids}
    whole = {
        piece
        for piece, symbols in words.items()
        if symbols and (spec.ignore_merges or _is_whole(symbols, ids.keys(), ranks, reached))
    }
    by_id = not _has_marks(spec) and _follow_from_ids(ids, ranks, pairs)
    unmade = {piece for piece in ids if by_id and piece not in pairs and _spellings(piece, ids)}
    marks = [_WHOLE * (piece in whole) + _SPECIAL * (piece in hidden) + _UNMADE * (piece in unmade) for piece in by_key]
    ordered = [pairs.get(piece, []) for piece in by_key] if not by_id else []
    begins = np.array([0, *accumulate(map(len, ordered))], np.uint32)
    flat = [pair for made in ordered for pair in made]
    begin_bits, rank_bits = trie.value_bits(len(flat) + 1), trie.value_bits(max(len(spec.merges), 1))
    arrays = (
        *found.arrays,
        ("marks", trie.packed(np.array(marks, np.uint32), _MARK_BITS)),
        ("merge_begins", trie.packed(begins, begin_bits)),
        ("left_sizes", never_empty(np.array([size for size, _ in flat], np.uint8))),
        ("merge_ranks", trie.packed(np.array([rank for _, rank in flat], np.uint32), rank_bits)),
        ("byte_ids", byte_ids(spec.byte_fallback, ids)),
    )
    at_spaces = not (spec.ignore_merges or _has_marks(spec)) and METASPACE in ids.keys() - hidden
    fields = (
        *found.fields,
        *(Field(name, array=name) for name in ("marks", "merge_begins", "left_sizes", "merge_ranks", "byte_ids")),
        unsigned("metaspace_node", found.metaspace),
        boolean("ranks_by_id", by_id),
        boolean("has_unmade", bool(unmade)),
        unsigned("begin_bits", begin_bits),
        unsigned("rank_bits", rank_bits),
        *found.ends,
        unsigned("piece_count", len(texts)),
        signed("unknown_id", -1 if spec.unknown_id is None else spec.unknown_id),
        boolean("byte_fallback", spec.byte_fallback),
        boolean("fuse_unknown", spec.fuse_unknown),
        boolean("parts_at_spaces", at_spaces and not any(METASPACE in piece.lstrip(METASPACE) for piece in pairs)),
        boolean("marks_goes_on", spec.marks_goes_on),
        boolean("marks_ends", spec.marks_ends),
    )
    return Part("CharacterBpe", fields, arrays, SCRATCH_BYTES, most_pieces=MOST_PIECES)


def _has_marks(spec: CharacterBpeModel) -> bool:
    return spec.marks_goes_on or spec.marks_ends


def _symbol(spec: CharacterBpeModel, piece: str | None) -> str | None:
    """What merging knows a piece by: where those that a word goes on behind are marked, its end is instead."""
    if piece is None or not spec.marks_goes_on:
        return piece
    return piece.removesuffix(GOES_ON) if goes_on(piece) else piece + END_OF_WORD


def _key(spec: CharacterBpeModel, symbol: str) -> str:
    """The piece of a symbol."""
    if not spec.marks_goes_on:
        return symbol
    return symbol.removesuffix(END_OF_WORD) if symbol.endswith(END_OF_WORD) else symbol + GOES_ON


def _characters(spec: CharacterBpeModel, symbol: str) -> list[str]:
    """What merging makes a word of; nothing where the symbol is none."""
    if not _has_marks(spec):
        return list(symbol)
    if not symbol.endswith(END_OF_WORD) or symbol == END_OF_WORD:
        return []
    characters = list(symbol.removesuffix(END_OF_WORD))
    return [*characters[:-1], characters[-1] + END_OF_WORD]


def _pairs_by_piece(ranks: Ranks) -> dict[str, list[tuple[int, int]]]:
    """Of each piece the pairs that make it: bytes of the left one, and the rank."""
    pairs: dict[str, list[tuple[int, int]]] = {}
    for (left, right), rank in ranks.items():
        size = len(left.encode())
        if size > 255:
            raise EtchError("tokenizer-merges", "front-end", f"the left side of merge {rank} has more than 255 bytes")
        if size + len(right.encode()) <= MOST_BYTES:  # longer ones are in no word
            pairs.setdefault(left + right, []).append((size, rank))
    return pairs


def _spellings(text: str, known: Collection[str]) -> int:
    """Pairs of pieces that spell it."""
    return sum(text[:cut] in known and text[cut:] in known for cut in range(1, len(text)))


def _follow_from_ids(ids: dict[str, int], ranks: Ranks, pairs: dict[str, list[tuple[int, int]]]) -> bool:
    """Whether all pairs of pieces that spell a made piece make it, those of the first ids first."""
    made = [ids[left + right] for left, right in sorted(ranks, key=ranks.__getitem__)]
    is_in_order = all(one <= other for one, other in pairwise(made))
    return is_in_order and all(len(found) == _spellings(text, ids) for text, found in pairs.items())


def _is_whole(symbols: list[str], known: Collection[str], ranks: Ranks, hidden: Collection[str]) -> bool:
    """Whether merging makes one piece of them, also where text becomes none of the `hidden` ones."""
    is_hidden = "".join(symbols) in hidden
    return _become_one(symbols, known, ranks, ()) and (
        is_hidden or not hidden or _become_one(symbols, known, ranks, hidden)
    )


def _become_one(symbols: list[str], known: Collection[str], ranks: Ranks, without: Collection[str]) -> bool:
    def rank(left: str, right: str) -> int | None:
        return None if left + right in without else ranks.get((left, right))

    return all(one in known and one not in without for one in symbols) and len(merged(symbols, rank)) == 1
