# SPDX-License-Identifier: Apache-2.0
"""The texts the student trains on, each with the teacher's answers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import augment
import teacher
import torch
from rows import Row

NO_LABEL = -100  # what cross_entropy ignores


@dataclass(frozen=True)
class View:
    """n texts: what the teacher says of them, and their labels where these are certain."""

    name: str
    texts: list[str]
    labels: torch.Tensor
    lesson: teacher.Lesson


def build(
    train: list[Row], teacher_folder: Path, cache: Path, seed: int, variants: int
) -> list[View]:
    """The rows as they are, their beginnings as titles, and `variants` rounds of new texts."""
    texts = [row.text for row in train]
    labels = torch.tensor([NO_LABEL if row.conflict else row.label for row in train])
    unlabelled = torch.full_like(labels, NO_LABEL)
    views = [
        View("rows", texts, labels, teacher.lesson(teacher_folder, texts, cache, "rows")),
    ]
    rng = random.Random(seed)
    made = {"titles": augment.titles(texts, rng.getrandbits(32))}
    near = augment.neighbours(teacher_folder, texts) if variants else {}
    for number in range(1, variants + 1):
        made[f"variants{number}"] = augment.variants(texts, near, rng.getrandbits(32))
    for name, new in made.items():
        told = teacher.lesson(teacher_folder, new, cache, name)
        views.append(View(name, new, unlabelled, told))
    return views
