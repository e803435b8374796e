# SPDX-License-Identifier: Apache-2.0
"""The trie of a vocabulary as `etch::Unigram` and `etch::CharacterBpe` have it: the pieces that text is made of, and
beside them the texts that only an id is looked up by. Text goes on from its first byte, and from a space, without a
search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ir.byte_pieces import BYTE_PIECES
from ..ir.tokenizer_spec import METASPACE
from . import trie
from .fields import Field, unsigned

_METASPACE = METASPACE.encode()


@dataclass(frozen=True)
class PieceTrie:
    """Its tables, in the order of the fields of both."""

    found: trie.Trie
    id_bits: int
    first: np.ndarray  # the node of each first byte
    metaspace: int  # that of U+2581,
    after_metaspace: np.ndarray  # and by the next byte those below it
    named_begin: int

    @property
    def ids(self) -> list[int]:
        """Of the keys in the order of their nodes."""
        return self.found.values.tolist()

    @property
    def arrays(self) -> tuple[tuple[str, np.ndarray], ...]:
        """By the names of the fields."""
        own = (("first_nodes", self.first), ("metaspace_nodes", self.after_metaspace))
        return (*own, *trie.arrays(self.found, self.id_bits))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The first ones."""
        own = (Field(name, array=name) for name in ("first_nodes", "metaspace_nodes"))
        return (*own, trie.field(self.found, self.id_bits))

    @property
    def ends(self) -> tuple[Field, ...]:
        """Where the nodes of other texts' first bytes begin and end."""
        return unsigned("named_begin", self.named_begin), unsigned("first_end", self.found.roots[2])


def build_piece_trie(
    matched: list[trie.Key], texts: Sequence[bytes], named: Sequence[tuple[str, int]], without_id: int
) -> PieceTrie:
    """`matched` are the pieces that text is made of, `texts` those of all ids, added tokens included, but for `named`
    ones, which have other texts; so many pieces have no id."""
    id_of = dict(named)
    known = {i for _, i in matched} | {*id_of.values()}
    others = [(text, i) for i, text in enumerate(texts) if text and i not in known]
    others += [(text.encode(), i) for text, i in id_of.items()]
    found = trie.build((matched, others))
    first = trie.nodes_by_byte(found, range(*found.roots[:2]))
    metaspace, after = _metaspace_nodes(found, first)
    id_bits = trie.value_bits(len(texts) + without_id)
    return PieceTrie(found, id_bits, first, metaspace, after, found.roots[1 if named else 2])


def byte_ids(byte_fallback: bool, pieces: dict[str, int]) -> np.ndarray:
    """Of the pieces that unknown text is written in, -1 where there is none."""
    if not byte_fallback:
        return np.array([-1], np.int32)
    return np.array([pieces.get(piece, -1) for piece in BYTE_PIECES], np.int32)


def _metaspace_nodes(found: trie.Trie, first: np.ndarray) -> tuple[int, np.ndarray]:
    node = int(first[_METASPACE[0]])
    for byte in _METASPACE[1:]:
        node = int(trie.nodes_by_byte(found, found.children(node))[byte]) if node != trie.NO_NODE else node
    return node, trie.nodes_by_byte(found, found.children(node) if node != trie.NO_NODE else ())
