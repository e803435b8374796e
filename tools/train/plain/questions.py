# SPDX-License-Identifier: Apache-2.0
"""Reads the TREC questions (Li and Roth, 2002) and holds some out to choose the model on."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

LABELS = ("Abbreviation", "Description", "Entity", "Human", "Location", "Number")
_CODES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
HELD_OUT = 500


@dataclass(frozen=True)
class Question:
    """A question as in the file, words and punctuation apart, with its coarse class (0-5)."""

    text: str
    label: int


def _read(path: Path) -> list[Question]:
    """The questions of a file with lines `CODE:fine text`, in Latin-1."""
    questions = []
    for line in path.read_text(encoding="latin-1").splitlines():
        classes, _, text = line.partition(" ")
        questions.append(Question(text, _CODES.index(classes.partition(":")[0])))
    return questions


def read_test_questions(data: Path) -> list[Question]:
    """The 500 official test questions."""
    return _read(data / "trec" / "test.txt")


def read_training_questions(data: Path, seed: int) -> tuple[list[Question], list[Question]]:
    """(questions to train on, questions held out): each once, none of them a test question, whatever its case."""
    seen = {question.text.lower() for question in read_test_questions(data)}
    once = []
    for question in _read(data / "trec" / "train.txt"):
        if question.text.lower() not in seen:
            seen.add(question.text.lower())
            once.append(question)
    random.Random(seed).shuffle(once)
    return once[HELD_OUT:], once[:HELD_OUT]
