# SPDX-License-Identifier: Apache-2.0
"""The tables of a model of bytes, in the order of `etch::Bytes`' fields: no text is looked up, all are displayed."""

from __future__ import annotations

from ..ir.character_models import BytesModel
from . import trie
from .fields import Part, signed, unsigned

MOST_PIECES = 16  # as etch::most_pieces


def compile_bytes(spec: BytesModel, texts: list[bytes]) -> Part:
    """`texts` are those of all ids, added tokens included."""
    id_bits = trie.value_bits(len(texts))
    pieces = trie.build([[(text, i) for i, text in enumerate(texts) if text and trie.CONTINUES not in text]])
    fields = (
        trie.field(pieces, id_bits),
        unsigned("first_end", pieces.roots[1]),
        unsigned("piece_count", len(texts)),
        signed("first_id", spec.first_id),
    )
    return Part("Bytes", fields, tuple(trie.arrays(pieces, id_bits)), most_pieces=MOST_PIECES)
