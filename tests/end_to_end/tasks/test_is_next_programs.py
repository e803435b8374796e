# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded models of next sentences: in floats what the library computes, in every recipe and on every
kernel the emulator's bits; steps, batches of pairs, token ids, workers and the C functions give what single calls
give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from classify_program import Program
from evaluation_report import evaluated
from model_build import build_program
from recorded.outputs import folder
from recorded_tasks import compare_calls, emulated, generated, lowered, models_of, pair_lines, target_of, variants_of

from codegen import pipeline
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.interpret import Interpreter

QUICK = {"next/bert": ("w8a8",)}
TEXTS = (
    "the cat sat on the mat",
    "what is the price of oil",
    "unable to play [SEP] zzz",
    "",
    "the " * 30,
    "Café 33 up-up \u4e2d\u56fd \U0001f389",
)
PAIRS = [(first, second) for first in TEXTS for second in TEXTS]


@pytest.mark.parametrize("variant", variants_of("next", QUICK))
def test_probabilities_are_those_of_the_library(variant: str, shared: Path) -> None:
    """By the interpreter, which the recorded outputs hold to the library."""
    program = build_program(generated(variant, "fp32", shared))
    checkpoint = pipeline.load(folder(variant))
    interpreter = Interpreter(pipeline.to_graph(checkpoint, None))
    answers = program.well("--json", "--pairs", stdin=pair_lines(PAIRS)).objects
    tokenizer = text_tokenizer(checkpoint.tokenizer, 20)
    for answer, encoding in zip(answers, tokenizer.encode_batch(PAIRS), strict=True):
        logits = interpreter.output(encoding.ids, encoding.type_ids)
        assert np.abs(np.array(answer["logits"]) - logits).max() < 1e-4
        assert answer["probability"] == pytest.approx(1 / (1 + np.exp(logits[1] - logits[0])), abs=1e-4)
        assert answer["tokens"] == len(encoding.ids)


@pytest.mark.parametrize(("variant", "recipe"), models_of("next", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    program, tokenizer = lowered(variant, recipe)
    meant = emulated(program, tokenizer.encode_batch(PAIRS))
    built = build_program(generated(variant, recipe, shared, target_of(recipe)))
    for kernel in built.well("--kernel", "list").lines:
        answers = built.well("--json", "--pairs", "--kernel", kernel, stdin=pair_lines(PAIRS)).objects
        found = np.array([answer["logits"] for answer in answers], np.float32)
        assert found.tobytes() == np.array(meant).tobytes(), kernel


def test_every_call_finds_the_same(shared: Path, tmp_path: Path) -> None:
    compare_calls(generated("next/bert", "w8a8", shared), "is_next_calls.cpp", TEXTS, tmp_path)


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("next/bert", "w8a8", shared))


def test_pairs_as_arguments_and_as_text(program: Program) -> None:
    (answer,) = program.well("--json", "--pair", "the cat", "sat").objects
    assert set(answer) == {"probability", "logits", "tokens", "truncated"}
    (line,) = program.well("--pair", "the cat", "sat").lines
    assert line == f"{answer['probability']:.4f}"
    (first, second) = program.well("--json", "--pair", "a", "b", "--pair", "the cat", "sat", "--threads", "2").objects
    assert second == answer != first


def test_evaluation(program: Program, tmp_path: Path) -> None:
    answers = program.well("--json", "--pairs", stdin=pair_lines(PAIRS)).objects
    labels = [0 if answer["logits"][0] >= answer["logits"][1] else 1 for answer in answers]
    path = tmp_path / "pairs.tsv"
    for names, wrong in ((("0", "1"), 0), (("next", "random"), 1)):
        rows = [(names[label], *pair) for label, pair in zip(labels, PAIRS, strict=True)]
        rows[0] = (names[1 - labels[0]] if wrong else names[labels[0]], *PAIRS[0])
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        out = evaluated(program, path, *(("--labels", "0") if names[0] == "0" else ()))[0].out.decode()
        assert f"accuracy: {100 * (len(rows) - wrong) / len(rows):.2f} %" in out
        assert f"rows: {len(rows)}" in out


@pytest.mark.parametrize(
    ("code", "arguments", "words"),
    [
        (2, ("--top", "2", "--pair", "a", "b"), "which tells whether a text follows another"),
        (2, ("--pairs", "a"), "--pairs reads lines"),
        (2, ("--evaluate", "rows.txt"), "expected a file named .csv, .tsv or .jsonl"),
    ],
)
def test_wrong_use(program: Program, code: int, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(code, *arguments)


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("next\tone text\n", 2, "needs two text columns, there are 1"),
        ("maybe\ta\tb\n", 1, "line 1: unknown label 'maybe'"),
        ("", 1, "no rows"),
    ],
)
def test_files_refused(program: Program, content: str, code: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text(content)
    assert words in program.refused(code, "--evaluate", path)
