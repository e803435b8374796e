# SPDX-License-Identifier: Apache-2.0
"""Writes what the greedy `generate` of pinned `transformers` makes of a thousand texts, in float32, as digests: of each
text the CRC-32 of the ids that are read, of those that are written, and whether at some step the best two logits were
nearer than 1e-4.

    python tests/codegen/generation/record_digests.py words FOLDER --out FILE
    python tests/codegen/generation/record_digests.py captions FOLDER --texts DIR --out FILE

FOLDER is bart_g2p_us or a translator in Marian's layout; DIR has test_2016_flickr.en.gz. Needs torch 2.15.0,
transformers 5.23.0 and sentencepiece.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import torch
import transformers
from random_texts import digest

BEGIN, END, UNKNOWN, RESERVED, LONGEST = 1, 2, 3, 4, 62
EVERY = 89  # of the words
NEAR = 1e-4


def words(folder: Path) -> Iterator[list[int]]:
    """Ids of words of the lexicon."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    characters = {character: i for i, character in enumerate(config["grapheme_chars"]) if i >= RESERVED}
    with gzip.open(folder / "us_gold.json.gz", "rt", encoding="utf-8") as file:
        lexicon = [word for word in json.load(file) if 1 <= len(word) <= LONGEST]
    for word in lexicon[::EVERY]:
        yield [BEGIN, *(characters.get(character, UNKNOWN) for character in word), END]


def captions(folder: Path, texts: Path) -> Iterator[list[int]]:
    """Ids of captions."""
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    for line in gzip.decompress((texts / "test_2016_flickr.en.gz").read_bytes()).decode().split("\n")[:-1]:
        yield tokenizer(line.strip())["input_ids"]


def main() -> None:
    """Records them all."""
    parser = argparse.ArgumentParser(description="Records what pinned libraries write.")
    parser.add_argument("kind", choices=("words", "captions"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(arguments.folder, dtype=torch.float32).eval()
    of_words = arguments.kind == "words"
    texts = words(arguments.folder) if of_words else captions(arguments.folder, arguments.texts)
    length = {"max_length": 64} if of_words else {}
    lines = []
    for ids in texts:
        with torch.inference_mode():
            found = model.generate(
                torch.tensor([ids]),
                num_beams=1,
                do_sample=False,
                output_logits=True,
                return_dict_in_generate=True,
                **length,
            )
        best = torch.stack(found.logits)[:, 0].topk(2).values
        near = bool((best[:, 0] - best[:, 1]).min() < NEAR)
        written = found.sequences[0].tolist()[1:]
        lines.append(json.dumps([digest(ids), digest(written), near]))
    arguments.out.write_text("[" + ",\n ".join(lines) + "]\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
