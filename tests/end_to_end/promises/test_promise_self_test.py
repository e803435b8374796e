# SPDX-License-Identifier: Apache-2.0
"""`--self-test` of a program whose tables have one wrong bit: seen wherever the bit is."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

from archives import run
from classify_program import built_file, tool

ANYWHERE = 40  # flips at random places, besides one in each table
SEED = 20240


@dataclass(frozen=True)
class Table:
    name: str
    offset: int  # in the file
    size: int


def tables_of(program: Path) -> list[Table]:
    """The model's tables in the linked file, by their labels."""
    sections = [
        (int(found[1], 16), int(found[2], 16), int(found[3], 16))  # address, offset, size
        for found in re.finditer(
            r"\] \S+ +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", run(tool("readelf"), "-SW", program).stdout
        )
    ]
    found = []
    for address, size, name in re.findall(
        r"^([0-9a-f]+) ([0-9a-f]+) [rR] (etch_agnews_\w+)$", run(tool("nm"), "-S", program).stdout, re.MULTILINE
    ):
        at = int(address, 16)
        begin, offset, _ = next(s for s in sections if s[0] <= at < s[0] + s[2])
        found.append(Table(name, offset + at - begin, int(size, 16)))
    return found


def test_every_flipped_bit_is_seen(tmp_path: Path) -> None:
    program = built_file("classify")
    good = run(program, "--self-test")
    assert good.returncode == 0, good.stderr
    tables = tables_of(program)
    assert len(tables) > 30
    assert sum(table.size for table in tables) > 3_000_000
    random_source = random.Random(SEED)
    # One bit of each table, its last byte for every second one; then bytes drawn by size.
    places = []
    for i, table in enumerate(tables):
        places.append((table, table.size - 1 if i % 2 else random_source.randrange(table.size)))
    drawn = random_source.choices(tables, weights=[table.size for table in tables], k=ANYWHERE)
    places += [(table, random_source.randrange(table.size)) for table in drawn]
    bits = [random_source.randrange(8) for _ in places]
    whole = program.read_bytes()

    def flip(index: int) -> str | None:
        table, at = places[index]
        patched = bytearray(whole)
        patched[table.offset + at] ^= 1 << bits[index]
        path = tmp_path / f"classify-{index}"
        path.write_bytes(patched)
        path.chmod(0o755)
        done = run(path, "--self-test")
        path.unlink()
        seen = done.returncode == 1 and "table" in done.stderr and "Traceback" not in done.stderr
        return None if seen else f"{table.name}[{at}] bit {bits[index]}: {done.returncode} {done.stdout} {done.stderr}"

    # One after the other: a program that starts in another thread would hold the file that is being written open.
    unseen = [line for line in map(flip, range(len(places))) if line]
    assert not unseen, unseen[:5]
    print(f"{len(places)} flips, all seen (seed {SEED})")
