# SPDX-License-Identifier: Apache-2.0
"""Writes golden.jsonl: what the default model must make of the texts in texts.txt, one JSON object per line of it.

    .venv/bin/python tests/golden/make.py

`ids` come from the `tokenizers` wheel, `logits` from the NumPy form of the arithmetic contract (recipe w8a8; nine
digits are exactly the float32), `reference` from the float64 forward pass.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CHECKPOINT = ROOT / "tools" / "train" / "agnews" / "checkpoint"
sys.path.insert(0, str(ROOT))

from codegen import pipeline  # noqa: E402 - the package lies beside the tests, it is not installed
from codegen.emulate import emulate_texts  # noqa: E402
from codegen.ir.text import Text  # noqa: E402
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer  # noqa: E402
from codegen.oracle.bert import Reference  # noqa: E402


def read_texts() -> list[str]:
    """The lines of texts.txt; only LF ends a line."""
    return (HERE / "texts.txt").read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def golden_lines() -> list[str]:
    """The lines of golden.jsonl."""
    checkpoint = pipeline.load(CHECKPOINT)
    program = pipeline.lower(checkpoint, "w8a8", None)
    tokenizer = text_tokenizer(checkpoint.tokenizer, program.max_tokens)
    reference = Reference(CHECKPOINT)
    lines = []
    for text in read_texts():
        encoding = tokenizer.encode(text)
        logits = emulate_texts(program, [Text(encoding.ids, encoding.type_ids)])[0]
        meant = reference.output(encoding.ids, encoding.type_ids)
        content = {
            "ids": encoding.ids,
            "logits": [float(f"{value:.9g}") for value in logits],
            "reference": [round(float(value), 6) for value in meant],
        }
        lines.append(json.dumps(content))
    return lines


if __name__ == "__main__":
    (HERE / "golden.jsonl").write_text("\n".join(golden_lines()) + "\n", encoding="ascii")
