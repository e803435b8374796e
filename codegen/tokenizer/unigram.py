# SPDX-License-Identifier: Apache-2.0
"""The tables of a Unigram model, in the order of `etch::Unigram`'s fields.

Scores are doubles that mostly are, or are next to, what a float holds: then they are floats, and how far the double's
bits are from the float's. A piece that is what its own text becomes is marked: most words are such a piece. So are
special tokens, which are pieces as well: in plain text they are not found.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from ..errors import EtchError
from ..ir.tokenizer_spec import UnigramModel
from . import trie
from .fields import Field, Part, boolean, signed, unsigned
from .piece_trie import build_piece_trie, byte_ids

# As in etch::Unigram.
MOST_BYTES, LEAST_AGREED, _MOST_WHOLE_SUM = 1280, 256, 30_000
_MARK_BITS, _STEP_BIAS, _MOST_STEP = 4, 1, 3
_WHOLE, _STEP, _SPECIAL = 1, 2, 8
_SCRATCH_BYTES = (23 * (MOST_BYTES + 8) + 7) // 8 * 8  # as etch::model_scratch_bytes
_UNKNOWN_PENALTY = 10.0


def compile_unigram(spec: UnigramModel, texts: list[bytes], special: Collection[int]) -> Part:
    """`texts` are those of all ids, added tokens included; `special` are the ids of special tokens."""
    pieces = {piece: i for i, piece in enumerate(spec.pieces) if piece is not None}
    without_id = {piece: len(texts) + i for i, (piece, _) in enumerate(spec.without_id)}
    every = pieces | without_id
    score_of = dict(enumerate(spec.scores)) | {without_id[piece]: score for piece, score in spec.without_id}
    matched = [(piece.encode(), i) for piece, i in every.items()]
    longest = max((len(piece) for piece, _ in matched), default=0)
    if longest > LEAST_AGREED:
        message = f"a piece has {longest} bytes, at most {LEAST_AGREED} are supported"
        raise EtchError("piece-too-long", "front-end", message)
    is_matched = {i for _, i in matched}
    found = build_piece_trie(matched, texts, spec.named, len(without_id))
    ids = found.ids
    scores = np.array([score_of[i] if i in is_matched else 0.0 for i in ids], np.float64)
    with np.errstate(over="ignore"):  # those that are no float are far from any, too
        narrow = scores.astype(np.float32).astype(np.float64)
    steps = scores.view(np.int64) - narrow.view(np.int64) + _STEP_BIAS
    is_wide = bool(((steps < 0) | (steps > _MOST_STEP)).any())
    if is_wide:
        steps[:] = 0
    text_of = {i: piece for piece, i in every.items()}
    scores_by_text = {piece: score_of[i] for piece, i in every.items()}
    unknown = min(score_of.values()) - _UNKNOWN_PENALTY
    rounding = _rounding(score_of.values()) if spec.float_sums else 0.0
    whole = np.array([i in is_matched and is_whole(text_of[i], scores_by_text, unknown, rounding) for i in ids])
    hidden = np.isin(ids, [i for i in special if i != spec.unknown_id])
    marks = (_STEP * steps + _WHOLE * whole + _SPECIAL * hidden).astype(np.uint32)
    lowest = min(is_matched, key=lambda i: score_of[i])
    arrays = (
        *found.arrays,
        ("scores", scores.view(np.uint32) if is_wide else scores.astype(np.float32).view(np.uint32)),
        ("marks", trie.packed(marks, _MARK_BITS)),
        ("byte_ids", byte_ids(spec.byte_fallback, pieces)),
    )
    fields = (
        *found.fields,
        *(Field(name, array=name) for name in ("scores", "marks", "byte_ids")),
        boolean("wide_scores", is_wide),
        boolean("float_sums", spec.float_sums),
        boolean("byte_fallback", spec.byte_fallback),
        unsigned("metaspace_node", found.metaspace),
        unsigned("lowest_key", ids.index(lowest)),
        unsigned("longest", longest),
        *found.ends,
        unsigned("piece_count", len(texts)),
        signed("unknown_id", spec.unknown_id),
    )
    return Part("Unigram", fields, arrays, _SCRATCH_BYTES, most_pieces=MOST_BYTES + 16)


def _rounding(scores: Collection[float]) -> float:
    """The most that adding one of them to a float sum can be off by, behind a sum of at most _MOST_WHOLE_SUM."""
    largest = max(map(abs, (*scores, min(scores) - _UNKNOWN_PENALTY)))
    return 2.0**-9 if _MOST_WHOLE_SUM + LEAST_AGREED * largest < 2**16 else math.inf


def is_whole(text: str, scores: dict[str, float], unknown: float, rounding: float = 0.0) -> bool:
    """Whether the best path through a piece's text is the piece: as the runtime finds it. `scores` are those of all
    pieces, `unknown` is that of a character without one; `rounding` is what each sum may be off by: then no other path
    comes near."""
    count = len(text)
    most = scores[text] - rounding * (count + 1)
    sums = [0.0]  # the best of the paths to each place

    def of_paths(end: int, begins: range) -> Iterator[float]:
        for begin in begins:
            score = scores.get(text[begin:end], unknown if begin == end - 1 else None)
            if score is not None:
                yield sums[begin] + score

    for end in range(1, count):
        sums.append(max(of_paths(end, range(end))))
    return all(one <= most for one in of_paths(count, range(1, count)))
