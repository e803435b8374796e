# SPDX-License-Identifier: Apache-2.0
"""How good outputs are, on rows that were not trained on. The first metric of a task chooses the epoch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def measure(task: str, names: tuple[str, ...], logits: Floats, targets: Floats) -> dict[str, float]:
    """Metrics by name; `targets` holds classes [n], 0 or 1 for each label [n, labels], or numbers [n]."""
    if task == "regression":
        values = logits[:, 0]
        return {
            "mean squared error": float(((values - targets) ** 2).mean()),
            "Pearson": pearson(values, targets),
            "Spearman": pearson(ranks(values), ranks(targets)),
        }
    if task == "multi_label":
        found, meant = logits > 0, targets > 0.5
        return {"micro F1": f1(found, meant), "exact match": float((found == meant).all(axis=1).mean())}
    classes = np.arange(len(names))
    found, meant = logits.argmax(axis=1)[:, None] == classes, targets[:, None] == classes
    each = [f1(found[:, i], meant[:, i]) for i in classes]
    metrics = {"accuracy": float((found & meant).any(axis=1).mean()), "macro F1": float(np.mean(each))}
    return metrics | ({f"F1 of '{names[1]}'": each[1]} if len(names) == 2 else {})


def is_better(task: str, new: tuple[dict[str, float], float], old: tuple[dict[str, float], float]) -> bool:
    """Whether (metrics, loss) beats the other one: by the first metric, between equals by the loss."""
    first = next(iter(new[0]))
    sign = -1.0 if task == "regression" else 1.0  # an error is better small
    return (sign * new[0][first], -new[1]) > (sign * old[0][first], -old[1])


def f1(found: NDArray[np.bool_], meant: NDArray[np.bool_]) -> float:
    """Harmonic mean of precision and recall; 0 where nothing is found or meant."""
    total = int(found.sum()) + int(meant.sum())
    return 2.0 * int((found & meant).sum()) / total if total else 0.0


def pearson(a: Floats, b: Floats) -> float:
    """Correlation; 0 where one side is constant."""
    if (a == a[0]).all() or (b == b[0]).all():
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def ranks(values: Floats) -> Floats:
    """Rank of each value; equal ones share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts).astype(np.float64)
    return (last - (counts - 1) / 2)[inverse]


def shown(metrics: dict[str, float]) -> str:
    """One line."""
    return ", ".join(f"{name} {value:.4f}" for name, value in metrics.items())
