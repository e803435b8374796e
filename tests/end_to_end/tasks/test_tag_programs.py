# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded token classifiers: in floats the entities of the library's pipeline, in every recipe and on
every kernel the emulator's bits; batches, steps, token ids and the C functions give what single texts give."""

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
    bytes_of,
    check_bits_on_every_kernel,
    compare_calls,
    emulated,
    generated,
    models_of,
    recorded_cases,
    variants_of,
)

from codegen import pipeline
from codegen.ir.task import Task
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

LARGEST_DIFFERENCE = 1e-4
QUICK = {"tags/bert": ("fp32", "w8a8"), **dict.fromkeys(("tags/modernbert_gemma", "tags/mpnet", "tags/t5"), ("fp32",))}


def tags(program: Program, text: str, *options: str) -> dict[str, Any]:
    return program.well("--json", *options, "--", text).objects[0]


@pytest.mark.parametrize("variant", variants_of("tags", QUICK))
def test_entities_are_those_of_the_pipeline(variant: str, shared: Path) -> None:
    program = build_program(generated(variant, "fp32", shared))
    seen = 0
    for case in recorded_cases(variant):
        text = case["text"]
        found = tags(program, text, "--aggregation", case["aggregation"])["entities"]
        expected = [(label, bytes_of(text, begin), bytes_of(text, end)) for label, _, begin, end in case["entities"]]
        assert [(e["label"], e["start"], e["end"]) for e in found] == expected, case
        scores = np.array([score for _, score, _, _ in case["entities"]])
        assert np.abs(np.array([e["score"] for e in found]) - scores).max(initial=0) < LARGEST_DIFFERENCE
        assert all(e["text"] == text.encode()[e["start"] : e["end"]].decode() for e in found)
        seen += len(found)
    assert seen > 50


@pytest.mark.parametrize(("variant", "recipe"), models_of("tags", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    def answer(program: Program, task: Task, text: str, *options: str) -> dict[str, Any]:
        return tags(program, text, "--probabilities", *options)

    texts = list(dict.fromkeys(case["text"] for case in recorded_cases(variant)))
    check_bits_on_every_kernel(variant, recipe, shared, texts, answer)


@pytest.mark.parametrize(("variant", "recipe", "target"), [
    ("tags/bert", "w8a8", "host"),
    pytest.param("tags/bert", "w8a8", "m-profile", marks=pytest.mark.sweep),
    pytest.param("tags/albert", "fp32", "host", marks=pytest.mark.sweep),
])  # fmt: skip
def test_every_call_finds_the_same(variant: str, recipe: str, target: str, shared: Path, tmp_path: Path) -> None:
    texts = dict.fromkeys(case["text"] for case in recorded_cases(variant))
    compare_calls(generated(variant, recipe, shared, target), "tag_calls.cpp", texts, tmp_path)


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("tags/bert", "w8a8", shared))


def test_lines_threads_and_batches(program: Program, tmp_path: Path) -> None:
    texts = [case["text"] for case in recorded_cases("tags/bert") if "\n" not in case["text"]]
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    alone = [tags(program, text) for text in texts]
    for options in ((), ("--threads", "2")):
        assert program.well("--json", "--file", path, *options).objects == alone
    text, answer = next((text, answer) for text, answer in zip(texts, alone, strict=True) if answer["entities"])
    (line,) = program.well("--", text).lines
    entity = answer["entities"][0]
    assert line.split("\t")[:2] == [entity["label"], entity["text"]]
    assert line.split("\t")[3:5] == [str(entity["start"]), str(entity["end"])]


def test_evaluation(program: Program, tmp_path: Path) -> None:
    words = ["the", "cat", "unable", "playing"]
    path = tmp_path / "rows.conll"
    path.write_text("".join(f"{word} x O\r\n" for word in words) + "\n\nberlin\tO")
    out = evaluated(program, path)[0].out.decode()
    assert "entity F1: 0.00 %" in out
    assert "texts: 2, words: 5, entities: 0, cut to 20 tokens: 0" in out


@pytest.mark.parametrize("variant", ["tags/bert", "tags/deberta-v2"])
def test_evaluation_takes_the_first_token_of_a_word(variant: str, shared: Path, tmp_path: Path) -> None:
    """As the wheel numbers the words; DeBERTa's tokens begin with the space before them."""
    program = build_program(generated(variant, "w8a8", shared))
    path = tmp_path / "rows.conll"
    checkpoint = pipeline.load(folder(variant))
    lowered = pipeline.lower(checkpoint, "w8a8", None)
    tokenizer = text_tokenizer(checkpoint.tokenizer, lowered.max_tokens)
    rows = []
    for text in ("the cat unable playing", "berlin"):
        encoding = tokenizer.encode(text)
        (outputs,) = emulated(lowered, [encoding])
        labels = [lowered.task.names[i] for i in outputs.argmax(axis=1)]
        firsts = {word: i for i, word in reversed(list(enumerate(encoding.word_ids))) if word is not None}
        rows += [f"{word} {labels[firsts[i]]}\n" for i, word in enumerate(text.split(" "))] + ["\n"]
    path.write_text("".join(rows))
    out = program.well("--evaluate", path).out.decode()
    assert "entity F1: 100.00 %" in out
    assert "words with the right label: 100.00 %" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--aggregation", "last", "a"), "--aggregation: expected none, simple, first, average or max, got 'last'"),
        (("--probabilities", "a"), "--probabilities only goes with --json"),
        (("--pair", "a", "b"), "--pair does not go with model"),
        (("--top", "2", "a"), "which tags texts"),
        (("--evaluate", "rows.csv"), "--evaluate: expected a file named .conll, .bio or .iob, got 'rows.csv'"),
    ],
)
def test_wrong_use(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(2, *arguments)


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "no texts"), ("a O\nb\n", "line 2: a word and its tag"), ("a B-X\n", "line 1: unknown label 'B-X'")],
)
def test_files_refused(program: Program, content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.conll"
    path.write_text(content)
    assert words in program.refused(1, "--evaluate", path)


def test_hostile_texts(program: Program) -> None:
    for text in ("cat " * 300_000, "\u0301" * 50_000, "[SEP]" * 1000, "\ufffd\u200b"):
        answer = program.well("--json", stdin=text.encode() + b"\n").objects[0]
        assert all(0 <= e["start"] < e["end"] <= len(text.encode()) for e in answer["entities"])
    program.well("--json", stdin=b"\xc3 cat \xff\n")


def test_a_word_that_is_cut_is_told(shared: Path) -> None:
    """Byte-level BPE takes words of a thousand bytes."""
    program = build_program(generated("tags/roberta", "w8a8", shared))
    for letters, is_cut in ((1000, False), (1100, True)):
        [tokens] = program.well("--tokens", "a" * letters).objects
        assert tokens["cut_word"] is is_cut
