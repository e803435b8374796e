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


def build(train: list[Row], teacher_folder: Path, cache: Path, seed: int) -> list[View]:
    """The rows as they are, and their beginnings as titles."""
    texts = [row.text for row in train]
    labels = torch.tensor([NO_LABEL if row.conflict else row.label for row in train])
    titles = augment.titles(texts, random.Random(seed).getrandbits(32))
    unlabelled = torch.full_like(labels, NO_LABEL)
    return [
        View("rows", texts, labels, teacher.lesson(teacher_folder, texts, cache, "rows")),
        View("titles", titles, unlabelled, teacher.lesson(teacher_folder, titles, cache, "titles")),
    ]
