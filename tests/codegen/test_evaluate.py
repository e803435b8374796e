# SPDX-License-Identifier: Apache-2.0
"""--evaluate of the generator: rows chosen evenly, labels read as the programs read them, measures from answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import evaluate, pipeline
from codegen.emulate import emulate
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.ir.program import Program
from codegen.ir.task import Task
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.load.checkpoint import Checkpoint
from codegen.tasks.classification import Classification
from codegen.tasks.correlation import spearman
from codegen.tasks.regression import Regression

THREE = Classification(("a", "B", "b"), "softmax")
WORDS = ("the", "a", "cat", "dog", "sat", "ran", "on", "mat", "good", "bad")
SENTENCES = [" ".join(WORDS[(7 * i + k * k) % 10] for k in range(i % 9)) for i in range(60)]


def model(tmp_path: Path, **how: Any) -> tuple[Checkpoint, Program]:
    write_tiny_checkpoint(tmp_path / "tiny", **how)
    checkpoint = pipeline.load(tmp_path / "tiny")
    return checkpoint, pipeline.lower(checkpoint, "w8a8", None)


def outputs(program: Program, spec: TokenizerSpec, texts: list[str]) -> np.ndarray:
    return evaluate.emulated(program, evaluate.encode(spec, program.max_tokens, texts))


def table(tmp_path: Path, values: list[str], *texts: list[str]) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("".join(f'"{",".join(row)}"\n'.replace(",", '","') for row in zip(values, *texts, strict=True)))
    return path


def truths(tmp_path: Path, task: Task, values: list[str], most: int = 1000) -> list:
    return evaluate.read_rows(table(tmp_path, values, values), Columns(), task, most).truths.tolist()


def test_rows_are_spaced_evenly(tmp_path: Path) -> None:
    path = table(tmp_path, ["a"] * 10, [str(i) for i in range(10)])
    for most, expected in ((3, "036"), (4, "0257"), (10, "0123456789"), (99, "0123456789"), (1, "0")):
        rows = evaluate.read_rows(path, Columns(), THREE, most)
        assert "".join(row.joined for row in rows.rows) == expected
        assert rows.total == 10


def test_labels_are_read_as_the_programs_do(tmp_path: Path) -> None:
    assert truths(tmp_path, THREE, ["a", "b", "B", "A"]) == [0, 2, 1, 0]
    assert truths(tmp_path, THREE, ["1", "3", "2"]) == [0, 2, 1]
    assert truths(tmp_path, THREE, ["1", "2", "0"]) == [1, 2, 0]
    assert truths(tmp_path, THREE, ["1", "2", "0"], most=1) == [1]  # the 0 is in a row that is not asked
    sets = Classification(("x", "y", "z"), "sigmoid")
    assert truths(tmp_path, sets, ["x; z", "", "Y"]) == [[True, False, True], [False] * 3, [False, True, False]]
    assert truths(tmp_path, Classification(("x",), "sigmoid"), ["0", "1"]) == [[False], [True]]
    assert truths(tmp_path, Regression(("v", "w")), ["1; -2.5", "3;4"]) == [[1, -2.5], [3, 4]]


def test_labels_that_can_be_read_two_ways_are_asked_for(tmp_path: Path) -> None:
    path = table(tmp_path, ["1", "2", "1"], ["x"] * 3)

    def read(spec: str | None) -> list[int]:
        return evaluate.read_rows(path, Columns(labels=spec), THREE, 9).truths.tolist()

    with pytest.raises(EtchError) as asked:
        read(None)
    assert (asked.value.code, asked.value.stage, asked.value.file) == ("labels-ambiguous", "arguments", "table.csv")
    assert "say --labels 0 or 1" in asked.value.message
    assert [read("0"), read("1"), read("2,1,3")] == [[1, 2, 1], [0, 1, 0], [1, 0, 1]]
    with pytest.raises(EtchError, match="expected 0, 1, names or 3 names separated by commas, got '1,2'"):
        read("1,2")
    with pytest.raises(EtchError, match=r"line 1: unknown label '1' \(--header, if the first row names the columns\)$"):
        read("names")
    path = table(tmp_path, ["a", "x"], ["x"] * 2)
    with pytest.raises(EtchError, match=r"line 2: unknown label 'x'$"):
        read("names")
    path = tmp_path / "table.jsonl"
    path.write_text('{"label": "x", "text": "y"}\n')
    with pytest.raises(EtchError, match=r"line 1: unknown label 'x'$"):
        read("names")


@pytest.mark.parametrize(
    ("task", "values"),
    [(THREE, ["a", "c"]), (THREE, ["1", "4"]), (THREE, ["1", "a"]), (Regression(("v",)), ["1", "x"]),
     (Regression(("v",)), ["1;2"]), (Regression(("v",)), ["nan"]), (Classification(("x", "y"), "sigmoid"), ["x;;y"])],
)  # fmt: skip
def test_values_refused(tmp_path: Path, task: Task, values: list[str]) -> None:
    with pytest.raises(EtchError) as refused:
        truths(tmp_path, task, values)
    assert (refused.value.code, refused.value.file) == ("table-malformed", "table.csv")
    assert f"line {len(values)}: " in refused.value.message


def test_accuracy_of_a_classifier(tmp_path: Path) -> None:
    checkpoint, program = model(tmp_path)
    tokenizer = text_tokenizer(checkpoint.tokenizer, program.max_tokens)
    logits = []
    for sentence in SENTENCES:
        encoding = tokenizer.encode(sentence)
        logits.append(emulate(program, encoding.ids, encoding.type_ids))
    together = outputs(program, checkpoint.tokenizer, SENTENCES)
    assert together.tobytes() == np.array(logits).tobytes()
    answers = [int(np.argmax(row)) for row in logits]
    claimed = [answer if i % 3 else (answer + 1) % 3 for i, answer in enumerate(answers)]
    path = table(tmp_path, [str(answer) for answer in claimed], SENTENCES)
    rows = evaluate.read_rows(path, Columns(), program.task, 60)
    scored = evaluate.score(program, checkpoint.tokenizer, rows)
    assert (scored.measure, scored.answers.tolist()) == ("accuracy", answers)
    assert str(scored) == "66.67 %"


def test_exact_match_of_label_sets(tmp_path: Path) -> None:
    checkpoint, program = model(tmp_path, problem_type="multi_label_classification")
    found = outputs(program, checkpoint.tokenizer, SENTENCES) >= 0
    values = [";".join(str(label + 1) for label in np.flatnonzero(row)) for row in found]
    values[0] = "" if values[0] else "1"
    rows = evaluate.read_rows(table(tmp_path, values, SENTENCES), Columns(labels="1"), program.task, 60)
    scored = evaluate.score(program, checkpoint.tokenizer, rows)
    assert (scored.measure, round(scored.value, 4)) == ("exact match", round(100 * 59 / 60, 4))


def test_correlation_of_values(tmp_path: Path) -> None:
    checkpoint, program = model(tmp_path, problem_type="regression", labels=1)
    values = outputs(program, checkpoint.tokenizer, SENTENCES)[:, 0]
    path = table(tmp_path, [repr(-float(value)) for value in values], SENTENCES)
    scored = evaluate.score(program, checkpoint.tokenizer, evaluate.read_rows(path, Columns(), program.task, 60))
    assert (scored.measure, str(scored)) == ("Spearman correlation", "-1.0000")


def test_correlation_of_cosines(tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path / "tiny")
    checkpoint = pipeline.load(tmp_path / "tiny")
    program = pipeline.lower(checkpoint, "w8a8", None)
    others = SENTENCES[::-1]
    first, second = (outputs(program, checkpoint.tokenizer, texts).astype(float) for texts in (SENTENCES, others))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    path = table(tmp_path, [repr(float(c)) for c in (first * second).sum(axis=1) / lengths], SENTENCES, others)
    scored = evaluate.score(program, checkpoint.tokenizer, evaluate.read_rows(path, Columns(), program.task, 60))
    assert scored.measure == "Spearman correlation"
    assert scored.value > 0.999
    with pytest.raises(EtchError, match="two text columns are compared, there are 1"):
        evaluate.read_rows(path, Columns("1", ("2",)), program.task, 60)


def test_texts_that_are_compared_stand_behind_the_usual_prompt(tmp_path: Path) -> None:
    before = "the cat "
    write_tiny_sentence_model(tmp_path / "as they are")
    prompts = {"prompts": {"query": before}, "default_prompt_name": "query"}
    write_tiny_sentence_model(tmp_path / "behind", settings=prompts)
    texts, scores = (SENTENCES, SENTENCES[::-1]), [str(i) for i in range(60)]
    path = table(tmp_path, scores, *texts)
    written = table(tmp_path / "behind", scores, *([before + text for text in column] for column in texts))
    answers = []
    for name, rows in (("as they are", written), ("behind", path)):
        checkpoint = pipeline.load(tmp_path / name)
        program = pipeline.lower(checkpoint, "w8a8", None)
        of_rows = evaluate.read_rows(rows, Columns(), program.task, 60)
        answers.append(evaluate.score(program, checkpoint.tokenizer, of_rows).answers)
    assert np.array_equal(*answers)


def test_spearman() -> None:
    assert spearman(np.array([1.0, 2, 3]), np.array([10.0, 20, 15])) == pytest.approx(0.5)
    assert spearman(np.array([1.0, 1, 2]), np.array([1.0, 1, 2])) == pytest.approx(1)
    assert spearman(np.array([1.0, 1, 1]), np.array([1.0, 3, 2])) == 0
