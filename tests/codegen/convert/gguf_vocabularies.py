# SPDX-License-Identifier: Apache-2.0
"""Compares tokenizers of GGUF files with the ids that llama.cpp keeps beside its own vocabularies, which are those of
`transformers`: FILE.inp has the texts, FILE.out the ids.

    PYTHONPATH=$PWD python tests/codegen/convert/gguf_vocabularies.py LLAMA_CPP/models

Prints a line for each file; exit code 1 where ids differ. What is refused is no difference.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer

from codegen.convert.gguf.file import open_gguf
from codegen.convert.gguf.metadata import Metadata
from codegen.convert.gguf.tokenizers.tokenizer import read_tokenizer
from codegen.errors import EtchError

_BETWEEN = "\n__ggml_vocab_test__\n"


def differences(path: Path) -> tuple[int, int]:
    """(texts of other ids, all texts)"""
    with open_gguf(path) as file:
        meta = Metadata(file)
        found = read_tokenizer(meta, ("bert", "gpt2", "llama"), len(meta.texts("tokenizer.ggml.tokens")), 512)
    tokenizer = Tokenizer.from_str(json.dumps(found.tokenizer))
    texts = Path(f"{path}.inp").read_text(encoding="utf-8").split(_BETWEEN)
    rows = Path(f"{path}.out").read_text(encoding="utf-8").split("\n")
    pairs = list(zip(texts, rows, strict=False))
    return sum(
        tokenizer.encode(text, add_special_tokens=False).ids != [int(one) for one in row.split()] for text, row in pairs
    ), len(pairs)


def main() -> int:
    """The comparison of a folder."""
    code = 0
    for path in sorted(Path(sys.argv[1]).glob("*.gguf")):
        if not Path(f"{path}.inp").exists():
            continue
        try:
            other, count = differences(path)
        except EtchError as error:
            print(f"{path.name}: {error}")
            continue
        print(f"{path.name}: {other} of {count} texts differ")
        code |= other > 0
    return code


if __name__ == "__main__":
    sys.exit(main())
