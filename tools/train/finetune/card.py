# SPDX-License-Identifier: Apache-2.0
"""The model card: what the weights were made of, how, and what they measured."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy
import tokenizers
import torch
import transformers
from base import Base
from inputs import Inputs
from metrics import shown
from settings import Settings
from table import Table
from targets import Labels
from training import Epoch

_LISTED_LABELS = 20
_WHAT = {
    "single_label": "a classifier of {texts} with {outputs} labels",
    "multi_label": "a classifier of {texts} with {outputs} labels, any number of which may hold",
    "regression": "gives {texts} a number",
}


@dataclass(frozen=True)
class Part:
    """Rows used for one purpose."""

    purpose: str
    table: Table
    inputs: Inputs


@dataclass(frozen=True)
class Run:
    """Everything the card tells."""

    settings: Settings
    base: Base
    labels: Labels
    fresh: tuple[str, ...]
    parts: list[Part]
    epochs: list[Epoch]
    best: Epoch
    test: dict[str, float] | None


def write_card(path: Path, run: Run) -> None:
    """README.md of the new folder."""
    texts = "pairs of texts" if run.settings.columns.pairs else "texts"
    what = _WHAT[run.labels.task].format(texts=texts, outputs=len(run.labels.names))
    sections = [
        f"# {_plain(run.settings.out.name)}: {what}",
        "Fine-tuned by etch's `tools/train/finetune`. "
        "The weights are under the terms of the base checkpoint and of the data.",
        "## Data",
        _table(("rows", "used for", "file", "SHA-256", "cut"), [_part(part) for part in run.parts]),
        _labels(run),
        "## Settings",
        _table(("setting", "value"), _settings(run)),
        "## Held-out rows, by epoch",
        _epochs(run),
        f"Kept: the weights after epoch {run.best.number}.",
    ]
    if run.test is not None:
        sections += [
            "## Test rows, measured once",
            _table(("metric", "value"), [(k, f"{v:.4f}") for k, v in run.test.items()]),
        ]
    sections += ["## Versions", _versions()]
    path.write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows)]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A name from outside, safe inside a table."""
    shown_text = "".join(c if c.isprintable() and c not in "|`<>" else "?" for c in text)
    return shown_text[:80]


def _part(part: Part) -> tuple[str, ...]:
    rows = f"{len(part.inputs.ids):,}"
    return rows, part.purpose, _plain(part.table.name), f"`{part.table.digest}`", f"{part.inputs.cut:,}"


def _labels(run: Run) -> str:
    targets = run.parts[0].inputs.targets
    if run.labels.task == "regression":
        values = targets.double()
        spread = f"{values.min():g} to {values.max():g}, mean {values.mean():.4f}, deviation {values.std():.4f}"
        return f"Training values: {spread}."
    if run.labels.task == "single_label":
        counted = Counter(targets.tolist())
        counts = [counted[i] for i in range(len(run.labels.names))]
    else:
        counts = [int(n) for n in targets.sum(0).tolist()]
    pairs = [f"{_plain(name)} {count:,}" for name, count in zip(run.labels.names, counts, strict=True)]
    more = f" and {len(pairs) - _LISTED_LABELS} more" if len(pairs) > _LISTED_LABELS else ""
    return f"Training rows by label: {', '.join(pairs[:_LISTED_LABELS])}{more}."


def _settings(run: Run) -> list[tuple[str, ...]]:
    settings = run.settings
    return [
        ("base", f"{_plain(run.base.folder.resolve().name)}, etch's digest `{run.base.checkpoint.digest}`"),
        ("started at random", ", ".join(f"`{name}`" for name in run.fresh) or "nothing"),
        ("frozen", settings.freeze),
        ("epochs", f"at most {settings.epochs}, stopped after {settings.patience} without a gain"),
        ("batch", f"{settings.batch} rows"),
        ("rate", f"{settings.rate:g}, rising over {settings.warmup:g} of the steps, then a cosine to 0"),
        ("optimizer", f"AdamW, weight decay {settings.weight_decay:g} on matrices, gradients of norm 1 at most"),
        ("longest text", f"{run.base.max_tokens} tokens"),
        ("arithmetic", "float32" if not settings.bfloat16 else "matrix products of the training in bfloat16"),
        ("seed", str(settings.seed)),
        ("threads", str(torch.get_num_threads())),
    ]


def _epochs(run: Run) -> str:
    names = tuple(run.best.metrics)
    rows = [
        (str(e.number), f"{e.loss:.4f}", f"{e.held_out_loss:.4f}", *(f"{e.metrics[name]:.4f}" for name in names))
        for e in run.epochs
    ]
    return _table(("epoch", "training loss", "held-out loss", *names), rows)


def _versions() -> str:
    parts = {
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "tokenizers": tokenizers.__version__,
        "numpy": numpy.__version__,
    }
    return ", ".join(f"{name} {version}" for name, version in parts.items()) + "."


def summary(run: Run) -> str:
    """The last line for the user."""
    text = f"epoch {run.best.number} kept: held out {shown(run.best.metrics)}"
    return text if run.test is None else f"{text}; test {shown(run.test)}"
