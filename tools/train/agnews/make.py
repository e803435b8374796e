# SPDX-License-Identifier: Apache-2.0
"""Remakes the checkpoint: `python make.py` with ETCH_DATA and ETCH_MODELS set (see README.md)."""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import distil
import rows
import student
import torch
import views
import vocabulary
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification

TEACHER = "minilm_l6_agnews"
# Rounds of new texts, epochs and peak rate: first on the rows and titles alone, then on all.
STAGES = (
    (0, distil.Settings(epochs=2, peak_rate=8e-4)),
    (1, distil.Settings(epochs=1, peak_rate=5e-4)),
)


def folder_from(variable: str) -> Path:
    """The folder an environment variable names."""
    if variable not in os.environ:
        raise SystemExit(f"set {variable} to the folder described in README.md")
    return Path(os.environ[variable])


def main() -> None:
    """Rows -> vocabulary -> the teacher's answers -> student -> folder, written at each stage."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=here / "checkpoint")
    parser.add_argument("--cache", type=Path, default=Path("build/train-agnews"))
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--from-stage", type=int, default=1, help="2: go on from the folder")
    arguments = parser.parse_args()

    start = time.monotonic()
    teacher_folder = folder_from("ETCH_MODELS") / TEACHER
    arguments.cache.mkdir(parents=True, exist_ok=True)
    seed = arguments.seed
    train, held_out = rows.split(rows.read_training_rows(folder_from("ETCH_DATA")), seed)
    judge = ([row.text for row in held_out], [row.label for row in held_out])
    print(f"{len(train)} training rows, {len(held_out)} held out", flush=True)

    texts = [row.text for row in train]
    spec, teacher_ids = vocabulary.build(teacher_folder, texts, student.VOCABULARY)
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer_config = vocabulary.tokenizer_config(student.MAX_POSITIONS)

    for stage, (variants, settings) in enumerate(STAGES, 1):
        if stage < arguments.from_stage:
            continue
        stage_seed = seed + stage - 1
        torch.manual_seed(stage_seed)
        if stage == 1:
            model = student.from_teacher(teacher_folder, teacher_ids)
        else:
            model = BertForSequenceClassification.from_pretrained(
                arguments.out, dtype=torch.float32
            )
        material = views.build(train, teacher_folder, arguments.cache, seed, variants)
        distil.train(model, tokenizer, material, judge, settings=settings, seed=stage_seed)
        student.save(model, spec, tokenizer_config, arguments.out)
        spent = time.monotonic() - start
        print(f"stage {stage}: wrote {arguments.out.name}, {spent:.0f} s so far", flush=True)


if __name__ == "__main__":
    main()
