# SPDX-License-Identifier: Apache-2.0
"""A perfect hash of byte strings: each key has one slot, found with two loads.

"Hash, displace and compress": a key's hash picks a bucket, the bucket's displacement and the hash pick the slot.
Buckets are placed from the largest down, each with the first displacement that sends its keys to free slots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import EtchError

# As in runtime/src/tokenizer/wordpiece.hpp.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_DISPLACEMENT_STEP = np.uint32(0x85EBCA6B)
_MIX = np.uint32(0xC2B2AE35)

_KEYS_PER_BUCKET = 4
_SLOTS_PER_KEY = 1.02
_SEEDS = 64
_FIRST_SEED = 0x243F6A8885A308D3  # pi: a number with nothing up its sleeve
_UNPLACED = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True)
class PerfectHash:
    seeds: tuple[int, int]  # hash state before the first byte of a key of each kind
    displacements: np.ndarray  # uint16 [buckets]
    slots: np.ndarray  # uint32 [keys]: the slot of each key
    slot_count: int
    states: np.ndarray  # uint64 [keys]: the hash state after the last byte


def build(keys: list[bytes], kinds: np.ndarray) -> PerfectHash:
    """Keys of the same kind (0 or 1) must differ; a key is looked up with the seed of its kind."""
    if not keys:
        raise EtchError("empty-vocabulary", "pack", "the vocabulary has no piece that could match")
    slot_count = int(len(keys) * _SLOTS_PER_KEY) + 1
    bucket_count = -(-len(keys) // _KEYS_PER_BUCKET)
    sizes = np.array([len(key) for key in keys])
    blob = np.frombuffer(b"".join(keys), np.uint8)
    for attempt in range(_SEEDS):
        seeds = ((_FIRST_SEED + 2 * attempt) % 2**64, (_FIRST_SEED ^ 0xFFFFFFFF) + 2 * attempt)
        states = hash_states(blob, sizes, np.array(seeds, np.uint64)[kinds])
        displacements, slots = _place(states, bucket_count, slot_count)
        if displacements is not None:
            return PerfectHash(seeds, displacements, slots, slot_count, states)
    raise EtchError("hash-not-found", "pack", f"no perfect hash of {len(keys)} pieces found with {_SEEDS} seeds")


def hash_states(blob: np.ndarray, sizes: np.ndarray, states: np.ndarray, length: int | None = None) -> np.ndarray:
    """The states after the bytes of each key, or after its first `length` bytes; `blob` is all keys, one by one."""
    states = states.copy()
    begins = np.cumsum(sizes) - sizes
    going = np.arange(len(sizes))
    for i in range(int(sizes.max()) if length is None else length):
        going = going[sizes[going] > i]
        states[going] = (states[going] ^ blob[begins[going] + i].astype(np.uint64)) * MULTIPLIER
    return states


def fingerprints(states: np.ndarray) -> np.ndarray:
    return (states >> np.uint64(32)).astype(np.uint8)


def _reduce(words: np.ndarray, size: int) -> np.ndarray:
    return ((words.astype(np.uint64) * np.uint64(size)) >> np.uint64(32)).astype(np.int64)


def _slots_of(low: np.ndarray, displacement: np.ndarray, slot_count: int) -> np.ndarray:
    return _reduce((low ^ (displacement.astype(np.uint32) * _DISPLACEMENT_STEP)) * _MIX, slot_count)


def _place(states: np.ndarray, bucket_count: int, slot_count: int) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """Displacements and slots, or nothing if this seed does not work.

    All buckets of one size are placed together, in rounds: each proposes its next displacement, and of those that want
    the same slot the first bucket goes ahead. Rounds are whole-array operations, so large vocabularies take seconds.
    """
    high = (states >> np.uint64(32)).astype(np.uint32)
    low = (states ^ (states >> np.uint64(32))).astype(np.uint32)
    buckets = _reduce(high, bucket_count)
    if len(np.unique(np.stack([buckets, low.astype(np.int64)]), axis=1)[0]) < len(states):
        return None, None  # two keys would share a slot whatever the displacement
    by_bucket = np.argsort(buckets, kind="stable")
    bucket_sizes = np.bincount(buckets, minlength=bucket_count)
    bucket_begins = np.concatenate([[0], np.cumsum(bucket_sizes)])
    displacements = np.zeros(bucket_count, np.int64)
    taken = np.zeros(slot_count, bool)
    slots = np.full(len(states), _UNPLACED, np.uint32)
    first_wanting = np.full(slot_count, bucket_count, np.int64)
    for size in range(int(bucket_sizes.max()), 0, -1):
        waiting = np.flatnonzero(bucket_sizes == size)
        while len(waiting):
            keys = by_bucket[bucket_begins[waiting][:, None] + np.arange(size)]
            wanted = _slots_of(low[keys], displacements[waiting][:, None], slot_count)
            order = np.broadcast_to(np.arange(len(waiting))[:, None], wanted.shape)
            np.minimum.at(first_wanting, wanted, order)
            ordered = np.sort(wanted, axis=1)
            fits = ~taken[wanted].any(axis=1) & (first_wanting[wanted] == order).all(axis=1)
            fits &= (np.diff(ordered, axis=1) != 0).all(axis=1)
            taken[wanted[fits]] = True
            slots[keys[fits]] = wanted[fits]
            first_wanting[wanted] = bucket_count
            waiting = waiting[~fits]
            displacements[waiting] += 1
            if displacements[waiting].max(initial=0) > 0xFFFF:
                return None, None
    return displacements.astype(np.uint16), slots
