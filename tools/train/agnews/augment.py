# SPDX-License-Identifier: Apache-2.0
"""Makes further texts out of the training rows; only the teacher labels them."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import torch
from safetensors.torch import load_file

NEIGHBOURS = 8
COMMONEST = 150  # words this frequent are never replaced
REPLACED = 0.2  # share of the other words that are replaced
SPLICED = 0.15  # share of texts made of two halves
CROPPED = 0.5  # share of the other texts that are cut
TITLE_WORDS = (4, 12)

_WORD = re.compile(r"[A-Za-z]{3,}")


def titles(texts: list[str], seed: int) -> list[str]:
    """The first few words of each text: what a title alone looks like."""
    rng = random.Random(seed)
    return [" ".join(text.split()[: rng.randint(*TITLE_WORDS)]) for text in texts]


def neighbours(teacher_folder: Path, texts: list[str]) -> dict[str, list[str]]:
    """For each word the corpus uses, the nearest ones by the teacher's word embeddings."""
    spec = json.loads((teacher_folder / "tokenizer.json").read_text(encoding="utf-8"))
    ids: dict[str, int] = spec["model"]["vocab"]
    counts: dict[str, int] = {}
    for text in texts:
        for word in _WORD.findall(text.lower()):
            counts[word] = counts.get(word, 0) + 1
    words = sorted((w for w in counts if w in ids), key=lambda w: (-counts[w], w))[COMMONEST:]
    weights = load_file(teacher_folder / "model.safetensors")
    table = weights["bert.embeddings.word_embeddings.weight"].float()
    rows = table[[ids[word] for word in words]]
    rows = torch.nn.functional.normalize(rows - rows.mean(0), dim=1)
    near = torch.cat([(part @ rows.T).topk(NEIGHBOURS + 1).indices for part in rows.split(1024)])
    return {
        word: [words[j] for j in found if words[j] != word]
        for word, found in zip(words, near.tolist(), strict=True)
    }


def variants(texts: list[str], near: dict[str, list[str]], seed: int) -> list[str]:
    """One new text per text: a cut of it, or a splice with another; some words replaced."""
    rng = random.Random(seed)

    def swap(match: re.Match[str]) -> str:
        found = near.get(match[0].lower())
        return rng.choice(found) if found and rng.random() < REPLACED else match[0]

    made = []
    for text in texts:
        words = text.split()
        if rng.random() < SPLICED:
            other = rng.choice(texts).split()
            words = words[: (len(words) + 1) // 2] + other[len(other) // 2 :]
        elif rng.random() < CROPPED:
            length = max(4, round(len(words) * rng.uniform(0.3, 1)))
            start = rng.randint(0, max(0, len(words) - length))
            words = words[start : start + length]
        made.append(_WORD.sub(swap, " ".join(words)))
    return made
