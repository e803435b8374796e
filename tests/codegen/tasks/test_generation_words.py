# SPDX-License-Identifier: Apache-2.0
"""Spelling to phonemes with bart_g2p_us, a trained model: programs write what `transformers` wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from codegen.emulate.generation import Generation
from codegen.frontends.encoder_decoders import bart
from codegen.ir import program as p
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights
from codegen.lower import lower
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES

HERE = Path(__file__).resolve().parents[1] / "generation"
WORDS: list[tuple[str, list[int], list[int]]] = json.loads((HERE / "bart_g2p_us.json").read_text(encoding="utf-8"))


def folder() -> Path:
    models = os.environ.get("ETCH_MODELS")
    if models is None:
        pytest.skip("ETCH_MODELS is not set")
    return Path(models) / "bart_g2p_us"


@cache
def interpreter() -> Interpreter:
    files = CheckpointFolder(folder())
    return Interpreter(
        bart.FAMILY.graph_of(Config.from_json(files.read_json("config.json")), open_weights(files)[0], 64, 63)
    )


@cache
def program(recipe: str) -> p.Program:
    return lower(interpreter().graph, RECIPES[recipe])


def differing(recipe: str, words: list[tuple[str, list[int], list[int]]]) -> int:
    """Words that the program writes otherwise."""
    written = (Generation(program(recipe), ids, [0] * len(ids)).greedy()[0] for _, ids, _ in words)
    return sum(ours != theirs for ours, (_, _, theirs) in zip(written, words, strict=True))


def test_the_interpreter() -> None:
    for _, ids, written in WORDS[:6]:
        assert interpreter().generate(ids, [0] * len(ids)) == written


@pytest.mark.parametrize(("recipe", "words", "most"), [("fp32", 12, 0), ("w8a8", len(WORDS), 3)])
def test_programs(recipe: str, words: int, most: int) -> None:
    assert differing(recipe, WORDS[:words]) <= most


@pytest.mark.sweep
def test_a_thousand_words(tmp_path: Path) -> None:
    """Where the library is installed: every word in fp32, nearly all in w8a8."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    out = tmp_path / "words.json"
    script = [sys.executable, HERE / "record_words.py", folder(), "--every", "90", "--out", out]
    subprocess.run(script, check=True, capture_output=True)
    words = json.loads(out.read_text(encoding="utf-8"))
    assert len(words) >= 1000
    assert differing("fp32", words) == 0
    assert differing("w8a8", words) <= len(words) // 25
