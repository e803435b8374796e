# SPDX-License-Identifier: Apache-2.0
"""Models that answer questions: what the recorded checkpoints of every family mean, how their answers are judged, what
is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, recorded_answers, variants
from recorded_changes import Change, assert_refused, configure, rename
from recorded_outputs import RECIPES, assert_gpus_refuse, of_the_graph, of_the_program, reported_task
from tokenizers import Tokenizer

from codegen import evaluate, pipeline
from codegen.emulate import emulate_texts
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import wheel_tokenizer
from codegen.tasks.answering import Answering
from codegen.tasks.spans import best_answer, windows_of
from codegen.tasks.squad import exact_match, f1, normalized, read_questions

VARIANTS = variants("answers")
# The library tells no places of tokens of classes written in Python.
PLACED = [variant for variant in VARIANTS if variant not in ("answers/canine", "answers/flaubert")]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    for output, expected in of_the_graph(variant):
        assert output.shape == expected.shape
        assert np.abs(output - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    bound = {"fp32": 1e-5, "w8a8": 0.2, "w4a8": 1.0}[recipe]
    for output, expected in of_the_program(variant, recipe):
        assert output.shape == expected.shape
        assert np.abs(output - expected).max() < bound * max(1, np.abs(expected).max())


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant not in PLACED])
def test_windows_of_tokenizers_of_our_own(variant: str) -> None:
    """They overlap, and hold all of the context between the same tokens."""
    tokenizer = wheel_tokenizer(pipeline.load(folder(variant)).tokenizer)
    question, context = "the cat", "what is oil and what is up in the news"
    encoding = tokenizer.encode(question, context)
    whole, begin = encoding.ids, encoding.sequence_ids.index(1)
    windows = windows_of(tokenizer, 24, 3, question, context)
    assert len(windows) > 1 and {window.row for window in windows} == {3}
    joined: list[int] = []
    for window in windows:
        first, last = window.context
        assert len(window.ids) <= 24 and list(window.ids[:first]) == whole[:first]
        assert list(window.ids[last:]) == whole[len(whole) - len(window.ids) + last :]
        own = list(window.ids[first:last])
        again = next(n for n in range(len(own), -1, -1) if joined[len(joined) - n :] == own[:n])
        assert bool(again) == bool(joined)
        joined += own[again:]
    assert whole[begin:-1] == joined


def test_words_without_places_are_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question": "what?", "context": "the cat sat", "all_answers": ["cat"]}\n')
    found = {}
    for variant in ("answers/canine", "answers/flaubert"):
        checkpoint = pipeline.load(folder(variant))
        program = pipeline.lower(checkpoint, "fp32", None)
        rows = evaluate.read_rows(path, Columns(), program.task, 10)
        try:
            found[variant] = 0 <= evaluate.score(program, checkpoint.tokenizer, rows).value <= 100
        except EtchError as error:
            found[variant] = error.code
    assert found == {"answers/canine": True, "answers/flaubert": "token-places-unknown"}


@pytest.mark.parametrize("variant", PLACED)
def test_the_best_answer_is_that_of_the_pipeline(variant: str) -> None:
    checkpoint = pipeline.load(folder(variant))
    program = pipeline.lower(checkpoint, "fp32", None)
    tokenizer = Tokenizer.from_str(checkpoint.tokenizer.json)
    cases = [case for case in recorded_answers(variant) if case["settings"] == {}]
    assert len(cases) > 2
    for case in cases:
        windows = windows_of(tokenizer, program.max_tokens, 0, case["question"], case["context"])
        outputs = emulate_texts(program, [Text(w.ids, w.segments) for w in windows])
        assert best_answer(case["context"], windows, list(outputs)) == case["answers"][0][0], case


def test_the_report() -> None:
    assert reported_task("answers/bert") == "answers to questions: spans of a context"


def test_half_a_surrogate_pair_is_a_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question": "\\ud800", "context": "b\\udc00", "all_answers": ["\\ud83d\\ude00", "\\udfff"]}\n')
    row = read_questions(path)[0]
    assert row.texts == ("\ufffd", "b\ufffd")
    assert json.loads(row.value) == ["\U0001f600", "\ufffd"]


def test_scores_by_squad() -> None:
    assert normalized("The  Caf\u00c9, a 'd\u00e9j\u00e0-vu' an") == "caf\u00e9 d\u00e9j\u00e0vu"
    assert exact_match("the Cat!", ["dog", "cat"])
    assert not exact_match("cats", ["cat"])
    assert exact_match("", [])
    assert f1("the black cat", ["cat sat", "dog"]) == pytest.approx(0.5)
    assert f1("cat cat", ["cat"]) == pytest.approx(2 / 3)
    assert (f1("", [""]), f1("a", [""]), f1("cat", []), f1("", ["cat"])) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("a.csv", "", "table-kind", "expected a file named .json or .jsonl"),
        ("a.jsonl", "\n", "table-empty", "no questions"),
        ("a.jsonl", '{"question": "a"}', "table-malformed", "line 1: expected an object with the text 'context'"),
        ("a.jsonl", "\n{", "table-malformed", "line 2: no JSON"),
        ("a.jsonl", '{"question": "a", "context": "b", "score": NaN}', "table-malformed", "line 1: no JSON"),
        ("a.json", '{"data": [1]}', "table-malformed", "expected an object with the list 'paragraphs'"),
    ],
)
def test_files_refused(name: str, content: str, code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(EtchError) as caught:
        evaluate.read_rows(tmp_path / name, Columns(), Answering(), 10)
    assert caught.value.code == code
    assert words in caught.value.message


def test_f1_of_a_model(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("answers/bert"))
    program = pipeline.lower(checkpoint, "w8a8", None)
    asked = [("what cats", "the cat sat"), ("the dog?", "Playing cats in Berlin: dogs of Caf\u00e9 zzz " * 4)]
    path = tmp_path / "rows.jsonl"

    def scored(answers: list[str]) -> evaluate.Score:
        rows = [{"question": q, "context": c, "answer": a} for (q, c), a in zip(asked, answers, strict=True)]
        path.write_text("\n".join(map(json.dumps, rows)))
        rows_read = evaluate.read_rows(path, Columns(), program.task, 10)
        return evaluate.score(program, checkpoint.tokenizer, rows_read)

    first = scored(["zebra", "zebra"])
    assert (first.measure, first.value) == ("F1", 0.0)
    assert first.others == ("exact match 0.00 %",)
    right, wrong = first.answers
    half = scored([right, f"{wrong} zebra"])
    assert half.value > 50 and half.others == ("exact match 50.00 %",)
    assert str(scored(list(first.answers))) == "100.00 %"


CHANGES: list[tuple[str, Change, str, str]] = [
    ("answers/bert", rename("qa_outputs.weight", "score.weight"), "missing-tensor", "classifier.weight"),
    ("answers/bert", rename("qa_outputs.bias", "score.bias"), "missing-tensor", "qa_outputs.bias"),
    ("answers/bert", configure(architectures=["BertForTokenClassification"]), "missing-tensor", "classifier"),
    ("answers/bert", configure(architectures=["ElectraForQuestionAnswering"]), "architecture-not-supported", "Electra"),
    ("answers/mpnet", configure(architectures=["MPNetForCausalLM"]), "architecture-not-supported", "QuestionAnswering"),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), CHANGES)
def test_refusals(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)


@pytest.mark.parametrize(("variant", "least"), [("answers/bert", 5), ("answers/roberta", 6)])
def test_a_window_has_room_for_both_texts(variant: str, least: int) -> None:
    checkpoint = pipeline.load(folder(variant))
    assert pipeline.to_graph(checkpoint, least).max_tokens == least
    words = f"a question, its context and {least - 2} special tokens need {least}"
    with pytest.raises(EtchError, match=words) as caught:
        pipeline.to_graph(checkpoint, least - 1)
    assert caught.value.code == "max-tokens-out-of-range"


def test_one_token_alone_stands_for_no_answer(tmp_path: Path) -> None:
    """Of a pair `<bos> A <eos> <bos> B <eos>` the library gives both beginnings probability."""
    path = Path(shutil.copytree(folder("answers/modernbert_gemma"), tmp_path / "model"))
    described = json.loads((path / "tokenizer.json").read_text())
    begin, first, end, second, _ = described["post_processor"]["pair"]
    described["post_processor"]["pair"] = [begin, first, end, begin, second, end]
    (path / "tokenizer.json").write_text(json.dumps(described))
    with pytest.raises(EtchError, match="that they begin with a second time") as caught:
        pipeline.to_graph(pipeline.load(path), None)
    assert caught.value.code == "tokenizer-template"


def test_gpus_are_refused(tmp_path: Path) -> None:
    assert_gpus_refuse("answers/bert", tmp_path)
