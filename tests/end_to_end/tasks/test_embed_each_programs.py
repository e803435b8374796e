# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded models that give tokens vectors: in floats the library's vectors and scores of texts, in
every recipe and on every kernel the emulator's bits; batches, steps, token ids and the C functions give what single
texts give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from evaluation_report import evaluated
from model_build import build_program
from recorded.outputs import folder
from recorded_tasks import compare_calls, generated, models_of, variants_of

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.verification.verify import verify

LARGEST_DIFFERENCE = 1e-4
QUICK = {"vectors/bert": ("fp32", "w8a8"), "vectors/modernbert": ("fp32",), "vectors/pylate": ("fp32",)}
SIDES = {"query": ("--query",), "document": ()}


def texts_of(variant: str) -> dict[str, Any]:
    return json.loads((folder(variant) / "texts.json").read_text(encoding="utf-8"))


def vectors(program: Program, text: str, *options: str) -> np.ndarray:
    return np.array(program.well("--json", *options, "--", text).objects[0]["vectors"], np.float32)


@pytest.mark.parametrize("variant", variants_of("vectors", QUICK))
def test_vectors_and_scores_are_those_of_the_library(variant: str, shared: Path) -> None:
    program, said = build_program(generated(variant, "fp32", shared)), texts_of(variant)
    for side, options in SIDES.items():
        for text, expected in said[side]:
            found = vectors(program, text, *options)
            assert found.shape == np.shape(expected)
            assert np.abs(found - expected).max() < LARGEST_DIFFERENCE * max(1, np.abs(expected).max())
    for (query, _), scores in zip(said["query"], said["scores"], strict=True):
        for (document, _), expected in zip(said["document"], scores, strict=True):
            (line,) = program.well("--similarity", query, document).lines
            assert abs(float(line) - expected) < LARGEST_DIFFERENCE * max(1, abs(expected))


@pytest.mark.parametrize(("variant", "recipe"), models_of("vectors", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    target = "m-profile" if recipe == "w4a8" else "host"
    checkpoint = pipeline.load(folder(variant))
    program = pipeline.lower(checkpoint, recipe, None)
    built = build_program(generated(variant, recipe, shared, target))
    kernels = built.well("--kernel", "list").lines
    for name, options in SIDES.items():
        side = getattr(program.task, name)
        tokenizer = text_tokenizer(checkpoint.tokenizer, side.longest(program.max_tokens))
        texts = [text for text, _ in texts_of(variant)[name]]
        read = [side.filled(tokenizer.encode(side.prompt + text).ids) for text in texts]
        for text, tokens, rows in zip(texts, read, emulate_texts(program, read), strict=True):
            kept = side.kept(tokens.ids)
            for kernel in kernels:
                answer = built.well("--json", "--rows", *options, "--kernel", kernel, "--", text).objects[0]
                assert np.array(answer["rows"], np.float32).tobytes() == rows.tobytes(), kernel
                assert answer["kept"] == kept.tolist()
                assert np.array(answer["vectors"], np.float32).tobytes() == rows[kept].tobytes()
                assert answer["tokens"] == len(tokens.ids)


@pytest.mark.parametrize(("variant", "recipe", "target"), [
    ("vectors/bert", "w8a8", "host"),
    ("vectors/bert_min", "w8a8", "host"),
    pytest.param("vectors/bert", "w8a8", "m-profile", marks=pytest.mark.sweep),
    pytest.param("vectors/modernbert", "fp32", "host", marks=pytest.mark.sweep),
])  # fmt: skip
def test_every_call_finds_the_same(variant: str, recipe: str, target: str, shared: Path, tmp_path: Path) -> None:
    said = texts_of(variant)
    texts = [text for side in SIDES for text, _ in said[side]]
    compare_calls(generated(variant, recipe, shared, target), "embed_each_calls.cpp", texts, tmp_path)


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("vectors/bert", "w8a8", shared))


def test_the_program_of_its_name(program: Program) -> None:
    assert program.path.name == "embed-each-bert_w8a8_host"


def test_lines_threads_and_batches(program: Program, tmp_path: Path) -> None:
    texts = ["the cat", "", "what is the good news of . Berlin?", "a dog . . of of"]
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    for options in SIDES.values():
        alone = [program.well("--json", *options, "--", text).objects[0] for text in texts]
        assert all(set(answer) == {"vectors", "tokens", "truncated"} for answer in alone)
        for more in ((), ("--threads", "2"), ("--rows",)):
            found = program.well("--json", "--file", path, *options, *more).objects
            assert [{key: answer[key] for key in alone[0]} for answer in found] == alone
        lines = program.well("--file", path, *options).lines
        assert lines == [f"{len(answer['vectors'])} vectors of 6 values" for answer in alone]
    document = program.well("--json", "--as-written", "--", "is the cat").objects[0]
    assert document == program.well("--json", "--", "the cat").objects[0]
    pair = program.well("--json", "--similarity", "the cat", "a dog .").objects[0]
    assert pair["tokens"] == [9, 6]
    assert pair["truncated"] == [False, False]


def test_evaluation(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    pairs = [("the cat", "the cat sat"), ("a dog", "what news"), ("oil price", "good oil"), ("", ".")]
    scores = [program.well("--similarity", *pair).lines[0] for pair in pairs]
    path.write_text("".join(f"{score}\t{a}\t{b}\n" for score, (a, b) in zip(scores, pairs, strict=True)))
    out = evaluated(program, path)[0].out.decode()
    assert "Spearman: 1\n" in out
    path.write_text("x\ta\tb\n")
    assert "expected a score, which is a number" in program.refused(1, "--evaluate", path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rows", "a"), "--rows only goes with --json"),
        (("--query", "--similarity", "a", "b"), "--query does not go with --similarity"),
        (("--pair", "a", "b"), "which gives tokens vectors"),
        (("--aggregation", "first", "a"), "which gives tokens vectors"),
    ],
)
def test_wrong_use(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(2, *arguments)


def test_hostile_texts(program: Program) -> None:
    for text in ("[MASK]" * 1000, "cat " * 300_000, "[MASK] " + "\u0301" * 50_000, ". " * 90, "\x01"):
        for options in SIDES.values():
            answer = program.well("--json", *options, stdin=text.encode() + b"\n").objects[0]
            lengths = np.sqrt((np.array(answer["vectors"]) ** 2).sum(axis=1))
            assert np.abs(lengths - 1).max() < 1e-5
    program.well("--json", stdin=b"\xc3 \xff\n")


def test_verify_and_the_self_test(shared: Path) -> None:
    out = generated("vectors/bert", "w8a8", shared)
    program = build_program(out)
    said: list[str] = []
    assert verify(out, folder("vectors/bert"), None, said.append, find_program=lambda *_: program.path) == 0, said
    assert any(line.startswith("contract     0 with rows other") for line in said), said
    program.well("--self-test")
