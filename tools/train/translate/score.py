# SPDX-License-Identifier: Apache-2.0
"""BLEU and chrF of a checkpoint in PyTorch, as sacreBLEU has them."""

from __future__ import annotations

from pathlib import Path

import sacrebleu
import torch
from form import Form
from pairs import HELD_OUT, TEST, read_pairs
from transformers import MarianTokenizer

_BATCH = 50


def evaluate(data: Path, form: Form, checkpoint: Path, *, test: bool, beams: int, rows: int | None) -> None:
    """Prints both."""
    english, german = (texts[:rows] for texts in read_pairs(data, TEST if test else HELD_OUT))
    found = translations(form, checkpoint, english, beams)
    bleu = sacrebleu.corpus_bleu(found, [german])
    chrf = sacrebleu.corpus_chrf(found, [german])
    print(f"{'test' if test else 'held out'}, {len(german)} rows, beams {beams}: {bleu}, {chrf}")


@torch.inference_mode()
def translations(form: Form, checkpoint: Path, texts: list[str], beams: int) -> list[str]:
    """Of each text, in float32."""
    tokenizer = MarianTokenizer.from_pretrained(checkpoint)
    model = form.writer(checkpoint).eval()
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found = [""] * len(texts)
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        batch = tokenizer([texts[i] for i in part], return_tensors="pt", padding=True)
        written = model.generate(**batch, num_beams=beams)
        for i, text in zip(part, tokenizer.batch_decode(written, skip_special_tokens=True), strict=True):
            found[i] = text
    return found
