# SPDX-License-Identifier: Apache-2.0
"""Writes what pinned `transformers` writes with options that say what may come behind what is there, by the models that
record_generation.py has written.

    python tests/codegen/generation/record_restrictions.py [--out FILE]

Needs torch 2.15.0, transformers 5.23.0 and numpy; in float64.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from record_generation import unrounded
from writer_shapes import MAX_TARGET
from writer_variants import VARIANTS

HERE = Path(__file__).resolve().parent
NAMES = ["bart/two_layers", "marian/opus", "gpt2/two_layers", "llama/tied"]
TOKENS = 7  # of a text
BEAMS = (1, 3)


def options_of(plain: list[int]) -> list[dict[str, Any]]:
    """Such that they forbid what is written without them."""
    words = [plain[:2], plain[1:4], plain[3:5]]
    return [
        {"repetition_penalty": 1.4},
        {"repetition_penalty": 0.6},
        {"no_repeat_ngram_size": 1},
        {"no_repeat_ngram_size": 2},
        {"bad_words_ids": [word for word in words if len(word) > 1] or [[5, 6]]},
        {"begin_suppress_tokens": sorted({plain[0], 7})},
        {"repetition_penalty": 1.2, "no_repeat_ngram_size": 3, "min_new_tokens": 6, "renormalize_logits": True},
    ]


def record(name: str) -> list[str]:
    """[variant, ids, options, beams, written] of each."""
    folder = HERE / name
    config = transformers.AutoConfig.from_pretrained(folder)
    kind = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
    model = kind.from_pretrained(folder, dtype=torch.float64, attn_implementation="sdpa").eval()
    random = np.random.default_rng(zlib.crc32(name.encode()))
    items = []
    source = torch.tensor([random.integers(3, config.vocab_size, TOKENS).tolist()])
    for options in options_of(_written(model, source, {"num_beams": 1})):
        for beams in BEAMS:
            written = _written(model, source, options | {"num_beams": beams})
            items.append(json.dumps([name, source[0].tolist(), options, beams, written]))
    return items


def _written(model: Any, source: torch.Tensor, options: dict[str, Any]) -> list[int]:
    begin = 1 if model.config.is_encoder_decoder else source.shape[1]
    options = options | {"max_length": begin + MAX_TARGET, "do_sample": False}
    with torch.inference_mode(), unrounded(model):
        return model.generate(source, attention_mask=torch.ones_like(source), **options)[0].tolist()[begin:]


def main() -> None:
    """Records all models."""
    parser = argparse.ArgumentParser(description="Records what a pinned library writes with restrictions.")
    parser.add_argument("--out", type=Path, default=HERE / "restrictions.json", metavar="FILE")
    arguments = parser.parse_args()
    assert set(NAMES) <= set(VARIANTS)
    items = [item for name in NAMES for item in record(name)]
    arguments.out.write_text("[" + ",\n ".join(items) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
