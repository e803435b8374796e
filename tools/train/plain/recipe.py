# SPDX-License-Identifier: Apache-2.0
"""Questions to vocabulary, model and folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from common import vocabulary
from common.checkpoint import check_replaceable, replaced, write_json
from folder import read_model, write_model
from questions import LABELS, Question, read_test_questions, read_training_questions
from tokenizers import Tokenizer
from training import Rows, Settings, logits, train
from transformer import Shape, TransformerEncoder

SHAPE = Shape(
    vocab_size=4_000,
    hidden_size=64,
    num_layers=2,
    num_heads=4,
    intermediate_size=256,
    max_positions=64,
    pooling="max",
)
SETTINGS = Settings(epochs=24)
DROPOUT = 0.2
SPLIT_SEED = 1


def large_tokenizer(data: Path) -> dict[str, Any]:
    """tokenizer.json of BERT's uncased vocabulary."""
    return vocabulary.uncased((data / "vocab" / "bert-base-uncased-vocab.txt").read_text(encoding="utf-8").splitlines())


def tokenize(tokenizer: Tokenizer, questions: list[Question]) -> Rows:
    """Ids and labels; no question is longer than the model's positions."""
    ids = [encoding.ids for encoding in tokenizer.encode_batch([question.text for question in questions])]
    return Rows(ids, torch.tensor([question.label for question in questions]))


def tokenizer_of(spec: dict[str, Any]) -> Tokenizer:
    """The tokenizer of a parsed tokenizer.json."""
    return Tokenizer.from_str(json.dumps(spec))


def remake(data: Path, out: Path, state: Path) -> None:
    """Trains and writes `out`; `state` keeps an interrupted run."""
    check_replaceable(out)
    state.mkdir(parents=True, exist_ok=True)
    rows, held_out = read_training_questions(data, SPLIT_SEED)
    print(f"{len(rows)} training questions, {len(held_out)} held out", flush=True)
    spec, _ = vocabulary.build(large_tokenizer(data), [row.text for row in rows], SHAPE.vocab_size)
    tokenizer = tokenizer_of(spec)
    torch.manual_seed(SETTINGS.seed)
    model = TransformerEncoder(SHAPE, len(LABELS), DROPOUT)
    train(
        model,
        tokenize(tokenizer, rows),
        tokenize(tokenizer, held_out),
        tokenizer.token_to_id("[UNK]"),
        settings=SETTINGS,
        state=state / "state.pt",
    )
    with replaced(out) as folder:
        write_model(folder, model, LABELS)
        write_json(folder / "tokenizer.json", spec)
        write_json(folder / "tokenizer_config.json", vocabulary.tokenizer_config(SHAPE.max_positions), sort_keys=True)
    (state / "state.pt").unlink()
    print(f"wrote {out.name}", flush=True)


def evaluate(data: Path, checkpoint: Path, *, test: bool) -> None:
    """Prints accuracy and, of the test questions, the confusion."""
    model, labels = read_model(checkpoint)
    tokenizer = tokenizer_of(json.loads((checkpoint / "tokenizer.json").read_text(encoding="utf-8")))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
    held_out = read_training_questions(data, SPLIT_SEED)[1]
    parts = {"held out": held_out} | ({"test": read_test_questions(data)} if test else {})
    for name, questions in parts.items():
        rows = tokenize(tokenizer, questions)
        found = logits(model, rows.ids).argmax(1)
        right = int((found == rows.labels).sum())
        print(f"{name}: {100 * right / len(questions):.2f} % ({right} of {len(questions)})")
        if name == "test":
            size = len(labels)
            counts = torch.bincount(rows.labels * size + found, minlength=size**2).view(size, size)
            for label, line in zip(labels, counts.tolist(), strict=True):
                print(f"  {label:14}" + "".join(f"{count:5}" for count in line))
