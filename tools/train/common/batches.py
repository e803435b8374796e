# SPDX-License-Identifier: Apache-2.0
"""Batches of like lengths, and their padding."""

from __future__ import annotations

import random

import torch


def pad(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows padded with 0, attention mask), both int64 [n, longest]."""
    longest = max(map(len, rows))
    padded = torch.zeros(len(rows), longest, dtype=torch.int64)
    mask = torch.zeros_like(padded)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return padded, mask


def by_tokens(lengths: list[int], order: list[int], tokens: int) -> list[list[int]]:
    """Cuts `order` (sorted by length, longest first) into batches of at most `tokens` padded."""
    batches: list[list[int]] = []
    for i in order:
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= tokens:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


def longest_first(lengths: list[int]) -> list[int]:
    """Indices of the rows, the longest first."""
    return sorted(range(len(lengths)), key=lambda i: -lengths[i])


def shuffled_by_rows(lengths: list[int], rows: int, pool: int, rng: random.Random) -> list[list[int]]:
    """One epoch: every row once, batches of `rows` of like lengths (sorted among `pool` batches), in random order."""
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches = []
    for start in range(0, len(order), pool * rows):
        part = sorted(order[start : start + pool * rows], key=lambda i: -lengths[i])
        batches += [part[i : i + rows] for i in range(0, len(part), rows)]
    rng.shuffle(batches)
    return batches
