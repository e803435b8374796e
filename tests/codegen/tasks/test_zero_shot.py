# SPDX-License-Identifier: Apache-2.0
"""Zero-shot classification: which classifiers can be asked for it, how a table is judged, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from recorded.outputs import folder, variants
from recorded_changes import changed, configure
from recorded_outputs import assert_graph_means_it, of_the_graph

from codegen import cli, evaluate, pipeline
from codegen.errors import EtchError
from codegen.files.table_file import Columns, Row
from codegen.library_tokenizer.wheel_tokenizer import can_be_cut, text_tokenizer, wheel_tokenizer
from codegen.request import Reading
from codegen.tasks.zero_shot import HYPOTHESIS, ZeroShot
from codegen.vocabulary import pruning as vocabulary
from codegen.vocabulary.pruning import Bound, prune

VARIANTS = variants("zero")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    assert_graph_means_it(variant, next(of_the_graph(variant))[1].shape)


def task_of(variant: str) -> ZeroShot:
    """What `--task zero-shot` makes of a recorded classifier."""
    task = pipeline.to_graph(pipeline.load(folder(variant), Reading(task="zero-shot")), None).task
    assert isinstance(task, ZeroShot)
    return task


def test_entailment_and_contradiction_are_those_of_the_pipeline() -> None:
    found = {variant: (task_of(variant).entailment, task_of(variant).contradiction) for variant in VARIANTS}
    assert found == {
        "zero/bart": (2, 0),
        "zero/bert": (1, 0),
        "zero/deberta-v2": (0, 2),
        "zero/distilbert": (0, 1),
        "zero/mt5": (0, 2),
        "zero/roberta": (2, 0),
    }


def test_a_table_is_judged_by_the_values_of_its_column(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("zero/bert"), Reading(task="zero-shot"))
    program = pipeline.lower(checkpoint, "fp32", None)
    path = tmp_path / "rows.tsv"
    path.write_text("up\tthe cat sat\ncats\twhat is oil\nup\tdogs " + "the " * 50 + "\n")
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    assert rows.truths.tolist() == [1, 0, 1]  # cats, up
    answers = evaluate.score(program, checkpoint.tokenizer, rows).answers
    path.write_text("".join(f"{('cats', 'up')[a]}\tthe cat sat\n" for a in (0, 1)))
    assert set(answers) <= {0, 1}
    right = float((answers == rows.truths).mean())
    assert evaluate.score(program, checkpoint.tokenizer, rows).value == pytest.approx(100 * right)


def test_a_hypothesis_without_room_for_the_text_is_refused(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("zero/bert"), Reading(task="zero-shot"))
    program = pipeline.lower(checkpoint, "fp32", None)
    path = tmp_path / "rows.tsv"
    path.write_text("up " * 40 + "\tthe cat sat\ncats\twhat\n")
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    with pytest.raises(EtchError, match="leaves no room"):
        evaluate.score(program, checkpoint.tokenizer, rows)
    with pytest.raises(EtchError) as caught:
        evaluate.read_rows(path, Columns(labels="names"), program.task, 10)
    assert caught.value.code == "option-conflict"


def test_the_report_and_the_manifest_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "model"
    arguments = ["generate", str(folder("zero/roberta")), "--out", str(out), "--task", "zero-shot"]
    assert cli.main(arguments) == 0
    assert (
        "zero-shot classification into labels of a call (ENTAILMENT against CONTRADICTION)" in capsys.readouterr().out
    )
    assert json.loads((out / "etch.json").read_text())["task"] == "zero_shot"
    assert cli.main(["inspect", str(folder("zero/roberta")), "--task", "zero-shot", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "zero_shot"


def test_pairs_are_cut_as_the_wheel_cuts_them() -> None:
    """In the golden tokenizer; the built one is compared with the pipeline's."""
    tokenizer = text_tokenizer(pipeline.load(folder("zero/bert"), Reading(task="zero-shot")).tokenizer, 12)
    texts = ["", "up", "the cat sat", "up " * 9, "up " * 10]
    for first in texts:
        for second in texts:
            try:
                ids = tokenizer.encode(first, second).ids
            except Exception:  # the wheel's own, without a type
                ids = []
            assert can_be_cut(tokenizer, first, second) == bool(ids)


@pytest.mark.parametrize("most", [23, 25, 60])
def test_tokenizers_of_our_own_cut_texts_alone(most: int) -> None:
    spec = pipeline.load(folder("flaubert/softmax")).tokenizer
    spec = replace(spec, template=replace(spec.template, cuts_first=True))
    rows = [Row(1, "up", ("the cat sat on what is new",)), Row(2, "cats", ("what",))]
    task = task_of("zero/bert")
    texts = task.encoded(spec, most, rows)
    tokenizer = wheel_tokenizer(spec)
    for text, (row, label) in zip(texts, [(row, label) for row in rows for label in ("cats", "up")], strict=True):
        hypothesis = tokenizer.encode(HYPOTHESIS.replace("{}", label), add_special_tokens=False).ids
        assert len(text.ids) <= most and list(text.ids[-len(hypothesis) - 1 : -1]) == hypothesis
        whole = tokenizer.encode(row.joined, HYPOTHESIS.replace("{}", label)).ids
        assert (len(whole) <= most) == (list(text.ids) == whole)
    with pytest.raises(EtchError, match="leaves no room"):
        task.encoded(spec, 19, rows)


def test_a_pruned_model_cuts_no_hypothesis_either() -> None:
    whole = pipeline.load(folder("zero/bert"), Reading(task="zero-shot"))
    smaller = vocabulary.keep_ids(whole, prune(whole.tokenizer, ["the cat sat"], Bound(1)).kept)
    assert smaller.kept_ids is not None and smaller.asked_task == "zero-shot"
    text, hypothesis = "the cat sat " * 3, "the cat " * 4
    parts = [text_tokenizer(checkpoint.tokenizer, 14).encode(text, hypothesis) for checkpoint in (whole, smaller)]
    assert [smaller.kept_ids[i] for i in parts[1].ids] == parts[0].ids
    assert parts[1].sequence_ids == parts[0].sequence_ids


def names(*labels: str) -> dict[str, object]:
    """Of config.json."""
    return {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}


@pytest.mark.parametrize(
    ("variant", "settings", "words"),
    [
        ("zero/bert", names("no", "yes", "maybe"), "0 labels are called 'entail…'"),
        ("zero/bert", names("entailment", "entailed", "maybe"), "2 labels are called 'entail…'"),
        ("zero/bert", {"problem_type": "multi_label_classification"}, "not for multi_label"),
        ("zero/bert", {"problem_type": "regression"}, "not for regression"),
        ("masks/bert", {}, "not for fill_mask"),
        ("tags/bert", {}, "not for tagging"),
    ],
)
def test_other_classifiers_are_refused(variant: str, settings: dict[str, object], words: str, tmp_path: Path) -> None:
    path = changed(variant, configure(**settings), tmp_path)
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(path, tmp_path / "out", task="zero-shot"), lambda _: None)
    assert (caught.value.code, caught.value.stage) == ("option-conflict", "arguments")
    assert words in caught.value.message
    assert not (tmp_path / "out").exists()
