# SPDX-License-Identifier: Apache-2.0
"""Multiple choice: what the recorded checkpoints of every family mean, how they are judged, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder, variants
from recorded_changes import Change, assert_refused, configure, rename
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
from codegen.tasks.multiple_choice import MultipleChoice

VARIANTS = variants("choices")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    assert_graph_means_it(variant, (1,))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    assert_program_computes_it(variant, recipe)


def test_the_report() -> None:
    assert reported_task("choices/bert") == "which of several choices goes with a prompt (softmax over the choices)"


def test_a_table_of_choices_is_judged(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("choices/electra"))
    program = pipeline.lower(checkpoint, "w8a8", None)
    path = tmp_path / "choices.tsv"
    texts = ["the cat\tsat\tplaying dogs\tup", "what is\toil\tthe price of oil\t33 news", "up\tdown\tcats\tunable"]
    path.write_text("".join(f"0\t{text}\n" for text in texts))
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    answers = evaluate.score(program, checkpoint.tokenizer, rows).answers
    assert set(answers) <= {0, 1, 2}
    for first in (0, 1):
        path.write_text("".join(f"{int(a) + first}\t{text}\n" for a, text in zip(answers, texts, strict=True)))
        rows = evaluate.read_rows(path, Columns(labels=str(first)), program.task, 10)
        scored = evaluate.score(program, checkpoint.tokenizer, rows)
        assert (scored.measure, str(scored)) == ("accuracy", "100.00 %")
    path.write_text("".join(f"{(int(a) + 1) % 3}\t{text}\n" for a, text in zip(answers, texts, strict=True)))
    rows = evaluate.read_rows(path, Columns(labels="0"), program.task, 10)
    assert str(evaluate.score(program, checkpoint.tokenizer, rows)) == "0.00 %"


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("0\tone text\n", "column-unknown", "a prompt and its choices"),
        ("2\ta\tb\tc\n", "table-malformed", "unknown label '2'"),
    ],
)
def test_tables_refused(content: str, code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text(content)
    with pytest.raises(EtchError) as caught:
        evaluate.read_rows(tmp_path / "rows.tsv", Columns(labels="0"), MultipleChoice(), 10)
    assert (caught.value.code, words in caught.value.message) == (code, True), caught.value.message


# --- refusals --------------------------------------------------------------------------------------------------------


CHANGES: list[tuple[str, Change, str, str]] = [
    ("choices/bert", rename("classifier.weight", "score.weight"), "missing-tensor", "classifier.weight"),
    ("choices/bert", rename("bert.pooler.dense.bias", "pooler.bias"), "missing-tensor", "bert.pooler.dense.bias"),
    ("choices/roberta", rename("roberta.pooler.dense.weight", "dense.weight"), "missing-tensor", "roberta.pooler"),
    ("choices/roberta", configure(architectures=["RobertaForSequenceClassification"]), "missing-tensor", "classifier."),
    ("choices/bert", configure(architectures=["BertForSequenceClassification"]), "wrong-shape", "classifier.weight"),
    ("choices/bert", configure(architectures=["BertForNextSentencePrediction"]), "missing-tensor", "seq_relationship"),
    ("choices/bert", configure(architectures=["ElectraForMultipleChoice"]), "architecture-not-supported", "Electra"),
    ("choices/electra", configure(summary_type="cls_index"), "pooling-not-supported", "summary_type 'cls_index'"),
    ("choices/electra", configure(summary_use_proj=False), "summary-not-supported", "summary_use_proj"),
    ("choices/electra", configure(summary_activation="sinh"), "activation-not-supported", "summary_activation"),
    ("choices/modernbert", configure(classifier_pooling="max"), "pooling-not-supported", "classifier_pooling"),
    (
        "choices/distilbert",
        rename("pre_classifier.weight", "vocab_transform.weight"),
        "missing-tensor",
        "pre_classifier.weight",
    ),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), CHANGES)
def test_refusals(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)


def test_gpus_are_refused(tmp_path: Path) -> None:
    assert_gpus_refuse("choices/bert", tmp_path)
