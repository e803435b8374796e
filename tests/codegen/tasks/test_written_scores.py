# SPDX-License-Identifier: Apache-2.0
"""BLEU and chrF of texts that are written, against what sacreBLEU computed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.tasks.translation_scores import bleu, chrf

RECORDED = json.loads((Path(__file__).parents[1] / "generation" / "sacrebleu.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("corpus", RECORDED, ids=range(len(RECORDED)))
def test_what_sacrebleu_says(corpus: dict) -> None:
    written, references = zip(*corpus["rows"], strict=True)
    assert bleu(written, references) == pytest.approx(corpus["bleu"], abs=1e-4)
    assert chrf(written, references) == pytest.approx(corpus["chrf"], abs=1e-4)
