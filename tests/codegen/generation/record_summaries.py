# SPDX-License-Identifier: Apache-2.0
"""Writes what pinned `transformers` makes of texts that are to be summarized: `generate` with the settings that
config.json has of that task, of texts with its prefix, as the pipeline of versions before 5 called it.

    python tests/codegen/generation/record_summaries.py [--out FILE]

Of the folders beside this script, whose config.json then also has the task_specific_params that are recorded. Needs
torch 2.15.0 and transformers 5.23.0.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import torch
from record_generation import _begin
from tokenizers_of_texts import PROMPTS
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from unrounded import unrounded

HERE = Path(__file__).resolve().parent
# As T5's and BART's own files have them, but shorter; the folders' own length, which would count, is taken back.
_USUAL = {"early_stopping": True, "length_penalty": 2.0, "no_repeat_ngram_size": 2, "max_new_tokens": None}
PARAMS: dict[str, dict[str, Any]] = {
    "t5/texts": {**_USUAL, "max_length": 14, "min_length": 6, "num_beams": 4, "prefix": "of: "},
    "bart/texts": {**_USUAL, "no_repeat_ngram_size": 3, "max_length": 16, "min_length": 7, "num_beams": 4},
    "mbart/texts": {**_USUAL, "max_length": 12, "min_length": 5, "num_beams": 2, "repetition_penalty": None},
    "pegasus/texts": {**_USUAL, "max_length": 13, "min_length": 4, "num_beams": 3, "length_penalty": 0.8},
}


def summaries(name: str) -> list[Any]:
    """[prompt, ids, written, text, score] of each prompt."""
    folder, params = HERE / name, dict(PARAMS[name])
    prefix = params.pop("prefix", "")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float64).eval()
    model.generation_config.update(**params)
    rows = []
    for prompt in PROMPTS:
        ids = tokenizer(prefix + prompt, truncation=True)["input_ids"]
        source = torch.tensor([ids])
        begin = _begin(model, source)
        with torch.inference_mode(), unrounded(model):
            found = model.generate(
                source, attention_mask=torch.ones_like(source), return_dict_in_generate=True, output_scores=True
            )
        written = found.sequences[0].tolist()[begin:]
        text = tokenizer.decode(written, skip_special_tokens=True)
        rows.append([prompt, ids, written, text, float(f"{float(found.sequences_scores[0]):.9g}")])
    return rows


def main() -> None:
    """Records them all."""
    parser = argparse.ArgumentParser(description="Records what pinned libraries write.")
    parser.add_argument("--out", type=Path, default=HERE / "summaries.json", metavar="FILE")
    found = []
    for name, params in PARAMS.items():
        rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in summaries(name))
        found.append(f' {json.dumps(name)}: {{"params": {json.dumps(params)},\n "texts": [\n  {rows}]}}')
    text = "{\n" + ",\n".join(found) + "\n}\n"
    parser.parse_args().out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
