# SPDX-License-Identifier: Apache-2.0
"""From a table to a program: tiny checkpoints, fine-tuned for each task, generated, built, beside `transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from finetune_recipe import finetune, sentences, write_csv
from finetuned_model import assert_equals_transformers, built_logits, transformers_logits
from tiny_checkpoint import write_tiny_checkpoint

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")


@dataclass(frozen=True)
class Case:
    """A table without header: texts, then the label."""

    rows: Sequence[tuple[object, ...]]
    arguments: tuple[str, ...]

    @property
    def texts(self) -> list[tuple[str, ...]]:
        return [tuple(map(str, row[:-1])) for row in self.rows]


SENTENCES = sentences(60)
SINGLE = ("--text-columns", "1", "--label-column", "2")
PAIRS = ("--pairs", "--text-columns", "1,2", "--label-column", "3")
CASES = {
    "single": Case([(text, "good" if good else "bad") for text, good in SENTENCES], SINGLE),
    "pair": Case([(text, SENTENCES[i // 2][0], int(good)) for i, (text, good) in enumerate(SENTENCES)], PAIRS),
    "regression": Case(
        [(text, SENTENCES[i // 2][0], 2.5 + good) for i, (text, good) in enumerate(SENTENCES)],
        (*PAIRS, "--task", "regression"),
    ),
    "multi_label": Case(
        [(text, ";".join(w for w in ("cat", "dog", "good") if w in text.split())) for text, _ in SENTENCES],
        (*SINGLE, "--task", "multi_label"),
    ),
}


@pytest.mark.parametrize("task", CASES)
def test_tuned_and_generated_equals_transformers(task: str, tmp_path: Path) -> None:
    case = CASES[task]
    write_tiny_checkpoint(tmp_path / "base", hidden=32, intermediate=64)
    table = write_csv(tmp_path / "rows.csv", case.rows)
    outcome = finetune(
        tmp_path / "base", "--train", table, "--out", tmp_path / "tuned", "--epochs", "1", *case.arguments
    )
    assert outcome.code == 0, outcome.err
    meant = transformers_logits(tmp_path / "tuned", case.texts)
    assert_equals_transformers(built_logits(tmp_path / "tuned", tmp_path / "fp32", "fp32", case.texts), meant)
