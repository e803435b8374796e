# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded models that choose: in floats what the library computes, in every recipe and on every kernel
the emulator's bits; pairs, steps, batches, token ids and the C functions give what whole choices give."""

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

QUICK = {"choices/electra": ("w8a8",), "choices/roberta": ("fp32",)}
PROMPT = "the cat sat on the mat"
CHOICES = ("what is the price", "", "unable to play zzz", "the " * 30, "Café 33 up-up", "up")
PAIRS = [(prompt, choice) for prompt in (PROMPT, "", "dogs " * 30) for choice in CHOICES]


@pytest.mark.parametrize("variant", variants_of("choices", QUICK))
def test_probabilities_are_those_of_the_library(variant: str, shared: Path) -> None:
    """By the interpreter, which the recorded outputs hold to the library."""
    program = build_program(generated(variant, "fp32", shared))
    checkpoint = pipeline.load(folder(variant))
    interpreter = Interpreter(graph := pipeline.to_graph(checkpoint, None))
    (answer,) = program.well("--json", "--prompt", PROMPT, *CHOICES).objects
    tokenizer = text_tokenizer(checkpoint.tokenizer, graph.max_tokens)
    encodings = tokenizer.encode_batch([(PROMPT, choice) for choice in CHOICES])
    scores = np.array([interpreter.output(e.ids, e.type_ids)[0] for e in encodings])
    weights = np.exp(scores - scores.max())
    assert np.abs(np.array(answer["scores"]) - scores).max() < 1e-4
    assert np.abs(np.array(answer["probabilities"]) - weights / weights.sum()).max() < 1e-4
    assert answer["choice"] == scores.argmax()
    assert answer["tokens"] == sum(len(e.ids) for e in encodings)


@pytest.mark.parametrize(("variant", "recipe"), models_of("choices", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    program, tokenizer = lowered(variant, recipe)
    meant = emulated(program, tokenizer.encode_batch(PAIRS))
    built = build_program(generated(variant, recipe, shared, target_of(recipe)))
    for kernel in built.well("--kernel", "list").lines:
        answers = built.well("--json", "--pairs", "--kernel", kernel, stdin=pair_lines(PAIRS)).objects
        assert all((a["probabilities"], a["choice"]) == ([1], 0) for a in answers)
        found = np.array([answer["scores"] for answer in answers], np.float32)
        if recipe != "fp32":
            assert found.tobytes() == np.array(meant).tobytes(), kernel
        assert np.abs(found - np.array(meant)).max() < 1e-4


def test_every_call_finds_the_same(shared: Path, tmp_path: Path) -> None:
    texts = (PROMPT, *CHOICES)
    compare_calls(generated("choices/electra", "w8a8", shared), "choose_calls.cpp", texts, tmp_path)


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("choices/electra", "w8a8", shared))


def test_prompts_as_arguments_and_as_lines(program: Program) -> None:
    (answer,) = program.well("--json", "--prompt", PROMPT, *CHOICES).objects
    assert set(answer) == {"choice", "probabilities", "scores", "tokens", "truncated"}
    assert sum(answer["probabilities"]) == pytest.approx(1, abs=1e-6)
    line = "\t".join((PROMPT, *CHOICES)) + "\n"
    assert program.well("--json", "--pairs", "--threads", "2", stdin=2 * line.encode()).objects == [answer, answer]
    order = sorted(range(len(CHOICES)), key=lambda i: -answer["scores"][i])
    (out,) = program.well("--prompt", PROMPT, "--top", "3", "--", *CHOICES).lines
    shown = [part for i in order[:3] for part in (CHOICES[i], f"{answer['probabilities'][i]:.4f}")]
    assert [part.rstrip(" ") for part in out.split("\t")] == [part.rstrip(" ") for part in shown]


def test_a_thousand_choices(program: Program) -> None:
    choices = [f"up {i % 7} the {'cat ' * (i % 11)}" for i in range(1000)]
    (answer,) = program.well("--json", "--pairs", stdin="\t".join((PROMPT, *choices)).encode() + b"\n").objects
    assert len(answer["probabilities"]) == 1000
    scores = np.array(answer["scores"])
    weights = np.exp(scores - scores.max())
    assert np.abs(np.array(answer["probabilities"]) - weights / weights.sum()).max() < 1e-6


def test_evaluation(program: Program, tmp_path: Path) -> None:
    rows = [(PROMPT, *CHOICES[:3]), ("dogs", *CHOICES[2:5]), ("", *CHOICES[3:])]
    lines = "".join("\t".join(row) + "\n" for row in rows)
    found = [answer["choice"] for answer in program.well("--json", "--pairs", stdin=lines.encode()).objects]
    path = tmp_path / "choices.tsv"
    for first, wrong, options in ((0, 0, ()), (1, 0, ("--labels", "1")), (0, 1, ("--labels=0",))):
        truths = [choice + first for choice in found]
        truths[0] = (truths[0] + wrong) % 3
        path.write_text("".join(f"{t}\t" + "\t".join(row) + "\n" for t, row in zip(truths, rows, strict=True)))
        out = evaluated(program, path, *options)[0].out.decode()
        assert f"accuracy: {100 * (3 - wrong) / 3:.2f} %" in out


def test_usage(program: Program) -> None:
    assert program.well("--help").lines[0] == f"usage: {program.path.name} [OPTION…] --prompt P CHOICE… | --pairs"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prompt", "a"), "--prompt needs choices"),
        (("a", "b"), "texts are choices: --prompt says of what"),
        (("--prompt", "a", "b\tc"), "has a TAB"),
        (("--prompt", "a", "--pairs"), "--prompt and --pairs cannot be used together"),
        (("--prompt", "a", "b", "--top", "2", "--json"), "--top and --json cannot be used together"),
        (("--pair", "a", "b"), "--pair does not go with model"),
    ],
)
def test_wrong_use(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(2, *arguments)


def test_lines_refused(program: Program) -> None:
    assert "a TAB stands before each choice, found 0" in program.refused(1, "--pairs", stdin=b"no choice\n")


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("0\tone text\n", 2, "columns of a prompt and its choices"),
        ("2\ta\tb\tc\n", 1, "line 1: expected a number from 0 to 1, got '2'"),
        ("x\ta\tb\tc\n", 1, "line 1: expected a number from 0 to 1, got 'x'"),
    ],
)
def test_files_refused(program: Program, content: str, code: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text(content)
    assert words in program.refused(code, "--evaluate", path)
