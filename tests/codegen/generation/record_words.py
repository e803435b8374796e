# SPDX-License-Identifier: Apache-2.0
"""Writes what `generate` of pinned `transformers` makes of words of a lexicon, in float32: greedily, or with beams and
then with the score.

    python tests/codegen/generation/record_words.py FOLDER --every N [--beams K] --out FILE

FOLDER is bart_g2p_us: a BART whose config.json has its characters, with us_gold.json.gz. A word is the ids of its
characters between begin and end. Needs torch 2.15.0 and transformers 5.23.0.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from pathlib import Path

import torch
import transformers

BEGIN, END, UNKNOWN, RESERVED = 1, 2, 3, 4
LONGEST = 62  # characters, with begin and end as many as the model has positions


def main() -> None:
    """Records every Nth word."""
    parser = argparse.ArgumentParser(description="Records what pinned libraries write.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, required=True, metavar="N")
    parser.add_argument("--beams", type=int, default=1, metavar="K")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    config = json.loads((arguments.folder / "config.json").read_text(encoding="utf-8"))
    characters = {character: i for i, character in enumerate(config["grapheme_chars"]) if i >= RESERVED}
    with gzip.open(arguments.folder / "us_gold.json.gz", "rt", encoding="utf-8") as file:
        lexicon = [word for word in json.load(file) if 1 <= len(word) <= LONGEST]
    model = transformers.BartForConditionalGeneration.from_pretrained(arguments.folder).eval()
    torch.set_num_threads(1)
    lines = []
    for word in lexicon[:: arguments.every]:
        ids = [BEGIN, *(characters.get(character, UNKNOWN) for character in word), END]
        with torch.inference_mode():
            options = {"max_length": 64, "num_beams": arguments.beams, "do_sample": False, "output_scores": True}
            found = model.generate(torch.tensor([ids]), return_dict_in_generate=True, **options)
        score = [] if arguments.beams == 1 else [float(f"{float(found.sequences_scores[0]):.7g}")]
        lines.append(json.dumps([word, ids, found.sequences[0].tolist()[1:], *score], ensure_ascii=False))
    arguments.out.write_text("[" + ",\n ".join(lines) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
