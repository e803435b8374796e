# SPDX-License-Identifier: Apache-2.0
"""Next sentence: what the recorded checkpoints mean, how their answers are judged, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder, variants
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename
from recorded_outputs import (
    RECIPES,
    assert_gpus_refuse,
    assert_graph_means_it,
    assert_program_computes_it,
    reported_task,
)

from codegen import evaluate, pipeline
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.tasks.next_sentence import NAMES, NextSentence

VARIANTS = variants("next")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    assert_graph_means_it(variant, (2,))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    assert_program_computes_it(variant, recipe)


def test_the_report() -> None:
    assert reported_task("next/bert") == "whether a text follows another one (softmax)"


def test_a_table_of_pairs_is_judged(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("next/bert"))
    program = pipeline.lower(checkpoint, "w8a8", None)
    path = tmp_path / "pairs.tsv"
    texts = [("the cat", "sat"), ("what is", "oil price"), ("dogs playing", "unable to play"), ("up", "down 33")]
    path.write_text("".join(f"0\t{first}\t{second}\n" for first, second in texts))
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    answers = evaluate.score(program, checkpoint.tokenizer, rows).answers
    path.write_text("".join(f"{NAMES[int(a)]}\t{t[0]}\t{t[1]}\n" for a, t in zip(answers, texts, strict=True)))
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    scored = evaluate.score(program, checkpoint.tokenizer, rows)
    assert (scored.measure, str(scored)) == ("accuracy", "100.00 %")
    path.write_text("".join(f"{1 - int(a)}\t{t[0]}\t{t[1]}\n" for a, t in zip(answers, texts, strict=True)))
    rows = evaluate.read_rows(path, Columns(labels="0"), program.task, 10)
    assert str(evaluate.score(program, checkpoint.tokenizer, rows)) == "0.00 %"


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("0\tone text\n", "column-unknown", "two text columns"),
        ("maybe\ta\tb\n", "table-malformed", "unknown label 'maybe'"),
    ],
)
def test_tables_refused(content: str, code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text(content)
    with pytest.raises(EtchError) as caught:
        evaluate.read_rows(tmp_path / "rows.tsv", Columns(), NextSentence(NAMES, "softmax"), 10)
    assert (caught.value.code, words in caught.value.message) == (code, True), caught.value.message


# --- refusals --------------------------------------------------------------------------------------------------------


CHANGES: list[tuple[str, Change, str, str]] = [
    ("next/bert", configure(architectures=["BertForPreTraining"]), "missing-tensor", "cls.predictions"),
    ("next/ernie", configure(architectures=["ErnieForPreTraining"]), "missing-tensor", "cls.predictions"),
    ("next/bert", configure(architectures=["BertForMaskedLM"]), "missing-tensor", "cls.predictions"),
    ("next/bert", configure(architectures=["BertForSequenceClassification"]), "missing-tensor", "classifier.weight"),
    ("next/bert", configure(architectures=["ElectraForPreTraining"]), "architecture-not-supported", "Electra"),
    ("next/bert", rename("cls.seq_relationship.bias", "cls.bias"), "missing-tensor", "cls.seq_relationship.bias"),
    ("next/bert", rename("bert.pooler.dense.weight", "pooler.weight"), "missing-tensor", "bert.pooler.dense.weight"),
    ("next/bert", configure(hidden_size=40), "wrong-shape", "embeddings"),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), CHANGES)
def test_refusals(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)


def test_the_other_head_of_a_pre_training_checkpoint_is_named(tmp_path: Path) -> None:
    path = changed("next/bert", add("cls.predictions.bias", (64,)), tmp_path)
    (note,) = graph_of(path).notes
    assert note == "not used by BertForNextSentencePrediction: cls.predictions.bias"


def test_gpus_are_refused(tmp_path: Path) -> None:
    assert_gpus_refuse("next/bert", tmp_path)
