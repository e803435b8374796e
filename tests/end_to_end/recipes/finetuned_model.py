# SPDX-License-Identifier: Apache-2.0
"""A fine-tuned folder, generated and built, beside `transformers` on the same texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from generator_program import etch
from model_build import build_program
from numpy.typing import NDArray

from codegen import pipeline

Texts = Sequence[tuple[str, ...]]  # single texts or pairs
Floats = NDArray[np.float32]

MOST_FP32_ERROR = 1e-4  # logits, against transformers on PyTorch fp32
NEAR_TIE = 2e-4  # logits; below this fp32 may choose the other label
BATCH = 64


def built_logits(checkpoint: Path, out: Path, recipe: str, texts: Texts) -> Floats:
    """Generates and builds `checkpoint`, and runs its program; a regression's values count as its logits."""
    done = etch("generate", checkpoint, "--out", out, "--name", "tuned", "--recipe", recipe)
    assert done.code == 0, done.err
    regression = pipeline.load(checkpoint).config.problem_type == "regression"
    program = build_program(out)
    assert program.path.name == ("regress-tuned" if regression else "classify-tuned")
    lines = out.parent / f"{out.name}.texts"
    lines.write_text("".join("\t".join(one) + "\n" for one in texts), encoding="utf-8")
    pairs = ["--pairs"] if len(texts[0]) == 2 else []
    answers = program.well("--json", *pairs, "--file", lines, timeout=600).objects
    key = "values" if regression else "logits"
    logits = np.array([answer[key] for answer in answers], np.float32)
    assert len(logits) == len(texts)
    return logits


def transformers_logits(checkpoint: Path, texts: Texts) -> Floats:
    """Logits of `transformers` on PyTorch fp32, eager attention, with its own tokenizer, cut where it says."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        checkpoint, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    logits = np.empty((len(texts), model.config.num_labels), np.float32)
    order = sorted(range(len(texts)), key=lambda index: sum(map(len, texts[index])))
    with torch.inference_mode():
        for begin in range(0, len(order), BATCH):
            part = order[begin : begin + BATCH]
            columns = [list(column) for column in zip(*(texts[i] for i in part), strict=True)]
            inputs = tokenizer(*columns, truncation=True, padding=True, return_tensors="pt")
            logits[part] = model(**inputs).logits.numpy()
    return logits


def assert_equals_transformers(fp32: Floats, meant: Floats) -> None:
    """Logits close, and the same label wherever the first two are not nearly level."""
    difference = np.abs(fp32 - meant)
    print(f"fp32 against transformers: max {difference.max():.2e}, mean {difference.mean():.2e}, {len(meant)} rows")
    assert difference.max() <= MOST_FP32_ERROR
    if meant.shape[1] > 1:
        second, first = np.sort(meant, axis=1)[:, -2:].T
        clear = first - second > NEAR_TIE
        assert (fp32.argmax(axis=1) == meant.argmax(axis=1))[clear].all()
