# SPDX-License-Identifier: Apache-2.0
"""What a word of the command line has to be: each reads one, or says what is wrong with it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import EtchError

if TYPE_CHECKING:
    from ..head_folders import HeadFolder
    from ..memory.regions import Room
    from ..memory.table_places import TablePlace


def positive(text: str) -> int:
    """A number from 1 to 2^20."""
    from ..sizes import number_from_1

    try:
        return number_from_1(text, 1 << 20)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {1 << 20}") from error


def place(text: str) -> Path:
    """A file or a folder. An empty word, as of a variable that is not set, would be this folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name; . is this folder")
    return Path(text)


def size(text: str) -> int:
    """Bytes."""
    from ..sizes import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size: 512K, 1M or a number of bytes") from error


def share(text: str) -> float:
    """Above 0, up to 1."""
    try:
        share = float(text)
    except ValueError:
        share = -1
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share above 0, up to 1")
    return share


def head(text: str) -> HeadFolder:
    """NAME=FOLDER."""
    from ..head_folders import parse_head

    try:
        return parse_head(text)
    except EtchError as error:
        raise argparse.ArgumentTypeError(error.message) from error


def board(text: str) -> str:
    """One of firmware-demo's, if there are any: EtchError where etch is installed without it."""
    from ..building.build import boards

    if not boards():
        message = "--board needs the checkout of etch, whose firmware-demo it links: an installed etch has no boards"
        raise EtchError("boards-missing", "arguments", message)
    return text


def room(text: str) -> Room:
    """NAME=SIZE[,COST]."""
    from ..memory.regions import parse_room

    try:
        return parse_room(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=SIZE or NAME=SIZE,COST, as fast=64K") from error


def table_place(text: str) -> TablePlace:
    """NAME=SIZE[,COST][,copied]."""
    from ..memory.table_places import parse_place

    try:
        return parse_place(text)
    except ValueError as error:
        message = f"'{text}' is not NAME=SIZE[,COST] or NAME=SIZE[,COST],copied, as itcm=64K,copied"
        raise argparse.ArgumentTypeError(message) from error


def languages(text: str) -> tuple[str, str]:
    """FROM,TO."""
    words = text.split(",")
    if len(words) != 2 or not all(words):
        raise argparse.ArgumentTypeError(f"'{text}' is not FROM,TO, as eng_Latn,fra_Latn")
    return words[0], words[1]


def bits(text: str) -> dict[str, int]:
    """PLACE=N,..."""
    from ..quantize.bits import parse_bits

    try:
        return parse_bits(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{error}' is not PLACE=8 or PLACE=4, each place once") from error
