# SPDX-License-Identifier: Apache-2.0
"""Pairs to vocabulary, model and folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch
from common.checkpoint import check_replaceable, replaced
from form import Form
from marian import MARIAN
from pairs import HELD_OUT, TRAIN, read_pairs
from pieces import copy_pieces, encode, write_pieces
from textbook import TEXTBOOK
from training import Rows, Settings, train

FORMS = {"marian": MARIAN, "textbook": TEXTBOOK}
TERMS = Path(__file__).resolve().parent / "checkpoint" / "LICENSE"
SETTINGS = Settings(epochs=12)


def rows_of(data: Path, part: str, pieces: Path) -> Rows:
    """Token ids of the pairs of a part."""
    english, german = read_pairs(data, part)
    return Rows(encode(pieces, english), encode(pieces, german))


def remake(
    data: Path, form: Form, out: Path, state: Path, *, epochs: int | None, start: Path | None, bfloat16: bool
) -> None:
    """Trains and writes `out`; `state` keeps an interrupted run, and the weights of the last epochs. Begins with the
    weights and the vocabulary of the checkpoint `start`, if any, with a new optimizer, so that the rate rises anew."""
    check_replaceable(out)
    state.mkdir(parents=True, exist_ok=True)
    settings = dataclasses.replace(SETTINGS, epochs=epochs or SETTINGS.epochs, bfloat16=bfloat16)
    torch.manual_seed(settings.seed)
    model = form.new()
    if start is not None:
        copy_pieces(start, state)
        model.load_state_dict(form.read(start).state_dict())
        settings = dataclasses.replace(settings, warmup=SETTINGS.warmup // 2, ending=settings.epochs)
    elif not (state / "vocab.json").exists():
        english, german = read_pairs(data, TRAIN)
        write_pieces(state, english + german, form.pieces)
    rows, held_out = (rows_of(data, part, state) for part in (TRAIN, HELD_OUT))
    print(f"{len(rows)} pairs, {sum(p.numel() for p in model.parameters()):,} parameters", flush=True)
    train(model, form, rows, held_out, settings=settings, state=state)
    with replaced(out, TERMS) as folder:
        form.write(folder, model, state)
    print(f"wrote {out.name}", flush=True)
