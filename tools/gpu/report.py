# SPDX-License-Identifier: Apache-2.0
"""The report: what was checked and measured on which GPU, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .bench import MEMORY_NAMES, Figures
from .checks import Check
from .device import Device

GOALS = """Goals: BERT-base, one text of 221 tokens, fast: at most 1.25 x the bound, and 250 us. From 64 texts on: at
least 80 % of the bound. The bound is the same work, both copies included, with an empty kernel in place of each of our
own: the bare cuBLASLt products. The median is a call's, from token ids to the answer; GPU time lies between two
events."""


@dataclass(frozen=True)
class Report:
    device: Device
    toolkit: str
    date: str
    steps: Sequence[str]
    checks: Sequence[Check]
    figures: Figures


def write_report(report: Report, folder: Path) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "report.md", folder / "report.json"
    paths[0].write_text(as_markdown(report), encoding="utf-8")
    paths[1].write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    return paths


def summary(checks: Sequence[Check]) -> str:
    count = {outcome: sum(check.outcome == outcome for check in checks) for outcome in ("passed", "failed", "skipped")}
    return ", ".join(f"{number} {outcome}" for outcome, number in count.items())


def as_markdown(report: Report) -> str:
    device = report.device
    parts = [
        "# GPU check\n",
        f"{device.name}, compute capability {device.capability[:-1]}.{device.capability[-1]}, {device.processors} "
        f"multiprocessors, {device.memory_bytes / 1e9:.0f} GB; driver for CUDA {device.driver}, {report.toolkit}; "
        f"{report.date}. Steps: {', '.join(report.steps)}.\n",
        f"**{summary(report.checks)}**\n",
        table(("check", "", "detail"), [(check.name, check.outcome, check.detail) for check in report.checks]),
    ]
    models = {name: rows for name, rows in report.figures.items() if name != "torch"}
    if models:
        parts += ["## Latency, both copies included\n", GOALS + "\n"]
    for name, rows in models.items():
        parts += [f"### {name}\n", memory_table(rows), latency_table(rows), *op_tables(rows)]
    if rows := report.figures.get("torch"):
        parts += [f"### PyTorch, BERT-base, bf16 ({rows[0]['versions']})\n", torch_table(rows)]
    return "\n".join(parts)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Of Markdown; a cell's text stays in its cell."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in (head, ["---"] * len(head), *cells))


def memory_table(rows: Sequence[dict[str, Any]]) -> str:
    """Bytes: weights and session as planned, what CUDA takes for itself as measured."""
    lines = [(row["mode"], *(str(row[name]) for name in MEMORY_NAMES)) for row in rows if row["what"] == "memory"]
    return table(("mode", *(f"{name}, bytes" for name in MEMORY_NAMES)), lines)


def latency_table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        (
            row["mode"],
            str(row["texts"]),
            str(row["tokens"]),
            *(f"{row[key]:.1f}" for key in ("median_us", "p95_us", "bound_us", "gpu_us", "bound_gpu_us")),
            f"{row['median_us'] / row['bound_us']:.2f}",
            f"{100 * row['bound_gpu_us'] / row['gpu_us']:.0f} %",
        )
        for row in rows
        if row["what"] == "latency"
    ]
    times = ("median us", "p95 us", "bound us", "GPU us", "bound on the GPU us")
    return table(("mode", "texts", "tokens each", *times, "median / bound", "bound / GPU"), lines)


def op_tables(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Time by op of each shape that was taken apart."""
    shapes: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for row in rows:
        if row["what"] == "op":
            shapes.setdefault((row["mode"], row["texts"], row["tokens"]), []).append(row)
    parts = []
    for (mode, texts, tokens), ops in shapes.items():
        total = sum(op["us"] for op in ops)
        parts.append(f"Time by op, {mode}, {texts} x {tokens} tokens; each op alone between two events:\n")
        lines = [
            (op["op"], str(op["calls"]), f"{op['us']:.1f}", f"{100 * op['us'] / total:.0f} %")
            for op in sorted(ops, key=lambda op: -op["us"])
        ]
        parts.append(table(("op", "calls", "us", "share"), lines))
    return parts


def torch_table(rows: Sequence[dict[str, Any]]) -> str:
    def of(value: float | None) -> str:
        return "-" if value is None else f"{value:.1f}"

    lines = [(str(row["texts"]), str(row["tokens"]), of(row["eager_us"]), of(row["graph_us"])) for row in rows]
    return table(("texts", "tokens each", "eager us", "CUDA graph us"), lines)
