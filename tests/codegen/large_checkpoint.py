# SPDX-License-Identifier: Apache-2.0
"""Checkpoint folders of the shapes of MiniLM-L6, BERT-base and BERT-large, with random weights. As a
program: SIZE FOLDER."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tiny_checkpoint import DEFAULT_VOCAB, bert_shapes, write_tiny_checkpoint

VOCABULARY = 30_522


@dataclass(frozen=True)
class Size:
    hidden: int
    layers: int
    heads: int
    most_bytes: int  # of memory

    @property
    def intermediate(self) -> int:
        return 4 * self.hidden

    @property
    def parameters(self) -> int:
        return 12 * self.layers * self.hidden**2 + VOCABULARY * self.hidden


SIZES = {
    "minilm": Size(384, 6, 12, 1 << 30),
    "base": Size(768, 12, 12, 2 << 30),
    "large": Size(1024, 24, 16, 3 << 30),
}


def write_folder(folder: Path, size: Size, dtype: str) -> None:
    """Random weights, written tensor by tensor, so that the test stays small."""
    vocab = [*DEFAULT_VOCAB, *(f"w{index}" for index in range(VOCABULARY - len(DEFAULT_VOCAB)))]
    write_tiny_checkpoint(folder, vocab=vocab, heads=size.heads, hidden=size.heads, layers=1, max_positions=512)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_size": size.hidden, "num_hidden_layers": size.layers, "intermediate_size": size.intermediate}
    config |= {"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}}
    (folder / "config.json").write_text(json.dumps(config))
    stored = np.dtype("<f4" if dtype == "F32" else "<f2")
    shapes = bert_shapes(
        hidden=size.hidden,
        layers=size.layers,
        intermediate=size.intermediate,
        labels=2,
        max_positions=512,
        type_vocab=2,
        vocab_size=VOCABULARY,
    )
    header, offset = {}, 0
    for name, shape in shapes.items():
        length = int(np.prod(shape)) * stored.itemsize
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + length]}
        offset += length
    text = json.dumps(header).encode()
    random = np.random.default_rng(1)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            values = 0.03 * random.standard_normal(shape, np.float32)
            file.write((values + name.endswith("LayerNorm.weight")).astype(stored).tobytes())


if __name__ == "__main__":
    write_folder(Path(sys.argv[2]), SIZES[sys.argv[1]], "F16")
