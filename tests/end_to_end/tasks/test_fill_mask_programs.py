# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded masked language models: in floats the candidates of the library's pipeline, in every recipe
and on every kernel the emulator's bits; batches, steps, token ids and the C functions give what single texts give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from evaluation_report import evaluated
from model_build import build_program
from recorded.outputs import folder
from recorded_tasks import check_bits_on_every_kernel, compare_calls, generated, models_of, recorded_cases, variants_of

from codegen import pipeline
from codegen.ir.task import Task
from codegen.verification.verify import verify

LARGEST_DIFFERENCE = 1e-5
QUICK = {"masks/bert": ("fp32", "w8a8"), "masks/roberta": ("fp32",), "masks/esm": ("fp32",)}


def texts_of(variant: str) -> list[str]:
    """Those of the pipeline, some without masks, and one with more masks than go through the vocabulary together."""
    mask = pipeline.to_graph(pipeline.load(folder(variant)), None).task.golden_texts[0].split(" ")[1]
    texts = [case["text"] for case in recorded_cases(variant) if "\n" not in case["text"]]
    return [*texts, "no cats", "", f"{mask} a " * 9]


def masks(program: Program, text: str, *options: str) -> list[list[dict[str, Any]]]:
    return program.well("--json", *options, "--", text).objects[0]["masks"]


@pytest.mark.parametrize("variant", variants_of("masks", QUICK))
def test_candidates_are_those_of_the_pipeline(variant: str, shared: Path) -> None:
    program = build_program(generated(variant, "fp32", shared))
    for case in recorded_cases(variant):
        found = masks(program, case["text"])
        assert [[c["id"] for c in mask] for mask in found] == [[token for token, _ in mask] for mask in case["masks"]]
        scores = np.array([[score for _, score in mask] for mask in case["masks"]])
        assert np.abs(np.array([[c["probability"] for c in mask] for mask in found]) - scores).max() < (
            LARGEST_DIFFERENCE
        )


@pytest.mark.parametrize("variant", variants_of("masks", QUICK))
def test_scores_are_those_of_the_library(variant: str, shared: Path) -> None:
    """A loop over the tokens of each text, of one that is cut, too; and the same bits on every kernel."""
    program = build_program(generated(variant, "fp32", shared))
    for case in recorded_cases(variant, "scores.json"):
        (answer,) = program.well("--json", "--score", "--", case["text"]).objects
        assert set(answer) == {"score", "scored", "tokens", "truncated"}
        assert answer["scored"] == case["scored"]
        assert abs(answer["score"] - case["score"]) <= 1e-5 * max(1, abs(case["score"]))
    assert answer["truncated"]
    lines = "".join(f"{case['text']}\n" for case in recorded_cases(variant, "scores.json")).encode()
    kernels = program.well("--kernel", "list").lines
    found = {program.well("--json", "--score", "--kernel", kernel, stdin=lines).out for kernel in kernels}
    assert found == {program.well("--json", "--score", "--threads", "2", stdin=lines).out}
    score = np.float32(answer["score"])  # JSON has as many digits as tell it from its neighbours
    assert program.well("--score", case["text"]).lines == [f"{score:.4f}"]


@pytest.mark.parametrize(("variant", "recipe"), models_of("masks", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    def answer(program: Program, task: Task, text: str, *options: str) -> dict[str, Any]:
        return {"masks": masks(program, text, *task.options, *options)}

    check_bits_on_every_kernel(variant, recipe, shared, texts_of(variant), answer)


@pytest.mark.parametrize(("variant", "recipe", "target"), [
    ("masks/bert", "w8a8", "host"),
    pytest.param("masks/bert", "w8a8", "m-profile", marks=pytest.mark.sweep),
    pytest.param("masks/albert", "fp32", "host", marks=pytest.mark.sweep),
])  # fmt: skip
def test_every_call_finds_the_same(variant: str, recipe: str, target: str, shared: Path, tmp_path: Path) -> None:
    texts = texts_of(variant)
    compare_calls(generated(variant, recipe, shared, target), "fill_mask_calls.cpp", texts, tmp_path)


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("masks/bert", "w8a8", shared))


def test_the_program_of_its_name(program: Program) -> None:
    assert program.path.name == "fill-mask-bert_w8a8_host"


def test_help_says_how_a_mask_is_written(program: Program, shared: Path) -> None:
    assert program.well("--help").lines[-1].endswith(", a mask is written [MASK], 16 candidates of each")
    other = build_program(generated("masks/roberta", "fp32", shared))
    assert ", a mask is written <mask>, " in other.well("--help").lines[-1]


def test_lines_threads_and_batches(program: Program, tmp_path: Path) -> None:
    texts = texts_of("masks/bert")
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    alone = [program.well("--json", "--", text).objects[0] for text in texts]
    for options in ((), ("--threads", "2")):
        assert program.well("--json", "--file", path, *options).objects == alone
    for text, answer in zip(texts, alone, strict=True):
        lines = program.well("--top", "2", "--", text).lines
        shown = [[f for c in mask[:2] for f in (c["token"], f"{c['probability']:.4f}")] for mask in answer["masks"]]
        assert [line.split("\t") for line in lines if line] == shown
    pair = program.well("--json", "--pair", "the [MASK]", "[MASK] sat").objects[0]
    assert len(pair["masks"]) == 2


def test_evaluation(shared: Path, tmp_path: Path) -> None:
    program = build_program(generated("masks/roberta", "fp32", shared))
    text = "<mask> cats: <mask> of"
    path = tmp_path / "rows.tsv"
    places, pieces = [], []
    for mask in masks(program, text, "--top", "16"):
        names = [candidate["token"].removeprefix(" ") for candidate in mask]
        place = next(i for i, name in enumerate(names) if name.isalnum() and name.isascii())
        places.append(place)
        pieces.append(names[place])
    path.write_text(f"{';'.join(pieces)}\t{text}\n")
    out = evaluated(program, path)[0].out.decode()
    assert f"top-1 accuracy: {100 * sum(place == 0 for place in places) / 2:.2f} %" in out
    assert f"top-5 accuracy: {100 * sum(place < 5 for place in places) / 2:.2f} %" in out
    assert "masks: 2" in out
    assert min(places) < 5
    path.write_text(f"none;of these\t{text}\n")
    assert "top-5 accuracy: 0.00 %" in program.well("--evaluate", path).out.decode()
    path.write_text(f"one\t{text}\n")
    assert "line 1: the text has 2 masks, the label 1 pieces, separated by ;" in program.refused(1, "--evaluate", path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--top", "17", "a"), "has 16 candidates of a mask"),
        (("--score", "--top", "1", "a"), "--score and --top cannot be used together"),
        (("--score", "--pair", "a", "b"), "--score and --pair cannot be used together"),
        (("--score", "--evaluate", "a.tsv"), "--score does not go with --evaluate"),
        (("--top", "0", "a"), "--top: expected a number from 1"),
        (("--aggregation", "first", "a"), "which fills masks"),
        (("--labels", "names", "a"), "--labels does not go with model"),
        (("--similarity", "a", "b"), "--similarity does not go with model"),
    ],
)
def test_wrong_use(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(2, *arguments)


def test_hostile_texts(program: Program) -> None:
    for text, count in (
        ("[MASK]" * 1000, 18),
        ("cat " * 300_000 + "[MASK]", 0),
        ("[MASK] " + "\u0301" * 50_000, 1),
        ("[MASK] cat [MASK]", 2),
        ("[MASK", 0),
    ):
        answer = program.well("--json", stdin=text.encode() + b"\n").objects[0]
        assert len(answer["masks"]) == count, text[:20]
        for mask in answer["masks"]:
            probabilities = [candidate["probability"] for candidate in mask]
            assert sorted(probabilities, reverse=True) == probabilities
            assert 0 < sum(probabilities) <= 1
    program.well("--json", stdin=b"\xc3 [MASK] \xff\n")
    assert masks(program, "a [MASK]", "--plain-text") == []


def test_verify_and_the_self_test(shared: Path) -> None:
    out = generated("masks/bert", "w8a8", shared)
    program = build_program(out)
    said: list[str] = []
    assert verify(out, folder("masks/bert"), None, said.append, find_program=lambda *_: program.path) == 0, said
    assert any(line.startswith("contract     0 with probabilities other") for line in said), said
    program.well("--self-test")
