# SPDX-License-Identifier: Apache-2.0
"""Links small programs without an operating system, with what looks like a model in them, and its generated folder."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classify_program import tool

# A model of one layer pair: [2][64] weights and a bias, the first table, tokenizer and Unicode tables.
SOURCE = """
extern "C" {
extern const signed char etch_tiny_word_embeddings_table[256] __attribute__((aligned(64)));
extern const signed char etch_tiny_key_weights[2][64] __attribute__((aligned(64)));
extern const float etch_tiny_key_bias[2][4] __attribute__((aligned(64)));
extern const unsigned char etch_tiny_piece_text[33] __attribute__((aligned(64)));
const signed char etch_tiny_word_embeddings_table[256] = {1, 2, 3};
const signed char etch_tiny_key_weights[2][64] = {{4}, {5}};
const float etch_tiny_key_bias[2][4] = {{1.0f}, {2.0f}};
const unsigned char etch_tiny_piece_text[33] = {7};
}
namespace etch {
inline namespace abi9 {
namespace tokenizer {
extern const unsigned short kLeaves[50];
const unsigned short kLeaves[50] = {1};
__attribute__((noinline)) int length(int i) { return i + kLeaves[i]; }
}
namespace scalar {
__attribute__((noinline)) int kernel(int i) { return i * i; }
}
}
namespace tiny {
__attribute__((noinline)) int classify(int i) {
    return tokenizer::length(i) + scalar::kernel(i) + etch_tiny_word_embeddings_table[i] + etch_tiny_key_weights[1][i] +
           int(etch_tiny_key_bias[1][i & 3]) + etch_tiny_piece_text[i & 31];
}
}
}
struct Session { unsigned char arena[1000]; int beside[3]; };
Session session;
volatile int answer;
extern "C" void start() {
    session.beside[0] = 1;
    session.arena[5] = 2;
    answer = etch::tiny::classify(answer + session.beside[0]);
    for (;;) {}
}
"""
# The same with tables as C++ arrays, and constants beside them that are no tables.
_BESIDE = """const unsigned char piece_text[33] = {7};
struct Weights { const signed char* weights; };
extern const Weights kKey[2];
const Weights kKey[2] = {{key_weights[0]}, {key_weights[1]}};
const Weights* volatile kUsed = kKey;
"""
C_FORM = SOURCE.replace('extern "C" {\nextern', "namespace etch::tiny {\nextern").replace("etch_tiny_", "")
C_FORM = C_FORM.replace("const unsigned char piece_text[33] = {7};\n", _BESIDE)
PARTS = {
    "word_embeddings_table": ("word_embeddings", 0, bytes([1, 2, 3]) + bytes(253)),
    "key_weights": ("key", 2, bytes([4]) + bytes(63) + bytes([5]) + bytes(63)),
    "key_bias": ("key", 2, bytes.fromhex("0000803f") + bytes(12) + bytes.fromhex("00000040") + bytes(12)),
    "piece_text": ("tokenizer", 0, bytes([7]) + bytes(32)),
}
COMPILERS = {
    "": ("-fcf-protection=none", "-fno-pic", "-no-pie", "-Wl,-z,norelro"),
    "arm-none-eabi-": ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mthumb", "-Wl,--no-warn-rwx-segments"),
}


@dataclass(frozen=True)
class Linker:
    """Compiles and links with the GCC that the prefix names; "" is this machine's."""

    prefix: str
    folder: Path

    def __call__(self, source: str = SOURCE, *flags: str) -> Path:
        code, elf = self.folder / "program.cpp", self.folder / "program.elf"
        code.write_text(source)
        options = ("-std=c++17", "-O2", "-ffreestanding", "-fno-exceptions", "-fno-asynchronous-unwind-tables")
        options += ("-ffunction-sections", "-fdata-sections", "-nostdlib", "-static")
        options += ("-Wl,-e,start", "-Wl,--build-id=none")
        command = [tool(f"{self.prefix}g++"), *options, *COMPILERS[self.prefix], *flags, str(code), "-o", str(elf)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return elf


def manifest(**changes: Any) -> dict[str, Any]:
    """etch.json of that model."""
    content = {
        "generator": "0",
        "abi": 9,
        "name": "tiny",
        "task": "single_label",
        "recipe": "w8a8",
        "target": "host",
        "checkpoint_sha256": "00" * 32,
        "max_tokens": 8,
        "table_bytes": sum(len(data) for _, _, data in PARTS.values()),
        "arena_bytes": 1000,
        "arena_lower_bound": 1000,
        "stack_budget": 100,
        "table_list": {
            name: {"part": part, "layers": layers, "bytes": len(data)} for name, (part, layers, data) in PARTS.items()
        },
        "arena_ops": ["tokenize", "key", "classifier"],
        "arena_buffers": {
            "a": {"offset": 0, "bytes": 600, "first_op": 0, "last_op": 1},
            "b": {"offset": 600, "bytes": 400, "first_op": 1, "last_op": 1},
            "c": {"offset": 0, "bytes": 300, "first_op": 2, "last_op": 2},
        },
    }
    content |= changes
    tables = hashlib.sha256(b"".join(data for _, _, data in PARTS.values())).hexdigest()
    return {"files": {f"{content['name']}.tables": tables}} | content


def write_model(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "etch.json").write_text(json.dumps(manifest(**changes)))
    return folder


# The plan of the small model in two regions: the array beside, and the arena of the session.
REGIONS = {
    "regions": {
        "fast": {"bytes": 640, "lower_bound": 640, "room": 700, "cost": 1},
        "slow": {"bytes": 1000, "lower_bound": 1000, "room": 4096, "cost": 2},
    },
    "region_buffers": {
        "d": {"region": "fast", "offset": 0, "bytes": 640, "first_op": 0, "last_op": 1},
        "e": {"region": "fast", "offset": 0, "bytes": 100, "first_op": 2, "last_op": 2},
    },
}
WITH_REGIONS = SOURCE + "unsigned char beside[640];\nunsigned char* volatile used = beside;"
