# SPDX-License-Identifier: Apache-2.0
"""`!self` on firmware whose tables have one wrong bit: seen wherever the bit is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from boards import Firmware
from sampling import sampled

pytestmark = pytest.mark.sweep

ANYWHERE = 20  # flips at random places, besides one in each table
SEED = 60204
WRONG_TABLE = "error self-test: the checksum of a weight table differs from the generated one"


def test_every_flipped_bit_is_seen(firmware: Firmware, tmp_path: Path) -> None:
    with firmware.start() as emulator:
        assert emulator.ask(b"!self") == "self test passed"
    tables = firmware.tables
    assert len(tables) > 30
    source = random.Random(SEED)
    # One bit of each table, of its last byte for every second one; then bytes drawn by size.
    places = []
    for i, table in enumerate(tables):
        places.append((table, table.size - 1 if i % 2 else source.randrange(table.size)))
    drawn = source.choices(tables, weights=[table.size for table in tables], k=ANYWHERE)
    places += [(table, source.randrange(table.size)) for table in drawn]
    whole = firmware.elf.read_bytes()
    path = tmp_path / "flipped.elf"
    unseen = []
    for table, at in sampled(places, 25, f"flips on {firmware.elf.name}"):
        patched = bytearray(whole)
        bit = source.randrange(8)
        patched[firmware.offset_of(table.address + at)] ^= 1 << bit
        path.write_bytes(patched)
        with firmware.start(path) as emulator:
            reply = emulator.ask(b"!self")
        if reply != WRONG_TABLE:
            unseen.append(f"{table.name}[{at}] bit {bit}: {reply}")
    assert not unseen, unseen[:5]
    print(f"all flips seen (seed {SEED})")
