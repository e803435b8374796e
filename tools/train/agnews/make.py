# SPDX-License-Identifier: Apache-2.0
"""Remakes the checkpoint: `python make.py` with ETCH_DATA and ETCH_MODELS set (see README.md)."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common

import distil
import rows
import student
import torch
import views
import vocabulary
from tokenizers import Tokenizer

TEACHER = "minilm_l6_agnews"


def folder_from(variable: str) -> Path:
    """The folder an environment variable names."""
    if variable not in os.environ:
        raise SystemExit(f"set {variable} to the folder described in README.md")
    return Path(os.environ[variable])


def main() -> None:
    """Rows -> vocabulary -> the teacher's answers -> student -> folder."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=here / "checkpoint")
    parser.add_argument("--cache", type=Path, default=Path("build/train-agnews"))
    parser.add_argument("--seed", type=int, default=20)
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

    material = views.build(train, teacher_folder, arguments.cache, seed)
    torch.manual_seed(seed)
    model = student.from_teacher(teacher_folder, teacher_ids)
    distil.train(model, tokenizer, material, judge, settings=distil.Settings(), seed=seed)
    student.save(model, spec, tokenizer_config, arguments.out)
    print(f"wrote {arguments.out.name}, {time.monotonic() - start:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
