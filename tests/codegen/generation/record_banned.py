# SPDX-License-Identifier: Apache-2.0
"""Writes which tokens pinned `transformers` does not let come behind others: those of n-grams that were there, and of
words that may not be. Odd cases above all: longer than what is there, of one token, with the end in them.

    python tests/codegen/generation/record_banned.py [--out FILE]

Needs torch 2.15.0, transformers 5.23.0 and numpy.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np
import torch
from transformers import NoBadWordsLogitsProcessor, NoRepeatNGramLogitsProcessor

HERE = Path(__file__).resolve().parent
VOCABULARY, END = 6, 2  # few, so that much comes again
CASES = 400


def banned(tokens: list[int], size: int, words: list[list[int]]) -> list[int]:
    """Tokens of which the library makes -inf behind these."""
    ids, scores = torch.tensor([tokens]), torch.zeros(1, VOCABULARY)
    if size:
        scores = NoRepeatNGramLogitsProcessor(size)(ids, scores)
    if words:
        scores = NoBadWordsLogitsProcessor(words, eos_token_id=END)(ids, scores)
    return torch.nonzero(scores[0] == -torch.inf).ravel().tolist()


def cases() -> list[list]:
    """[tokens, size of n-grams, words, banned]."""
    random = np.random.default_rng(1)

    def some(least: int, most: int) -> list[int]:
        return random.integers(0, VOCABULARY, random.integers(least, most + 1)).tolist()

    found = []
    while len(found) < CASES:
        tokens, size = some(1, 7), int(random.integers(0, 9))
        words = [some(1, 6) for _ in range(random.integers(0, 5))]
        if random.random() < 0.5:  # one that goes on behind all that is there, or its end
            words.append([*tokens[int(random.integers(0, len(tokens))) :], int(random.integers(0, VOCABULARY))])
        if random.random() < 0.3:  # longer than that by its first token
            words.append([int(random.integers(0, VOCABULARY)), *tokens, int(random.integers(0, VOCABULARY))])
        if random.random() < 0.3:
            words.append([END])
        if words and all(word == [END] for word in words):
            continue  # which the library refuses
        found.append([tokens, size, words, banned(tokens, size, words)])
    return found


def main() -> None:
    """Records all cases."""
    parser = argparse.ArgumentParser(description="Records what a pinned library lets come behind tokens.")
    parser.add_argument("--out", type=Path, default=HERE / "banned.json", metavar="FILE")
    arguments = parser.parse_args()
    arguments.out.write_text("[" + ",\n ".join(map(json.dumps, cases())) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
