# SPDX-License-Identifier: Apache-2.0
"""A model so wide that no block of rows fits the second cache, so that each CPU goes through it in blocks of its own:
the emulator's bits, whichever kernels compute, however many threads, and in steps."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from kernel_outputs import IdsProgram
from model_build import build_program
from once import once
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

TEXTS = ["the cat sat on the dog", "a man " * 45, "the cat " * 300]


def test_the_emulators_bits_on_every_kernel(shared: Path, tmp_path: Path) -> None:
    checkpoint, out = tmp_path / "checkpoint", shared / "wide" / "wide"
    write_tiny_checkpoint(checkpoint, hidden=1024, heads=8, intermediate=2048, max_positions=256)
    once(out.parent / "made", "wide", lambda: pipeline.generate(pipeline.Request(checkpoint, out), lambda _: None))
    source = (out / "wide.cpp").read_text(encoding="utf-8")
    (rows,) = re.findall(r"kRowBlock = (\d+);", source)
    assert 80 < int(rows) < 256  # more than kernel sets want
    assert source.count("RowBlocks(count, block_rows(run.kernels(), count, kRowBlock))") == 1

    loaded = pipeline.load(checkpoint)
    program = pipeline.lower(loaded, "w8a8", None)
    tokenizer = text_tokenizer(loaded.tokenizer, program.max_tokens)
    ids = [tokenizer.encode(text).ids for text in TEXTS]
    assert max(map(len, ids)) == 256
    asked = [Text(one, [0] * len(one)) for one in ids]
    meant = emulate_texts(program, asked)
    built = build_program(out)
    lines = "".join(f"{text}\n" for text in TEXTS).encode()
    for kernel in built.well("--kernel", "list").lines:
        for threads in ("1", "2"):
            answers = built.well("--json", "--kernel", kernel, "--threads", threads, stdin=lines).objects
            found = np.array([answer["logits"] for answer in answers], np.float32)
            assert found.tobytes() == meant.tobytes(), (kernel, threads)

    in_steps = IdsProgram.of(out, "logits", tmp_path / "steps")
    found = in_steps.outputs(in_steps.kernels()[0], asked)
    assert found.tobytes() == meant.tobytes()
