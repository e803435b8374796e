# SPDX-License-Identifier: Apache-2.0
"""Rows and base to weights and card. What needs PyTorch begins here."""

from __future__ import annotations

from pathlib import Path

import torch
from base import Base
from card import Part, Run, summary, write_card
from inputs import make_inputs, with_states
from model import build_model, freeze
from rows import Rows
from safetensors.torch import save_file
from settings import Settings
from targets import Labels
from training import UNSCALED, Echo, evaluate, train


def train_into(folder: Path, settings: Settings, base: Base, labels: Labels, rows: list[Rows], echo: Echo) -> str:
    """Writes model.safetensors and README.md; `rows` are those to train on, to choose by and, perhaps, to test on."""
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(settings.seed)
    model, fresh = build_model(base, labels)
    freeze(model, settings.freeze)
    tokenizer = base.tokenizer()
    parts = [Part(r.purpose, r.table, make_inputs(tokenizer, r.texts, r.targets)) for r in rows]
    for part in parts:
        cut = f", {part.inputs.cut} of them cut at {base.max_tokens} tokens" if part.inputs.cut else ""
        echo(f"{part.table.name}: {len(part.inputs.ids)} rows {part.purpose}{cut}")
    train_rows, held_out = (part.inputs for part in parts[:2])
    if settings.freeze == "encoder":
        train_rows, held_out = with_states(model, train_rows), with_states(model, held_out)
    epochs, best = train(model, labels, train_rows, held_out, settings, echo)
    test = evaluate(model, labels, parts[2].inputs, UNSCALED)[0] if len(parts) > 2 else None
    done = Run(settings, base, labels, fresh, parts, epochs, best, test)
    weights = {name: value.contiguous() for name, value in model.state_dict().items()}
    file = folder / "model.safetensors"
    save_file(weights, file, metadata={"format": "pt"})
    file.chmod(0o644)  # its writer leaves 0600
    write_card(folder / "README.md", done)
    return summary(done)
