# SPDX-License-Identifier: Apache-2.0
"""A tokenizer beside Hugging Face's on the same texts in one run, each on one thread. Started by tools/bench."""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["RAYON_NUM_THREADS"] = "1"  # before `tokenizers` starts its threads

import tokenizers
from tokenizer_harness import Runtime
from unigram import sentencepiece_spec

from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.byte_level import read_byte_level_json
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import is_character_bpe, read_character_bpe_json
from codegen.load.tokenizer_files.tokenizer_json.fields import FILE
from codegen.load.tokenizer_files.tokenizer_json.unigram import is_unigram, read_unigram_json

SENTENCEPIECE_FILE = "source.spm"
ROUNDS = 5  # of which the median counts
LONG = 64 << 10  # bytes of an input that is to cost much
CHARSMAP = ("units", "texts")  # arrays of SentencePiece's compiled map, which is taken as it is
NO_LIMIT = 1 << 31  # rows of a word embedding


def read_tokenizer(folder: Path) -> TokenizerSpec:
    """Of a checkpoint folder, or of one that has nothing but a tokenizer.json, or SentencePiece's source.spm."""
    if (folder / SENTENCEPIECE_FILE).is_file():
        return sentencepiece_spec(folder / SENTENCEPIECE_FILE)
    values = json.loads((folder / FILE).read_text(encoding="utf-8")) if (folder / FILE).is_file() else {}
    if values and is_character_bpe(values):
        return read_character_bpe_json(values)
    if "merges" in values.get("model", {}):
        return read_byte_level_json(values)
    if is_unigram(values.get("model")):
        return read_unigram_json(values)
    return load_tokenizer(CheckpointFolder(folder), NO_LIMIT)


def costly(spec: TokenizerSpec) -> dict[str, bytes]:
    """Long inputs of few words, and of pieces that meet without white space."""
    source = random.Random(1)
    pieces = [piece.encode() if isinstance(piece, str) else piece for piece in spec.model.pieces if piece]
    letters = [piece for piece in pieces if piece.isalpha()] or pieces
    return {
        "one letter": b"a" * LONG,
        "pieces of letters": b"".join(source.choices(letters, k=LONG))[:LONG],
        "any pieces": b"".join(source.choices(pieces, k=LONG))[:LONG],
        "white space": b" " * LONG,
        "ideographs": "中文".encode() * (LONG // 6),
        "random bytes": source.randbytes(LONG),
    }


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compare(folder: Path, file: Path) -> dict[str, object]:
    """Nanoseconds a byte of etch and of both calls of `tokenizers`, which take turns."""
    spec = read_tokenizer(folder)
    runtime, wheel = Runtime(spec), wheel_tokenizer(spec)
    lines = file.read_bytes().splitlines()
    texts = [line.decode("utf-8", "replace") for line in lines]
    size = sum(map(len, lines))
    calls: dict[str, Callable[[], float]] = {
        "etch": lambda: runtime.nanoseconds_per_byte(*lines),
        "encode": lambda: seconds(lambda: [wheel.encode(text) for text in texts]) * 1e9 / size,
        "encode_batch_fast": lambda: seconds(lambda: wheel.encode_batch_fast(texts)) * 1e9 / size,
    }
    rounds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            rounds[name].append(call())
    result: dict[str, object] = {name: statistics.median(times) for name, times in rounds.items()}
    result["worst"] = {name: runtime.nanoseconds_per_byte(text) for name, text in costly(spec).items()}
    constants = runtime.tables.constants
    charsmap = sum(array.nbytes for name, array in runtime.tables.arrays if name in CHARSMAP)
    return result | {
        "name": f"tokenizer_beside/{folder.name}",
        "kind": spec.summary,
        "texts": len(lines),
        "bytes a piece": (constants["table_bytes"] - charsmap) / constants["piece_count"],
        "bytes of the charsmap": charsmap,
        "tokenizers": tokenizers.__version__,
    }


def main(arguments: list[str]) -> int:
    file, json_file, *folders = arguments
    for folder in folders:
        result = compare(Path(folder), Path(file))
        ours, one, batch = (result[name] for name in ("etch", "encode", "encode_batch_fast"))
        worst = max(result["worst"].items(), key=lambda item: item[1])
        charsmap = f", and a charsmap of {result['bytes of the charsmap']:,}" if result["bytes of the charsmap"] else ""
        print(f"{Path(folder).name}: {result['kind']}, {result['bytes a piece']:.2f} bytes a piece{charsmap}")
        print(f"  etch {1e3 / ours:.0f} MB/s, tokenizers {result['tokenizers']} on one thread: ", end="")
        print(f"encode {1e3 / one:.2f} MB/s ({one / ours:.1f} x), encode_batch_fast {1e3 / batch:.2f} ", end="")
        print(f"({batch / ours:.1f} x); {result['texts']} texts")
        print(f"  most costly: {worst[0]}, {worst[1] / ours:.1f} x the byte of these texts")
        if json_file:
            with Path(json_file).open("a", encoding="utf-8") as out:
                out.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
