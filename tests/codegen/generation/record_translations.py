# SPDX-License-Identifier: Apache-2.0
"""Writes what MarianTokenizer and MarianMTModel of pinned `transformers` make of texts, greedily, in float64.

    python tests/codegen/generation/record_translations.py [--out FILE]

The weights are those of marian/opus, the tokenizer is that of marian_files.py; `marian/settings` and its
generation_config.json with one beam are the second model. Needs what record_generation.py
needs, and sentencepiece 0.2.3.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from marian_files import TEXTS, write_files

HERE = Path(__file__).resolve().parent
MODELS = ("marian/opus", "marian/settings")
MAX_LENGTH = 1 + 17


def write_folder(name: str, folder: Path) -> None:
    """A whole folder: weights and configuration of a recorded model that searches greedily, and a tokenizer."""
    for file in ("config.json", "model.safetensors"):
        shutil.copyfile(HERE / name / file, folder / file)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    own = HERE / name / "generation_config.json"
    keys = ("decoder_start_token_id", "eos_token_id", "forced_eos_token_id", "pad_token_id")
    generation = {key: config[key] for key in keys} | {"max_length": MAX_LENGTH}
    if own.exists():
        generation = json.loads(own.read_text(encoding="utf-8")) | {"num_beams": 1}
    (folder / "generation_config.json").write_text(json.dumps(generation), encoding="utf-8")
    write_files(folder)


def _translations(name: str) -> list[Any]:
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    with tempfile.TemporaryDirectory() as made:
        write_folder(name, Path(made))
        tokenizer = MarianTokenizer.from_pretrained(made)
        model = MarianMTModel.from_pretrained(made, dtype=torch.float64).eval()
    found = []
    for text in TEXTS:
        ids = tokenizer(text, truncation=True)["input_ids"]
        with torch.inference_mode():
            written = model.generate(torch.tensor([ids]))[0].tolist()[1:]
        found.append([text, ids, written, tokenizer.decode(written, skip_special_tokens=True)])
    return found


def main() -> None:
    """Records all models."""
    parser = argparse.ArgumentParser(description="Records what pinned libraries translate.")
    parser.add_argument("--out", type=Path, default=HERE / "marian_texts.json", metavar="FILE")
    arguments = parser.parse_args()
    rows = {name: ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in _translations(name)) for name in MODELS}
    text = ",\n".join(f' "{name}": [\n  {lines}]' for name, lines in rows.items())
    arguments.out.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
