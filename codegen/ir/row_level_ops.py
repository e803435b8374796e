# SPDX-License-Identifier: Apache-2.0
"""The ops of a program between rows of tokens and rows of a level that has fewer."""

from __future__ import annotations

from dataclasses import dataclass

from .buffer import Buffer
from .op import attribute, read, updated, whole, written
from .row_pooling import RowPooling


@dataclass(frozen=True)
class Upsample:
    pooling: RowPooling = attribute()
    level: int = attribute()
    input: Buffer = read()
    rows: Buffer = updated()


@dataclass(frozen=True)
class GroupRows:
    rate: int = attribute()
    input: Buffer = whole()
    out: Buffer = written()


@dataclass(frozen=True)
class FirstRow:
    input: Buffer = whole()
    rows: Buffer = updated()


@dataclass(frozen=True)
class SpreadRows:
    rate: int = attribute()
    taps: int = attribute()
    before: int = attribute()
    input: Buffer = whole()
    groups: Buffer = whole()
    out: Buffer = written()


@dataclass(frozen=True)
class Copy:
    input: Buffer = read()
    out: Buffer = written()


@dataclass(frozen=True)
class RowOfToken:
    """Among rows of tokens."""

    id: int = attribute()
    input: Buffer = whole()
    out: Buffer = written()
