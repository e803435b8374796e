# SPDX-License-Identifier: Apache-2.0
"""The recipe of every AG News student: only shape and settings differ."""

from __future__ import annotations

import argparse
import json
import time

import distil
import rows
import student
import torch
import views
from arguments import folder_from
from common import vocabulary
from common.checkpoint import check_replaceable
from tokenizers import Tokenizer

TEACHER = "minilm_l6_agnews"


def main(arguments: argparse.Namespace, shape: student.Shape, settings: distil.Settings) -> None:
    """Rows -> vocabulary -> the teacher's answers -> student -> folder."""
    check_replaceable(arguments.out)
    start = time.monotonic()
    teacher_folder = folder_from("ETCH_MODELS") / TEACHER
    arguments.cache.mkdir(parents=True, exist_ok=True)
    seed = arguments.seed
    train, held_out = rows.split(rows.read_training_rows(folder_from("ETCH_DATA")), seed)
    judge = ([row.text for row in held_out], [row.label for row in held_out])
    print(f"{len(train)} training rows, {len(held_out)} held out", flush=True)

    texts = [row.text for row in train]
    teacher_spec = json.loads((teacher_folder / "tokenizer.json").read_text(encoding="utf-8"))
    spec, teacher_ids = vocabulary.build(teacher_spec, texts, shape.vocabulary)
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer_config = vocabulary.tokenizer_config(shape.positions)

    material = views.build(train, teacher_folder, arguments.cache, seed)
    torch.manual_seed(seed)
    model = student.from_teacher(shape, teacher_folder, teacher_ids)
    distil.train(model, tokenizer, material, judge, settings=settings, seed=seed)
    student.save(model, spec, tokenizer_config, arguments.out)
    print(f"wrote {arguments.out.name}, {time.monotonic() - start:.0f} s in all", flush=True)
