# SPDX-License-Identifier: Apache-2.0
"""How far a bag of hashed words gets in how many bytes: `python bag_of_words.py` with ETCH_DATA set.

A linear classifier over words and pairs of neighbours: each is hashed into a table of one s8 per label, the entries of
a text are added up, the label with the largest sum wins. Trained on the rows that agnews learned from; the number of
epochs and whether pairs count are chosen on the rows held out, the test rows read once for each size and choice,
by what the s8 table says.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common

import rows
from arguments import folder_from

SIZES = (16, 32, 64, 128, 256, 512, 1024)  # KB of table
SEED = 20  # of remake.py
EPOCHS = 3
BATCH = 256
RATE = 0.02
DROPPED = 0.3  # share of a text's words that a step does not see


@dataclass(frozen=True)
class Result:
    """What came of a size."""

    kilobytes: int
    pairs: bool
    epochs: int
    held_out: float
    test: float


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="KB", help=f"default: {SIZES}")
    made.add_argument("--json", type=Path, metavar="FILE", help="also writes the results there")
    return made


def hashes(text: str, pairs: bool) -> list[int]:
    """Of each word, and of each two neighbours: 32 bits, the same on every machine."""
    found = rows.words(text)
    parts = found + [f"{a} {b}" for a, b in pairwise(found)] if pairs else found
    return [zlib.crc32(part.encode()) for part in parts] or [0]


def main() -> None:
    """Prints a line a size."""
    asked = parser().parse_args()
    import torch  # takes seconds to import
    from torch.nn.functional import cross_entropy, embedding_bag

    class Texts:
        """Hashes of all texts, one behind the other."""

        def __init__(self, texts: list[str], labels: list[int], pairs: bool) -> None:
            lists = [hashes(text, pairs) for text in texts]
            self.lists = [torch.tensor(one, dtype=torch.int64) for one in lists]
            self.labels = torch.tensor(labels)

        def batch(self, chosen: list[int], buckets: int, dropped: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
            """Places in the table, and where each text's begin."""
            parts = [self.lists[i] for i in chosen]
            if dropped:
                parts = [one[torch.rand(len(one)) >= dropped] for one in parts]
            lengths = torch.tensor([len(one) for one in parts])
            return torch.cat(parts) % buckets, lengths.cumsum(0) - lengths

        def accuracy(self, table: torch.Tensor) -> float:
            places, begins = self.batch(list(range(len(self.lists))), len(table))
            return float((embedding_bag(places, table, begins, mode="sum").argmax(1) == self.labels).float().mean())

    def as_s8(table: torch.Tensor) -> torch.Tensor:
        """The table that is stored, one scale for all: it changes no answer."""
        return (table / table.abs().max() * 127).round()

    def trained(train: Texts, held_out: Texts, buckets: int) -> list[tuple[float, torch.Tensor]]:
        """After each epoch the share of the rows held out that the s8 table answers, and that table."""
        torch.manual_seed(SEED)
        table = torch.zeros(buckets, len(rows.LABELS), requires_grad=True)
        optimizer = torch.optim.Adam([table], lr=RATE)
        steps = EPOCHS * -(-len(train.lists) // BATCH)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, steps)
        found = []
        for _ in range(EPOCHS):
            order = torch.randperm(len(train.lists)).tolist()
            for first in range(0, len(order), BATCH):
                chosen = order[first : first + BATCH]
                places, begins = train.batch(chosen, buckets, DROPPED)
                loss = cross_entropy(embedding_bag(places, table, begins, mode="sum"), train.labels[chosen])
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                schedule.step()
            stored = as_s8(table.detach())
            found.append((held_out.accuracy(stored), stored))
        return found

    data = folder_from("ETCH_DATA")
    learned, kept = rows.split(rows.read_training_rows(data), SEED)
    test = rows.read_test_rows(data)
    results = []
    for pairs in (False, True):
        texts = [Texts([row.text for row in part], [row.label for row in part], pairs) for part in (learned, kept)]
        texts.append(Texts([f"{title} {body}" for _, title, body in test], [label for label, _, _ in test], pairs))
        for kilobytes in asked.sizes:
            stages = trained(*texts[:2], kilobytes * 1024 // len(rows.LABELS))
            best = max(range(EPOCHS), key=lambda epoch: stages[epoch][0])
            held_out, table = stages[best]
            results.append(Result(kilobytes, pairs, best + 1, held_out, texts[2].accuracy(table)))
    chosen = [
        max((one for one in results if one.kilobytes == size), key=lambda one: one.held_out) for size in asked.sizes
    ]
    for one in chosen:
        what = "words and pairs" if one.pairs else "words"
        shares = f"{100 * one.held_out:.2f} % held out, {100 * one.test:.2f} % test"
        print(f"{one.kilobytes:5d} KB  {what:<15}  {one.epochs} epochs  {shares}")
    if asked.json is not None:
        asked.json.write_text(json.dumps([one.__dict__ for one in chosen], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
