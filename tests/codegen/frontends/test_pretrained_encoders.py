# SPDX-License-Identifier: Apache-2.0
"""Classes of pretraining whose encoder alone counts: published folders of sentence-transformers name them, as
all-mpnet-base-v2 does MPNetForMaskedLM, and `--pooling` takes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import HERE, folder, read_recorded
from recorded_changes import add, changed, configure
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.errors import EtchError
from codegen.head_folders import HeadFolder
from codegen.ir.check_graph import check_graph
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading
from codegen.tasks.embedding import Embedding

PREDICTS_WORDS = sorted(f"masks/{path.name}" for path in (HERE / "masks").iterdir())


@pytest.mark.parametrize("ending", ["ForMaskedLM", "ForPreTraining"])
@pytest.mark.parametrize(("variant", "name"), [("mpnet/mean", "MPNet"), ("roberta/mean", "Roberta")])
def test_the_embedding_is_that_of_the_encoder(variant: str, name: str, ending: str, tmp_path: Path) -> None:
    path = changed(variant, configure(architectures=[f"{name}{ending}"]), tmp_path)
    interpreter = Interpreter(pipeline.to_graph(pipeline.load(path), None))
    for text in read_recorded(variant):
        assert np.abs(interpreter.output(text.ids, text.segments) - text.float64).max() < 1e-12


@pytest.mark.parametrize("variant", PREDICTS_WORDS)
def test_what_predicts_words_is_left_aside(variant: str, tmp_path: Path) -> None:
    """With modules.json and with --pooling alike."""
    asked = pipeline.to_graph(pipeline.load(folder(variant), Reading(pooling="mean")), None)
    check_graph(asked)
    assert isinstance(asked.task, Embedding)
    assert any("not used by sentence-transformers" in note for note in asked.notes)
    path = tmp_path / "said"
    shutil.copytree(folder(variant), path)
    kinds = ("Transformer", "Pooling")
    modules = [
        {"idx": i, "name": str(i), "path": str(i) if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write_json(path / "modules.json", modules)
    (path / "1").mkdir()
    width = {"word_embedding_dimension": asked.task.outputs, "pooling_mode_mean_tokens": True}
    write_json(path / "1/config.json", width)
    said = pipeline.to_graph(pipeline.load(path), None)
    outputs = [Interpreter(graph).output([5, 9, 7, 8], [0] * 4) for graph in (asked, said)]
    assert np.array_equal(*outputs)


@pytest.mark.parametrize(
    ("variant", "name", "head"),
    [
        ("masks/electra", "ElectraForPreTraining", "discriminator_predictions.dense_prediction.weight"),
        ("masks/deberta-v2", "DebertaV2ForMaskedLM", "mask_predictions.dense.weight"),
        ("masks/deberta-v2", "DebertaV2ForMaskedLM", "lm_predictions.lm_head.dense.weight"),  # deberta-v3-base
        ("masks/albert", "AlbertForPreTraining", "sop_classifier.classifier.weight"),
        ("masks/layoutlm", "LayoutLMForMaskedLM", "cls.seq_relationship.weight"),
        ("masks/funnel", "FunnelForPreTraining", "discriminator_predictions.dense.weight"),
    ],
)
def test_other_heads_of_pretraining_are_left_aside(variant: str, name: str, head: str, tmp_path: Path) -> None:
    path = changed(variant, configure(architectures=[name]), tmp_path)
    add(head, (1, 3))(path)
    graph = pipeline.to_graph(pipeline.load(path, Reading(pooling="cls")), None)
    assert any(head in note for note in graph.notes)


@pytest.mark.parametrize("variant", ["masks/deberta-v2_own", "masks/deberta_own"])
def test_what_told_replaced_words_is_left_aside_where_words_are_predicted(variant: str, tmp_path: Path) -> None:
    """The library (5.23) does not read it, either."""
    path = changed(variant, add("mask_predictions.dense.weight", (1, 3)), tmp_path)
    graph = pipeline.to_graph(pipeline.load(path), None)
    assert (graph.task.name, "mask_predictions.dense.weight" in " ".join(graph.notes)) == ("fill_mask", True)


def test_an_embedding_beside_other_heads_is_refused(tmp_path: Path) -> None:
    """Which would count in its place: those of a class that has two, and those of --head."""
    both = changed("masks/mobilebert", configure(architectures=["MobileBertForPreTraining"]), tmp_path)
    add("cls.seq_relationship.weight", (2, 20))(both)
    add("cls.seq_relationship.bias", (2,))(both)
    heads = (HeadFolder("words", folder("masks/bert")),)
    for path, reading in (
        (both, Reading(pooling="mean")),
        (folder("masks/bert"), Reading(pooling="mean", heads=heads)),
    ):
        with pytest.raises(EtchError, match="--pooling is for an encoder alone") as caught:
            pipeline.to_graph(pipeline.load(path, reading), None)
        assert caught.value.code == "option-conflict"


@pytest.mark.parametrize("variant", ["sparse/bert", "bert/softmax", "masks/mpnet"])
def test_another_head_still_counts(variant: str, tmp_path: Path) -> None:
    """A classifier is no class of pretraining, what weighs words has its own pooling, and another family's is none."""
    names = {"masks/mpnet": ["BertForMaskedLM"]}
    path = changed(variant, configure(**({"architectures": names[variant]} if variant in names else {})), tmp_path)
    with pytest.raises(EtchError, match=r"option-conflict|architecture-not-supported"):
        pipeline.to_graph(pipeline.load(path, Reading(pooling="mean")), None)
