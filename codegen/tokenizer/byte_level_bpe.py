# SPDX-License-Identifier: Apache-2.0
"""The tables of a byte-level BPE model, in the order of `etch::ByteLevelBpe`'s fields.

The vocabulary is a trie of bytes, and a merge is a place in it: a pair becomes the piece that its two texts spell, if
the piece is made of a left one of that size. So merges cost a byte and a rank for each piece, and no pair is stored.
"""

from __future__ import annotations

import numpy as np

from ..errors import EtchError
from ..ir.tokenizer_spec import END_OF_WORD, ByteLevelBpeModel, Trimming
from . import trie
from .fields import Field, Part, boolean, unsigned
from .merging import merged

MOST_BYTES = 1024  # as in etch::ByteLevelBpe
MOST_PIECES = MOST_BYTES + 512  # as etch::most_pieces
SCRATCH_BYTES = 30 * MOST_BYTES + MOST_BYTES // 32 * 4  # as etch::model_scratch_bytes
_FIRST_OF_SEVERAL = 0xC0  # from here on a byte ends no character
_NEVER_IN_UTF8 = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))


def compile_byte_level_bpe(spec: ByteLevelBpeModel, texts: list[bytes], trimming: Trimming | None) -> Part:
    """`texts` are those of all ids, added tokens included."""
    ids = {piece: i for i, piece in enumerate(spec.pieces) if piece is not None}
    end = END_OF_WORD.encode() if spec.marks_ends else b""
    _check_bytes(ids, end)
    pairs = made_by(spec)
    id_bits = trie.value_bits(len(texts))
    matched = [(piece, i) for piece, i in ids.items() if trie.CONTINUES not in piece]
    displayed = [
        (text, i) for i, text in enumerate(texts) if text and ids.get(text) != i and trie.CONTINUES not in text
    ]
    pieces = trie.build((matched, displayed))
    left_sizes = np.zeros(len(pieces.values), np.uint8)
    merges = np.zeros(len(pieces.values), np.uint32)
    whole = {i for i in ids.values() if spec.ignore_merges or _is_whole(spec.pieces[i] or b"", ids, pairs, end)}
    for key, i in enumerate(pieces.values.tolist()):
        if i in pairs:
            rank, left, _ = pairs[i]
            left_sizes[key] = len(spec.pieces[left] or b"")
            merges[key] = 2 * rank
        merges[key] += i in whole
    merge_bits = trie.value_bits(2 * max(len(spec.merges), 1))
    arrays = (
        ("first_nodes", _first_nodes(pieces)),
        *trie.arrays(pieces, id_bits),
        ("left_sizes", left_sizes),
        ("merges", trie.packed(merges, merge_bits)),
    )
    fields = (
        Field("first_nodes", array="first_nodes"),
        trie.field(pieces, id_bits),
        Field("left_sizes", array="left_sizes"),
        Field("merges", array="merges"),
        unsigned("merge_bits", merge_bits),
        unsigned("first_end", pieces.roots[2]),
        unsigned("piece_count", len(texts)),
        boolean("trim_offsets", trimming is not None),
        boolean("keep_first_space", trimming is not None and trimming.keep_first_space),
        boolean("marks_ends", spec.marks_ends),
    )
    return Part("ByteLevelBpe", fields, arrays, SCRATCH_BYTES, most_pieces=MOST_PIECES)


def _check_bytes(ids: dict[bytes, int], end: bytes) -> None:
    missing = next((byte for byte in range(256) if bytes((byte,)) not in ids and byte not in _NEVER_IN_UTF8), None)
    if missing is None and end:
        missing = next((byte for byte in range(_FIRST_OF_SEVERAL) if bytes((byte,)) + end not in ids), None)
    if missing is not None:
        at = " at the end of a word" if end and bytes((missing,)) in ids else ""
        message = f"the vocabulary has no piece for the byte {missing:#04x}{at}: texts would lose it"
        raise EtchError("tokenizer-bytes", "front-end", message)


def made_by(spec: ByteLevelBpeModel) -> dict[int, tuple[int, int, int]]:
    """By the id of a piece: rank, left and right id of the pair that makes it."""
    ids = {piece: i for i, piece in enumerate(spec.pieces) if piece is not None}
    made: dict[int, tuple[int, int, int]] = {}
    for rank, (left, right) in enumerate(spec.merges):
        text = (spec.pieces[left] or b"") + (spec.pieces[right] or b"")
        if text not in ids:
            raise EtchError("tokenizer-merges", "front-end", f"merge {rank} makes {text!r}, which is no piece")
        if ids[text] in made:
            message = f"two merges, {made[ids[text]][0]} and {rank}, make the piece {text!r}: not supported"
            raise EtchError("tokenizer-merges", "front-end", message)
        if len(spec.pieces[left] or b"") > 255:
            raise EtchError("tokenizer-merges", "front-end", f"the left side of merge {rank} has more than 255 bytes")
        made[ids[text]] = (rank, left, right)
    return made


def _is_whole(piece: bytes, ids: dict[bytes, int], pairs: dict[int, tuple[int, int, int]], end: bytes) -> bool:
    """Whether merging makes the piece of its text, where `end` goes with the last byte."""

    def rank(left: bytes, right: bytes) -> int | None:
        made = pairs.get(ids.get(left + right, -1))
        return made[0] if made and made[1] == ids.get(left) else None

    text = piece.removesuffix(end)
    symbols = [text[i : i + 1] for i in range(len(text))]
    if text != piece and symbols:
        symbols[-1] += end
    return merged(symbols, rank) == [piece]


def _first_nodes(pieces: trie.Trie) -> np.ndarray:
    """By first byte, 0 for bytes that no text has."""
    table = np.zeros(256, np.uint16)
    first, last = pieces.roots[:2]
    table[pieces.labels[first:last]] = np.arange(first, last)
    return table
