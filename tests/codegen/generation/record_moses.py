# SPDX-License-Identifier: Apache-2.0
"""Writes what FSMTTokenizer and BioGptTokenizer of pinned `transformers` make of texts and of ids.

    python tests/codegen/generation/record_moses.py [--out FILE]

Needs what record_generation.py needs, and sacremoses 0.2.0.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from moses_cases import FOLDERS, TEXTS, drawn_ids, write  # noqa: E402 - of the folder above
from record_generation import check_installed  # noqa: E402 - beside this one


def main() -> None:
    """Records each folder's."""
    import transformers

    parser = argparse.ArgumentParser(description="Records what pinned libraries make of texts and ids.")
    parser.add_argument("--out", type=Path, default=HERE / "moses_texts.json", metavar="FILE")
    arguments = parser.parse_args()
    check_installed()
    parts = []
    for name, settings in FOLDERS.items():
        with tempfile.TemporaryDirectory() as place:
            write(Path(place), name)
            tokenizer = getattr(transformers, str(settings["tokenizer_class"])).from_pretrained(place)
        encoded = [tokenizer(text)["input_ids"] for text in TEXTS]
        encoded.append(tokenizer(TEXTS[1], TEXTS[2])["input_ids"])
        decoded = [tokenizer.decode(ids, skip_special_tokens=True) for ids in drawn_ids()]
        rows = (
            f'"{key}": [\n  ' + ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in some) + "]"
            for key, some in (("encoded", encoded), ("decoded", decoded))
        )
        parts.append(f'"{name}": {{' + ",\n ".join(rows) + "}")
    arguments.out.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    main()
