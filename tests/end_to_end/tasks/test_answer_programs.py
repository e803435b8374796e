# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded models that answer questions: in floats the answers of the library's pipeline, in every
recipe and on every kernel the emulator's bits; steps, batches, token ids and the C functions give what single questions
give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from evaluation_report import evaluated
from model_build import build_program
from recorded.outputs import recorded_answers
from recorded_tasks import bytes_of, compare_calls, emulated, generated, lowered, models_of, target_of, variants_of

QUICK = {"answers/bert": ("fp32", "w8a8"), **dict.fromkeys(("answers/modernbert_gemma", "answers/roberta"), ("fp32",))}

OPTIONS = {
    "top_k": "--top", "max_answer_len": "--longest", "doc_stride": "--stride", "max_seq_len": "--window",
}  # fmt: skip


def options_of(settings: dict[str, Any]) -> list[str]:
    options = [part for key, name in OPTIONS.items() if key in settings for part in (name, str(settings[key]))]
    options += ["--no-answer"] if settings.get("handle_impossible_answer") else []
    return options + ([] if settings.get("align_to_words", True) else ["--by-tokens"])


def answers(program: Program, question: str, context: str, *options: str) -> dict[str, Any]:
    return program.well("--json", *options, "--question", question, "--context", context).objects[0]


@pytest.mark.parametrize("variant", variants_of("answers", QUICK))
def test_answers_are_those_of_the_pipeline(variant: str, shared: Path) -> None:
    program = build_program(generated(variant, "fp32", shared))
    seen = windows = 0
    for case in recorded_answers(variant):
        context = case["context"]
        answer = answers(program, case["question"], context, *options_of(case["settings"]))
        found = [[a["text"], a["start"], a["end"]] for a in answer["answers"]]
        scores = [a["score"] for a in answer["answers"]]
        # Spans that are none have a score of 0 there; of equal scores any order is right.
        expected = [
            [text, bytes_of(context, begin), bytes_of(context, end), score]
            for text, score, begin, end in case["answers"]
            if score > 0
        ]
        assert len(found) >= len(expected), case
        meant = np.array([score for *_, score in expected])
        assert np.allclose(scores[: len(expected)], meant, rtol=1e-5, atol=1e-6), case
        for place, (text, begin, end, score) in enumerate(expected):
            near = [i for i, other in enumerate(scores) if abs(other - score) < 1e-5 * max(1, score)]
            assert [text, begin, end] in [found[i] for i in near], (place, case, answer)
        seen += len(expected)
        windows += answer["windows"]
    assert seen > 50
    assert windows > 1.5 * len(recorded_answers(variant))


@pytest.mark.parametrize(("variant", "recipe"), models_of("answers", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    program, tokenizer = lowered(variant, recipe)
    contexts = list(dict.fromkeys(case["context"] for case in recorded_answers(variant)))[:6]
    pairs = [("the dog?", context) for context in contexts]
    encodings = tokenizer.encode_batch(pairs)
    fitting = [i for i, encoding in enumerate(encodings) if not encoding.overflowing]
    meant = emulated(program, [encodings[i] for i in fitting])
    built = build_program(generated(variant, recipe, shared, target_of(recipe)))
    assert fitting
    for kernel in built.well("--kernel", "list").lines:
        for i, expected in zip(fitting, meant, strict=True):
            answer = answers(built, *pairs[i], "--logits", "--kernel", kernel)
            assert np.array(answer["logits"], np.float32).tobytes() == expected.tobytes(), kernel
        built.well("--self-test", "--kernel", kernel)


@pytest.mark.parametrize(("variant", "recipe", "target"), [
    ("answers/bert", "w8a8", "host"),
    pytest.param("answers/bert", "w8a8", "m-profile", marks=pytest.mark.sweep),
    pytest.param("answers/roberta", "fp32", "host", marks=pytest.mark.sweep),
])  # fmt: skip
def test_every_call_finds_the_same(variant: str, recipe: str, target: str, shared: Path, tmp_path: Path) -> None:
    texts = dict.fromkeys(case["context"] for case in recorded_answers(variant))
    compare_calls(generated(variant, recipe, shared, target), "answer_calls.cpp", texts, tmp_path)


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("answers/bert", "w8a8", shared))


def test_forms_of_input_and_output(program: Program, tmp_path: Path) -> None:
    question, context = "what cats", "the cat sat on the mat, unable to play"
    alone = answers(program, question, context, "--top", "3")
    assert len(alone["answers"]) == 3
    assert all(a["text"] == context[a["start"] : a["end"]] for a in alone["answers"])
    (tmp_path / "context.txt").write_text(context)
    of_file = program.well("--json", "--top=3", "--question", question, "--context-file", tmp_path / "context.txt")
    assert of_file.objects == [alone]
    assert program.well("--json", "--top=3", "--pair", question, context).objects == [alone]
    lines = f"{question}\t{context}\n".encode() * 2
    assert program.well("--json", "--top=3", "--pairs", "--threads", "2", stdin=lines).objects == [alone] * 2
    (of_text,) = program.well("--json", "--logits", stdin=b"the cat\n").objects
    assert of_text["answers"] == [] and len(of_text["logits"]) == of_text["tokens"]
    assert "logits" not in answers(program, question, context * 5, "--logits")  # of several windows
    (line,) = program.well("--question", question, "--context", context).lines
    best = alone["answers"][0]
    assert line.split("\t") == [best["text"], f"{best['score']:.4f}", str(best["start"]), str(best["end"])]


def test_evaluation(program: Program, tmp_path: Path) -> None:
    asked = [
        ("what cats", "the cat sat on the mat"),
        ("the dog?", "Playing cats in Berlin: dogs of Caf\u00e9 zzz " * 5),
    ]
    texts = [answers(program, *pair)["answers"][0]["text"] for pair in asked]
    rows = [{"question": q, "context": c, "all_answers": ["x", t]} for (q, c), t in zip(asked, texts, strict=True)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    out = evaluated(program, path)[0].out.decode()
    assert "exact match: 100.00 %" in out
    assert "F1: 100.00 %" in out
    assert "questions: 2, windows: " in out
    squad = {"data": [{"paragraphs": [{"context": c, "qas": [{"question": q, "answers": [{"text": "zebra"}]}]}
                                      for q, c in asked]}]}  # fmt: skip
    (tmp_path / "rows.json").write_text(json.dumps(squad, indent=1))
    assert "F1: 0.00 %" in program.well("--evaluate", tmp_path / "rows.json").out.decode()
    assert "questions: 1," in program.well("--evaluate", tmp_path / "rows.json", "--limit", "1").out.decode()


def test_usage(program: Program) -> None:
    usage = f"usage: {program.path.name} [OPTION…] --question Q --context C | --pair Q C | --pairs"
    assert program.well("--help").lines[0] == usage


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--question", "a"), "--question needs --context or --context-file"),
        (("--context", "a"), "--context and --context-file only go with --question"),
        (("--question", "a", "--context", "b", "c"), "--question takes no other texts"),
        (
            (),
            "a question needs its context: --question Q with --context C or --context-file F, --pair Q C, or lines of",
        ),
        (("who?",), "a question needs its context"),
        (("--json", "--top", "2", "who?", "x"), "a question needs its context"),
        (("--logits", "a"), "--logits only goes with --json"),
        (("--window", "7"), "--window: expected a number from 8 to 40, got '7'"),
        (("--evaluate", "rows.csv"), "--evaluate: expected a file named .json or .jsonl, got 'rows.csv'"),
    ],
)
def test_wrong_use(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(2, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", "\n", "no questions"),
        ("a.jsonl", '{"question": "a"}', "line 1: expected an object with the text 'context'"),
        ("a.jsonl", '\n{"question": ', "line 2: no JSON"),
        ("a.jsonl", "[" * 1000, "line 1: no JSON"),
        ("a.jsonl", '{"question": "a\tb", "context": "c"}', "line 1: no JSON"),
        ("a.jsonl", '{"question": "a", "context": "c",\r"id": 1-2}', "line 1: no JSON"),
        ("a.jsonl", '\n\n{"question": "a", "context": "c", "all_answers": ["a", 1]}', "line 3: 'all_answers' are no"),
        ("a.json", '{"data": [1]}', "line 1: expected an object with the list 'paragraphs'"),
        ("a.json", '{"data": [],\n"a": "\\ud83"}', "line 2: no JSON"),
        ("a.json", '{"data": [],\n"a": "\n"}', "line 2: no JSON"),
        (
            "a.json",
            '{"data": [{"paragraphs": [\n\n{"qas": []}]}]}',
            "line 3: expected an object with the text 'context'",
        ),
        (
            "a.json",
            '{"data": [{"paragraphs": [{"context": "c", "qas": [\n{"question": "a", "answers":\n\n1}]}]}]}',
            "line 4: expected an object with the list 'answers'",
        ),
    ],
)
def test_files_refused(program: Program, name: str, content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert words in program.refused(1, "--evaluate", tmp_path / name)


def test_hostile_contexts(program: Program, tmp_path: Path) -> None:
    contexts = {"": 1, "   ": 1, "cat " * 250_000: 5000, "\u0301" * 30_000: 1, "[SEP]" * 5000: 100, "a" * 1_000_000: 1}
    for context, windows in contexts.items():
        path = tmp_path / "context.txt"
        path.write_text(context)
        found = program.well("--json", "--stride", "1", "--question", "what cats", "--context-file", path).objects[0]
        size = len(context.encode())
        assert all(0 <= a["start"] <= a["end"] <= size for a in found["answers"]), context[:10]
        assert found["windows"] >= windows, context[:10]
    long = answers(program, "what cats " * 1000, "the cat sat on the mat " * 5)
    assert long["truncated"]
    assert long["windows"] > 1
    assert answers(program, "", "the cat")["answers"]
    assert answers(program, "what cats", "", "--no-answer")["answers"][0]["text"] == ""
