# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded classifiers of entailment: in floats what the pipeline says, in every recipe and on every
kernel the emulator's bits; labels, hypotheses, steps, batches, token ids and the C functions say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from evaluation_report import evaluated
from model_build import build_program
from recorded.outputs import folder
from recorded_tasks import (
    compare_calls,
    emulated,
    lowered,
    models_of,
    pair_lines,
    recorded_cases,
    target_of,
    variants_of,
)
from recorded_tasks import generated as generated_of_task

from codegen.library_tokenizer.wheel_tokenizer import can_be_cut
from codegen.verification import verify

QUICK = {"zero/bert": ("w8a8",), "zero/roberta": ("fp32",), "zero/bart": ("fp32",), "zero/mt5": ("w8a8",)}
LABELS = ("cats", "up, down", "the oil price")
PAIRS = [
    (text, hypothesis)
    for text in ("the cat sat", "", "dogs " * 30, "Café up-up")
    for hypothesis in ("what is up", "", "the " * 12, "This example is cats.")
]


def generated(variant: str, recipe: str, shared: Path, target: str = "host") -> Path:
    """Asked for labels of a call."""
    return generated_of_task(variant, recipe, shared, target, "zero-shot")


def asked(case: dict[str, Any]) -> list[str]:
    """The options of a recorded case."""
    labels = [part for label in case["asked"] for part in ("--label", label)]
    template = case.get("hypothesis_template")
    return [
        *labels,
        *(["--multi-label"] if case.get("multi_label") else []),
        *(["--template", template] if template else []),
    ]


@pytest.mark.parametrize("variant", variants_of("zero", QUICK))
def test_scores_are_those_of_the_pipeline(variant: str, shared: Path) -> None:
    """Long texts are cut, hypotheses are not."""
    program = build_program(generated(variant, "fp32", shared))
    cut = 0
    for case in recorded_cases(variant):
        (answer,) = program.well("--json", *asked(case), "--", case["text"]).objects
        assert answer["labels"] == case["labels"]
        assert np.abs(np.array(answer["scores"]) - np.array(case["scores"])).max() < 2e-5
        cut += answer["truncated"]
    assert cut > 0


@pytest.mark.parametrize(("variant", "recipe"), models_of("zero", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    program, tokenizer = lowered(variant, recipe, "zero-shot")
    pairs = [pair for pair in PAIRS if can_be_cut(tokenizer, *pair)]
    encodings = tokenizer.encode_batch(pairs)
    meant = np.array(emulated(program, encodings))
    built = build_program(generated(variant, recipe, shared, target_of(recipe)))
    for kernel in built.well("--kernel", "list").lines:
        answers = built.well("--json", "--logits", "--pairs", "--kernel", kernel, stdin=pair_lines(pairs)).objects
        assert [answer["tokens"] for answer in answers] == [len(e.ids) for e in encodings]
        found = np.array([answer["logits"] for answer in answers], np.float32)
        if recipe != "fp32":
            assert found.tobytes() == meant.tobytes(), kernel
        assert np.abs(found - meant).max() < 1e-4


def test_every_call_finds_the_same(shared: Path, tmp_path: Path) -> None:
    texts = ("the cat sat on the mat", *LABELS, "", "Café 33")
    compare_calls(generated("zero/bert", "w8a8", shared), "zero_shot_calls.cpp", texts, tmp_path)


def test_verify_compares_it(shared: Path) -> None:
    out = generated("zero/bert", "w8a8", shared)
    built = build_program(out)
    lines: list[str] = []
    code = verify.verify(out, folder("zero/bert"), None, lines.append, find_program=lambda *_: built.path)
    assert code == 0, lines


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("zero/bert", "w8a8", shared))


def test_labels_as_a_list_and_one_by_one(program: Program) -> None:
    options = [part for label in LABELS for part in ("--label", label)]
    (answer,) = program.well("--json", *options, "the cat sat").objects
    assert set(answer) == {"labels", "scores", "tokens", "truncated"}
    assert sorted(answer["labels"]) == sorted(LABELS)
    assert answer["scores"] == sorted(answer["scores"], reverse=True)
    assert sum(answer["scores"]) == pytest.approx(1, abs=1e-6)
    lines = b"the cat sat\n" * 5
    assert program.well("--json", *options, "--threads", "2", stdin=lines).objects == [answer] * 5
    (listed,) = program.well("--json", "--labels", " cats, up ,down,", "up").objects
    assert sorted(listed["labels"]) == ["cats", "down", "up"]
    (shown,) = program.well(*options, "--top", "2", "the cat sat").lines
    parts = shown.split("\t")
    assert [parts[0].strip(), parts[2].strip()] == answer["labels"][:2]
    assert parts[1] == f"{answer['scores'][0]:.4f}"


def test_evaluation(program: Program, tmp_path: Path) -> None:
    texts = ["the cat sat", "what is oil", "dogs up"]
    found = program.well("--json", "--labels", "cats,up", stdin="".join(f"{t}\n" for t in texts).encode()).objects
    best = [answer["labels"][0] for answer in found]
    path = tmp_path / "rows.tsv"
    path.write_text("".join(f"{label}\t{text}\n" for label, text in zip(best, texts, strict=True)))
    assert "accuracy: 100.00 %" in evaluated(program, path, "--labels", "cats,up")[0].out.decode()
    path.write_text(f"cats\t{texts[0]}\nup\t{texts[0]}\n")
    assert "accuracy: 50.00 %" in program.well("--evaluate", path).out.decode()
    assert "line 2: unknown label 'up'" in program.refused(1, "--evaluate", path, "--label", "cats")


def test_usage(program: Program) -> None:
    assert program.well("--help").lines[0] == f"usage: {program.path.name} [OPTION…] --labels A,B,… [TEXT…]"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a",), "which labels?"),
        (("--labels", " , ,", "a"), "there is no label"),
        (("--labels", "a", "--template", "no label", "a"), "expected {} once"),
        (("--labels", "a", "--template", "{} and {}", "a"), "expected {} once"),
        (("--labels", "a", "--template", "{0} {}", "a"), "expected {} once"),
        (("--labels", "a", "--logits", "--json", "a"), "--logits goes with --json, and not with labels"),
        (("--labels", "a", "--pairs"), "they go with --json --logits"),
        (("--labels", "a", "--json", "--top", "1", "a"), "--top and --json"),
        (("--labels", "a", "--labels", "b", "a"), "--labels is given twice"),
    ],
)
def test_wrong_use(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(2, *arguments)


def test_a_hypothesis_that_leaves_no_room_is_refused(program: Program) -> None:
    words = "the hypothesis of a label leaves no room for the text"
    assert words in program.refused(1, "--label", "up " * 40, "the cat sat")
    assert words in program.refused(1, "--json", "--logits", "--pair", "up", "cats " * 40)
