# SPDX-License-Identifier: Apache-2.0
"""Classes with a head whose encoder alone counts: published folders of sentence-transformers name those of pretraining,
as all-mpnet-base-v2 does MPNetForMaskedLM, and `--pooling` takes any."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import HERE, folder, read_recorded
from recorded_changes import add, changed, configure, drop
from tiny_checkpoint import read_raw_safetensors, write_json

from codegen import pipeline
from codegen.errors import EtchError
from codegen.head_folders import HeadFolder
from codegen.ir.check_graph import check_graph
from codegen.ir.graph import Graph
from codegen.load.sentence import Pooling
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading
from codegen.tasks.embedding import Embedding


def graph_of(path: Path, pooling: Pooling | None) -> Graph:
    return pipeline.to_graph(pipeline.load(path, Reading(pooling=pooling)), None)


def with_mean(path: Path, width: int) -> Path:
    """Gives a folder the files that --pooling mean stands for."""
    kinds = ("Transformer", "Pooling")
    modules = [
        {"idx": i, "name": str(i), "path": str(i) if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write_json(path / "modules.json", modules)
    (path / "1").mkdir()
    write_json(path / "1/config.json", {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True})
    return path


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
    said = graph_of(with_mean(path, asked.task.outputs), None)
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


def test_two_heads_of_one_class_are_left_aside(tmp_path: Path) -> None:
    both = changed("masks/mobilebert", configure(architectures=["MobileBertForPreTraining"]), tmp_path)
    add("cls.seq_relationship.weight", (2, 20))(both)
    add("cls.seq_relationship.bias", (2,))(both)
    outputs = [
        Interpreter(pipeline.to_graph(pipeline.load(path, Reading(pooling="mean")), None)).output([5, 9, 7], [0] * 3)
        for path in (both, folder("masks/mobilebert"))
    ]
    assert np.array_equal(*outputs)


def test_an_embedding_beside_other_heads_is_refused() -> None:
    """Which would count in its place."""
    heads = (HeadFolder("words", folder("masks/bert")),)
    with pytest.raises(EtchError, match="--pooling is for an encoder alone") as caught:
        pipeline.to_graph(pipeline.load(folder("masks/bert"), Reading(pooling="mean", heads=heads)), None)
    assert caught.value.code == "option-conflict"


@pytest.mark.parametrize(
    ("variant", "prefix", "name", "model"),
    [
        ("bert/softmax", "bert.", "BertForSequenceClassification", "BertModel"),
        ("tags/distilbert", "distilbert.", "DistilBertForTokenClassification", "DistilBertModel"),
        ("answers/electra", "electra.", "ElectraForQuestionAnswering", "ElectraModel"),
        ("tags/xlnet", "transformer.", "XLNetLMHeadModel", "XLNetModel"),
        ("llama/multi_label", "model.", "LlamaForSequenceClassification", "LlamaModel"),
        ("../generation/llama/texts", "model.", "LlamaForCausalLM", "LlamaModel"),
        ("../generation/t5/texts", "", "T5ForConditionalGeneration", "T5EncoderModel"),
    ],
)
def test_the_encoder_of_any_class(variant: str, prefix: str, name: str, model: str, tmp_path: Path) -> None:
    """sentence-transformers takes AutoModel of a folder, whatever class it names, with --pooling and, but for a
    classifier, with modules.json."""
    whole = changed(variant, configure(architectures=[name]), tmp_path)
    alone = tmp_path / "alone"
    shutil.copytree(whole, alone)
    configure(architectures=[model])(alone)
    header, _ = read_raw_safetensors(alone / "model.safetensors")
    heads = [key for key in header if key != "__metadata__" and prefix and not key.startswith(prefix)]
    for key in heads:
        drop(key)(alone)
    said = with_mean(alone, graph_of(whole, "mean").task.outputs)
    graphs = [graph_of(whole, "mean"), graph_of(said, None)]
    outputs = [Interpreter(graph).output([5, 9, 7, 8], [0] * 4) for graph in graphs]
    assert np.array_equal(*outputs)
    assert all(key in " ".join(graphs[0].notes) for key in heads)


@pytest.mark.parametrize("variant", ["tags/distilbert", "answers/electra", "tags/xlnet"])
def test_modules_behind_another_head(variant: str, tmp_path: Path) -> None:
    asked = graph_of(folder(variant), "mean")
    path = tmp_path / "said"
    shutil.copytree(folder(variant), path)
    said = graph_of(with_mean(path, asked.task.outputs), None)
    assert np.array_equal(*(Interpreter(graph).output([5, 9, 7, 8], [0] * 4) for graph in (asked, said)))


@pytest.mark.parametrize("variant", ["sparse/bert", "../generation/bart/texts"])
def test_another_head_still_counts(variant: str) -> None:
    """What weighs words has its own pooling, and BART's rows are its decoder's."""
    with pytest.raises(EtchError, match="option-conflict"):
        graph_of(folder(variant), "mean")


def test_a_class_that_the_library_does_not_know(tmp_path: Path) -> None:
    """AutoModel goes by model_type: facebook/contriever says Contriever."""
    path = changed("mpnet/mean", configure(architectures=["Contriever"]), tmp_path)
    graph = graph_of(path, None)
    note = "config.json says Contriever: read by model_type, as MPNetModel"
    assert graph.notes == (*graph_of(folder("mpnet/mean"), None).notes, note)
    for text in read_recorded("mpnet/mean"):
        assert np.abs(Interpreter(graph).output(text.ids, text.segments) - text.float64).max() < 1e-12
