# SPDX-License-Identifier: Apache-2.0
"""Checkpoint folders of GPT-2's shape, with random weights. As a program: SIZE FOLDER."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tiny_checkpoint import write_json, write_safetensors

sys.path.insert(0, str(Path(__file__).resolve().parent / "recorded"))
from vocabularies import BYTES

END = "<|endoftext|>"


@dataclass(frozen=True)
class Size:
    layers: int
    hidden: int
    heads: int
    vocabulary: int  # the bytes, pairs of them, and the end
    positions: int


SIZES = {"gpt2": Size(12, 768, 12, 50_257, 1_024), "tiny": Size(1, 32, 2, 300, 128)}


def write_folder(folder: Path, size: Size) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    merges = [f"{first} {second}" for first in BYTES for second in BYTES][: size.vocabulary - len(BYTES) - 1]
    pieces = [*BYTES, *(merge.replace(" ", "") for merge in merges), END]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(("#version: 0.2", *merges, "")), encoding="utf-8")
    write_json(folder / "tokenizer_config.json", {"model_max_length": size.positions})
    ids = {"bos_token_id": size.vocabulary - 1, "eos_token_id": size.vocabulary - 1}
    write_json(folder / "generation_config.json", ids)
    shape = {"n_embd": size.hidden, "n_head": size.heads, "n_layer": size.layers, "n_positions": size.positions}
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": size.vocabulary}
    write_json(folder / "config.json", config | shape | ids)
    random = np.random.default_rng(1)
    tensors = {
        name: (0.05 * random.standard_normal(shape, np.float32) + _is_scale(name)).astype(np.float32)
        for name, shape in _shapes(size).items()
    }
    write_safetensors(folder / "model.safetensors", tensors)


def _is_scale(name: str) -> bool:
    """Whether it multiplies the rows of a norm."""
    return name.endswith(".weight") and ".ln_" in name


def _shapes(size: Size) -> dict[str, tuple[int, ...]]:
    width = size.hidden
    shapes: dict[str, tuple[int, ...]] = {"transformer.wte.weight": (size.vocabulary, width)}
    shapes["transformer.wpe.weight"] = (size.positions, width)
    linears = {"attn.c_attn": (width, 3 * width), "attn.c_proj": (width, width)}
    linears |= {"mlp.c_fc": (width, 4 * width), "mlp.c_proj": (4 * width, width)}
    norms = [f"h.{index}.{name}" for index in range(size.layers) for name in ("ln_1", "ln_2")]
    for index in range(size.layers):
        for name, shape in linears.items():
            linear = f"transformer.h.{index}.{name}"
            shapes |= {f"{linear}.weight": shape, f"{linear}.bias": shape[1:]}
    for norm in (*norms, "ln_f"):
        shapes |= {f"transformer.{norm}.weight": (width,), f"transformer.{norm}.bias": (width,)}
    return shapes


if __name__ == "__main__":
    write_folder(Path(sys.argv[2]), SIZES[sys.argv[1]])
