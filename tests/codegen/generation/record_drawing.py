# SPDX-License-Identifier: Apache-2.0
"""Writes with what probability pinned `transformers` draws each token for some logits, temperatures, top_k and top_p.

    python tests/codegen/generation/record_drawing.py [--out FILE]

Needs torch 2.15.0, transformers 5.23.0 and numpy; in float64.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

HERE = Path(__file__).resolve().parent
VOCABULARY = 60
SETTINGS = [(1.0, 0, 1.0), (0.7, 0, 1.0), (2.5, 10, 1.0), (1.0, 1, 1.0), (1.3, 0, 0.9), (0.8, 0, 0.3), (1.1, 25, 0.8)]


def main() -> None:
    """Records all settings."""
    parser = argparse.ArgumentParser(description="Records with what probability a pinned library draws tokens.")
    parser.add_argument("--out", type=Path, default=HERE / "drawing.json", metavar="FILE")
    arguments = parser.parse_args()
    random = np.random.default_rng(5)
    items = []
    for temperature, top_k, top_p in SETTINGS:
        logits = (3 * random.standard_normal(VOCABULARY)).astype(np.float32)
        scores = torch.from_numpy(logits.astype(np.float64))[None]
        scores = TemperatureLogitsWarper(temperature)(None, scores)
        scores = TopKLogitsWarper(top_k)(None, scores) if top_k else scores
        scores = TopPLogitsWarper(top_p)(None, scores) if top_p < 1 else scores
        meant = [float(f"{value:.12g}") for value in scores.softmax(-1)[0].tolist()]
        items.append(json.dumps([temperature, top_k, top_p, [float(value) for value in logits], meant]))
    arguments.out.write_text("[" + ",\n ".join(items) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
