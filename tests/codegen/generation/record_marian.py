# SPDX-License-Identifier: Apache-2.0
"""Writes what MarianTokenizer of pinned `transformers` makes of texts, and of ids.

    python tests/codegen/generation/record_marian.py FOLDER TEXTS --out FILE

FOLDER is marian_en_pt, TEXTS are lines. Needs transformers 5.23.0 and sentencepiece 0.2.3.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from pathlib import Path

COUNT = 150  # of each kind


def main() -> None:
    """Records texts of the file, texts of pieces, the library's own examples, and ids."""
    from transformers import MarianTokenizer

    parser = argparse.ArgumentParser(description="Records what pinned libraries make of texts and ids.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    arguments = parser.parse_args()
    source = random.Random(20)
    tokenizer = MarianTokenizer.from_pretrained(arguments.folder)
    pieces = list(json.loads((arguments.folder / "vocab.json").read_text(encoding="utf-8")))
    opened = gzip.open if arguments.texts.suffix == ".gz" else open
    with opened(arguments.texts, "rt", encoding="utf-8") as file:
        lines = source.sample([line.strip("\n") for line in file if line.strip()], COUNT)
    texts = [
        *(
            "",
            "   ",
            "  a  b </s> c<unk> d",
            ">>por<< A <pad>dog.",
            "\u65e5\u672c\u8a9e a\u0301\u200b\u3000b\tc\r\nd",
            "</s>\u2581x",
            ">>por<<",
            ">>xyz<< A dog",
            " >>por<< A dog",
            "A </s>>>por<< dog >>pob<< b",
            "a\u2581 \u2581b \u2581",
            "Nga\u0300y ho\u0302m nay tro\u031bi \u0111e\u0323p, e\u0302\u0301, \u1100\u1161\u11a8",
            "East End \u2014 roughly bounded by 18th St , 1990 \u2013 1995 \u2014\u2014 \u2013x",
        ),
        *lines,
        *("".join(source.choices(pieces, k=source.randint(1, 8))).replace("\u2581", " ") for _ in range(COUNT)),
    ]
    rows = [[source.randrange(len(pieces)) for _ in range(source.randint(0, 10))] for _ in range(2 * COUNT)]
    rows += [tokenizer(line, text_target=line)["labels"] for line in lines[: COUNT // 3]]
    encoded = [[text, tokenizer(text)["input_ids"]] for text in texts]
    plain = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    decoded = [[row, tokenizer.decode(row, **plain)] for row in rows]
    parts = (",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items) for items in (encoded, decoded))
    text = '{{"encoded": [\n  {}],\n "decoded": [\n  {}]}}\n'.format(*parts)
    arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
