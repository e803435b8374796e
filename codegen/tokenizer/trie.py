# SPDX-License-Identifier: Apache-2.0
"""A trie of byte strings in about two bytes a node: the longest key that a text begins with is found byte by byte.

Nodes are numbered breadth first, so that the children of a node follow each other, and with them those of its
neighbours: a node's first child is that of its block plus the children of the nodes before it in the block, and a
multiplication adds up the sixteen four-bit counts. A node of more children than `MOST_CHILDREN` keeps the heaviest of
them and one that continues the list, whose label no text holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..errors import EtchError
from .fields import Field, unsigned

# As in runtime/src/tokenizer/models/trie.hpp.
BLOCK = 16  # nodes
MOST_CHILDREN = 15
CONTINUES = 0xFF  # a byte that UTF-8 never has
BLOCKS_PER_RANK = 4096  # blocks of 16 have at most 65,536 keys: a block counts its keys from there in 16 bits
LABEL_PADDING = 16  # labels are compared eight at a time
MOST_VALUE_BITS = 25  # a value is cut out of 32 bits that begin at a byte

NO_NODE = 0xFFFFFFFF

Key = tuple[bytes, int]


@dataclass(frozen=True)
class Trie:
    """Several sets of keys, each with a value; the first nodes are the first bytes of each set's keys."""

    roots: tuple[int, ...]  # the first node of each set, then the end of the last one's first nodes
    labels: np.ndarray  # uint8 [nodes + LABEL_PADDING]
    blocks: np.ndarray  # uint32 [blocks, 4]: 16 counts of children in two words, the first child, keys before and flags
    ranks: np.ndarray  # uint32 [blocks / BLOCKS_PER_RANK, rounded up]: keys before
    values: np.ndarray  # of the keys in the order of their nodes

    def children(self, node: int) -> Iterator[int]:
        """Those of a node, of a list that is continued all of them."""
        low, high, first, _ = (int(word) for word in self.blocks[node // BLOCK])
        counts = [(low | high << 32) >> 4 * i & MOST_CHILDREN for i in range(node % BLOCK + 1)]
        for child in range(first + sum(counts[:-1]), first + sum(counts)):
            if self.labels[child] == CONTINUES:
                yield from self.children(child)
            else:
                yield child

    def packed_values(self, bits: int) -> np.ndarray:
        """Values in `bits` bits each, lowest first, with as many bytes behind them as a read may touch."""
        return packed(self.values, bits)


def nodes_by_byte(found: Trie, among: Iterable[int]) -> np.ndarray:
    """By the byte that leads to each of these nodes."""
    table = np.full(256, NO_NODE, np.uint32)
    for node in among:
        table[found.labels[node]] = node
    return table


def packed(values: np.ndarray, bits: int) -> np.ndarray:
    """As `Trie.packed_values`, of any values (uint32)."""
    spread = (values[:, None] >> np.arange(bits, dtype=np.uint32)) & 1
    spelled = np.packbits(spread.astype(np.uint8).reshape(-1), bitorder="little")
    return np.concatenate([spelled, np.zeros(4, np.uint8)])


def unpacked(values: np.ndarray, count: int, bits: int) -> np.ndarray:
    """What `packed` packed."""
    spread = np.unpackbits(values, bitorder="little")[: count * bits].reshape(count, bits)
    return (spread.astype(np.uint32) << np.arange(bits, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)


def value_bits(count: int) -> int:
    """Of a value that is one of `count`."""
    bits = max((count - 1).bit_length(), 1)
    if bits > MOST_VALUE_BITS:
        raise EtchError("vocabulary-too-large", "pack", f"{count} ids, at most {2**MOST_VALUE_BITS}")
    return bits


def arrays(trie: Trie, id_bits: int) -> tuple[tuple[str, np.ndarray], ...]:
    """The const tables of an `etch::Trie`."""
    return (
        ("labels", trie.labels),
        ("blocks", trie.blocks.reshape(-1)),
        ("ranks", trie.ranks),
        ("packed_ids", trie.packed_values(id_bits)),
    )


def field(trie: Trie, id_bits: int) -> Field:
    """The initializer of an `etch::Trie`."""
    numbers = (len(trie.blocks), len(trie.values), id_bits)
    return Field(
        "trie",
        group=(
            *(Field(name, array=name) for name in ("labels", "blocks", "ranks", "packed_ids")),
            *(
                unsigned(name, value)
                for name, value in zip(("block_count", "key_count", "id_bits"), numbers, strict=True)
            ),
        ),
    )


def build(sets: Sequence[Sequence[Key]]) -> Trie:
    """Keys are not empty, hold no `CONTINUES` and differ within their set."""
    if not any(sets):
        raise EtchError("empty-vocabulary", "pack", "the vocabulary has no piece that could match")
    builder = _Builder([key for keys in sets for key in sorted(keys)])
    roots = [0]
    begin = 0
    for keys in sets:
        builder.nodes += builder.split(begin, begin + len(keys), 0)
        begin += len(keys)
        roots.append(len(builder.nodes))
    return builder.finish(tuple(roots))


class _Node(NamedTuple):
    label: int
    begin: int  # the keys below it, the one that ends here first
    end: int
    depth: int  # bytes up to here, the label included
    siblings: tuple[_Node, ...] = ()  # of a node that continues a list


class _Builder:
    def __init__(self, keys: list[Key]) -> None:
        self._keys = keys
        self.nodes: list[_Node] = []

    def split(self, begin: int, end: int, depth: int) -> list[_Node]:
        """One node for each byte that follows, those with most keys first: they are found first."""
        keys = self._keys
        bounds = [begin] + [i for i in range(begin + 1, end) if keys[i][0][depth] != keys[i - 1][0][depth]] + [end]
        parts = [_Node(keys[a][0][depth], a, b, depth + 1) for a, b in pairwise(bounds) if a < b]
        return sorted(parts, key=lambda node: (node.begin - node.end, node.label))

    def finish(self, roots: tuple[int, ...]) -> Trie:
        counts: list[int] = []
        first_children: list[int] = []
        ends: list[bool] = []
        values: list[int] = []
        for node in self.nodes:  # which grows
            if len(counts) % BLOCK == 0:
                first_children.append(len(self.nodes))
            text, value = self._keys[node.begin]
            is_end = not node.siblings and len(text) == node.depth
            children = list(node.siblings) or self.split(node.begin + is_end, node.end, node.depth)
            if len(children) > MOST_CHILDREN:
                rest = tuple(children[MOST_CHILDREN - 1 :])
                children[MOST_CHILDREN - 1 :] = [_Node(CONTINUES, node.begin, node.end, node.depth, rest)]
            self.nodes += children
            counts.append(len(children))
            ends.append(is_end)
            if is_end:
                values.append(value)
        labels = np.array([node.label for node in self.nodes], np.uint8)
        return Trie(
            roots=roots,
            labels=np.concatenate([labels, np.zeros(LABEL_PADDING, np.uint8)]),
            blocks=_blocks(np.array(counts), np.array(first_children), np.array(ends)),
            ranks=_keys_before(np.array(ends))[::BLOCKS_PER_RANK].astype(np.uint32),
            values=np.array(values, np.uint32),
        )


def _blocks(counts: np.ndarray, first_children: np.ndarray, ends: np.ndarray) -> np.ndarray:
    before = _keys_before(ends)
    before -= np.repeat(before[::BLOCKS_PER_RANK], BLOCKS_PER_RANK)[: len(before)]
    spread = _by_block(counts).astype(np.int64).reshape(-1, 2, BLOCK // 2) << np.arange(0, 32, 4)
    flags = (_by_block(ends).astype(np.int64) << np.arange(BLOCK)).sum(axis=1)
    columns = (*spread.sum(axis=2).T, first_children, before | flags << 16)
    return np.stack(columns, axis=1).astype(np.uint32)


def _by_block(values: np.ndarray) -> np.ndarray:
    return np.pad(values, (0, -len(values) % BLOCK)).reshape(-1, BLOCK)


def _keys_before(ends: np.ndarray) -> np.ndarray:
    """The keys that end in the blocks before each block."""
    in_block = _by_block(ends).sum(axis=1)
    return np.cumsum(in_block) - in_block
