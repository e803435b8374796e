# SPDX-License-Identifier: Apache-2.0
"""Writes what M2M100Tokenizer of pinned `transformers` makes of texts and of ids with the folder m2m_100/languages, and
what its model writes for other languages than the folder says.

    python tests/codegen/generation/record_m2m.py [--out FILE]

Needs what record_generation.py needs, and sentencepiece 0.2.3.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from m2m_files import PIECES, VOCABULARY  # noqa: E402 - beside this one
from record_generation import check_installed  # noqa: E402 - beside this one

FOLDER = HERE / "m2m_100" / "languages"
LANGUAGES = ("ru", "fr")
TEXTS = (
    *("", "   ", "  a  b </s> c<unk> d", "__en__ the cat __zu__and __xx__ a", "the<pad>hat<s>", ">>en<< the >>x<<"),
    *(
        "\u2581the\u2581 \u2581cat",
        "the\u00e9the\ufb01n",
        "\u732b \u732b\u732b the\u732bhat",
        "\U0001f389! \U0001f389 !",
    ),
    *("in in ing inq q qq aqa", "''the' '", "THE \u0410\u0411\u0412 cat", "t\u3000h\te\u00efn", "andtheringcathats"),
    unicodedata.normalize("NFD", "th\u00e9 c\u00e0t"),
)
COUNT = 60  # of each kind


def main() -> None:
    """Records texts, texts of pieces, ids, and translations."""
    import torch
    from transformers import AutoTokenizer, M2M100ForConditionalGeneration

    parser = argparse.ArgumentParser(description="Records what pinned libraries make of texts and ids.")
    parser.add_argument("--out", type=Path, default=HERE / "m2m_texts.json", metavar="FILE")
    arguments = parser.parse_args()
    check_installed()
    source = random.Random(20)
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    spelled = (*PIECES, *VOCABULARY[-3:], "\u00fc", "1")
    drawn = ["".join(source.choices(spelled, k=source.randint(1, 9))).replace("\u2581", " ") for _ in range(COUNT)]
    encoded = [[text, tokenizer(text)["input_ids"]] for text in (*TEXTS, *drawn)]
    rows = [[source.randrange(len(tokenizer)) for _ in range(source.randint(0, 8))] for _ in range(COUNT)]
    rows += [[source.choice((37, 37, 3, 2, 64, 39, 45)) for _ in range(6)] for _ in range(COUNT)]
    decoded = [[row, tokenizer.decode(row, skip_special_tokens=True)] for row in rows]
    model = M2M100ForConditionalGeneration.from_pretrained(FOLDER, dtype=torch.float64).eval()
    tokenizer.src_lang, written = LANGUAGES[0], []
    for text in ("The cat and the hat", "a", ""):
        ids = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            whole = model.generate(**ids, forced_bos_token_id=tokenizer.get_lang_id(LANGUAGES[1]))[0].tolist()
        written.append([text, ids["input_ids"][0].tolist(), whole, tokenizer.decode(whole, skip_special_tokens=True)])
    items = {"encoded": encoded, "decoded": decoded, "written": written}
    parts = (
        f'"{key}": [\n  ' + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in some) + "]"
        for key, some in items.items()
    )
    arguments.out.write_text("{" + ",\n ".join(parts) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
