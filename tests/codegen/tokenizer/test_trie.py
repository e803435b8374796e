# SPDX-License-Identifier: Apache-2.0
"""The trie's arrays, read as its description says, hold the keys that it was built from and no others."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from codegen.errors import EtchError
from codegen.tokenizer import trie
from codegen.tokenizer.trie import Key, Trie


def read(built: Trie) -> list[dict[bytes, int]]:
    """Every set's keys, by going through all nodes from the first ones down."""
    ranks = _ranks(built)
    found: list[dict[bytes, int]] = []
    for first, end in pairwise(built.roots):
        keys: dict[bytes, int] = {}
        waiting = [(node, b"") for node in range(first, end)]
        while waiting:
            node, above = waiting.pop()
            label = int(built.labels[node])
            text = above if label == trie.CONTINUES else above + bytes([label])
            if node in ranks:
                assert text not in keys
                keys[text] = int(built.values[ranks[node]])
            waiting += [(child, text) for child in _children(built, node)]
        found.append(keys)
    return found


def _children(built: Trie, node: int) -> range:
    low, high, first, _ = built.blocks[node // 16].tolist()
    counts = [(low | high << 32) >> 4 * i & 15 for i in range(16)]
    at = first + sum(counts[: node % 16])
    return range(at, at + counts[node % 16])


def _ranks(built: Trie) -> dict[int, int]:
    """Node of each key -> its rank."""
    ranks: dict[int, int] = {}
    for block, word in enumerate(built.blocks[:, 3].tolist()):
        assert int(built.ranks[block // trie.BLOCKS_PER_RANK]) + (word & 0xFFFF) == len(ranks)
        for i in range(16):
            if word >> 16 + i & 1:
                ranks[16 * block + i] = len(ranks)
    return ranks


def check(sets: list[list[Key]]) -> Trie:
    built = trie.build(sets)
    assert read(built) == [dict(keys) for keys in sets]
    assert (built.labels[-trie.LABEL_PADDING :] == 0).all()
    return built


def test_small_sets() -> None:
    check([[(b"a", 7)]])
    check([[(b"un", 1), (b"unable", 2), (b"able", 0)], [(b"able", 3), (b"un", 4)], []])
    check([[], [(b"x", 9)], [(b"a long one that is never looked up", 5)]])


@pytest.mark.parametrize("count", [8, 9, 14, 15, 16, 17, 29, 30, 243])
def test_many_children(count: int) -> None:
    built = check([[(bytes([1, 2 + i]), i) for i in range(count)]])
    lists = -(-max(count - 1, 1) // (trie.MOST_CHILDREN - 1))
    assert len(built.labels) - trie.LABEL_PADDING == 1 + count + lists - 1  # each list but the last is continued


def test_those_with_most_keys_come_first() -> None:
    keys = [(b"a" + bytes([c]), c) for c in b"bcdefghijklmnopqrstu"] + [(b"atz", 1), (b"aty", 2)]
    built = trie.build([keys])
    assert built.labels[1] == ord("t")


def test_random_keys() -> None:
    source = random.Random(5)
    for size in (1, 10, 100, 3000):
        sets = []
        for _ in range(3):
            texts = {bytes(source.choices(b"abcde\xc3\xa9", k=source.randint(1, 8))) for _ in range(size)}
            sets.append([(text, i) for i, text in enumerate(texts)])
        check(sets)


def test_more_keys_than_a_block_can_count() -> None:
    built = check([[(b"%06d" % (i * 7), i) for i in range(80_000)]])
    assert built.ranks[-1] > 0xFFFF


def test_values_are_packed_from_the_lowest_bit_on() -> None:
    built = trie.build([[(b"a", 5), (b"b", 3), (b"c", 6)]])
    assert built.packed_values(3).tobytes() == (5 | 3 << 3 | 6 << 6).to_bytes(2, "little") + bytes(4)
    for bits in (1, 8, 13, 25):
        values = np.array([value % 2**bits for value in (1, 2**25 - 1, 12345, 0)], np.uint32)
        packed = int.from_bytes(
            Trie(built.roots, built.labels, built.blocks, built.ranks, values).packed_values(bits).tobytes(), "little"
        )
        assert [packed >> bits * i & 2**bits - 1 for i in range(4)] == values.tolist()


def test_no_key_is_refused() -> None:
    with pytest.raises(EtchError) as refused:
        trie.build([[], []])
    assert (refused.value.code, refused.value.stage) == ("empty-vocabulary", "pack")
