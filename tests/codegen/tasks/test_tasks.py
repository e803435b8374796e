# SPDX-License-Identifier: Apache-2.0
"""Which task a BERT folder has: by its configuration, by what CrossEncoder wrote into it, by sentence-transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import write_json, write_tiny_checkpoint
from tiny_sentence import POOLINGS, write_tiny_sentence_model

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.op import slots
from codegen.report import checkpoint_report
from codegen.tasks.classification import Classification
from codegen.tasks.embedding import Embedding
from codegen.tasks.regression import Regression

OLD = "sbert_ce_default_activation_function"
IDENTITY = "torch.nn.modules.linear.Identity"
SIGMOID = "torch.nn.modules.activation.Sigmoid"
MULTI = "multi_label_classification"
SINGLE = "single_label_classification"


def configure(folder: Path, **values: Any) -> None:
    """Sets keys of config.json; None removes one."""
    config = json.loads((folder / "config.json").read_text())
    config.update(values)
    write_json(folder / "config.json", {key: value for key, value in config.items() if value is not None})


def graph_of(folder: Path) -> g.Graph:
    return pipeline.to_graph(pipeline.load(folder), None)


def new_key(function: str) -> dict[str, Any]:
    return {"sentence_transformers": {"activation_fn": function, "version": "5.0.0"}}


# (labels, keys of config.json) -> the function behind the logits; none: regression.
FUNCTIONS: list[tuple[int, dict[str, Any], str]] = [
    (3, {}, "softmax"),
    (3, {"problem_type": SINGLE}, "softmax"),
    (3, {"problem_type": MULTI}, "sigmoid"),
    (3, {"problem_type": "regression"}, "none"),
    (1, {}, "sigmoid"),
    (1, {"problem_type": SINGLE}, "sigmoid"),
    (1, {"problem_type": MULTI}, "sigmoid"),
    (1, {"problem_type": "regression"}, "none"),
    (1, {OLD: IDENTITY}, "none"),
    (1, {OLD: SIGMOID}, "sigmoid"),
    (1, {OLD: "torch.nn.Identity"}, "none"),
    (1, new_key(IDENTITY), "none"),
    (1, new_key(SIGMOID), "sigmoid"),
    (1, {OLD: IDENTITY} | new_key(IDENTITY), "none"),
    (1, {"sentence_transformers": {"version": "5.0.0"}}, "sigmoid"),
    (1, {"problem_type": "regression", OLD: IDENTITY}, "none"),
    (3, {OLD: IDENTITY}, "softmax"),
    (3, {"problem_type": MULTI, OLD: SIGMOID}, "sigmoid"),
    (3, {"function_to_apply": "softmax"}, "softmax"),
    (1, {"function_to_apply": "Sigmoid"}, "sigmoid"),
    (1, {"function_to_apply": "none", OLD: IDENTITY}, "none"),
]


@pytest.mark.parametrize(("labels", "keys", "function"), FUNCTIONS, ids=str)
def test_function_of_a_classifier(labels: int, keys: dict[str, Any], function: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, labels=labels)
    configure(tmp_path, **keys)
    names = tuple(f"label {i}" for i in range(labels))
    expected = Regression(names) if function == "none" else Classification(names, function)
    assert graph_of(tmp_path).task == expected


CONFLICTS: list[tuple[int, dict[str, Any], str, str]] = [
    (1, {OLD: "torch.nn.modules.activation.Tanh"}, "activation-not-supported", "Tanh"),
    (1, new_key("torch.nn.modules.activation.Softmax"), "activation-not-supported", "Softmax"),
    (1, {OLD: "evil.Sigmoid"}, "activation-not-supported", "evil.Sigmoid"),
    (1, {OLD: 7}, "activation-not-supported", OLD),
    (1, {OLD: IDENTITY} | new_key(SIGMOID), "activation-conflict", "different functions"),
    (1, {"problem_type": "regression", OLD: SIGMOID}, "activation-conflict", "sigmoid"),
    (3, {OLD: SIGMOID}, "activation-conflict", "softmax"),
    (3, {"problem_type": MULTI, OLD: IDENTITY}, "activation-conflict", "none"),
    (3, {"function_to_apply": "sigmoid"}, "activation-conflict", "'function_to_apply' is sigmoid"),
    (3, {"function_to_apply": "none"}, "activation-conflict", "softmax"),
    (3, {"function_to_apply": "relu"}, "function-not-supported", "relu"),
    (3, {"function_to_apply": True}, "function-not-supported", "function_to_apply"),
]


@pytest.mark.parametrize(("labels", "keys", "code", "words"), CONFLICTS, ids=str)
def test_conflicts_are_refused(labels: int, keys: dict[str, Any], code: str, words: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, labels=labels)
    configure(tmp_path, **keys)
    with pytest.raises(EtchError) as caught:
        graph_of(tmp_path)
    assert (caught.value.code, caught.value.stage, caught.value.file) == (code, "front-end", "config.json")
    assert words in str(caught.value)


# --- embeddings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_poolings(pooling: str, normalize: bool, tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path, pooling=pooling, normalize=normalize)
    graph = graph_of(tmp_path)
    assert graph.task == Embedding(10)
    kind = "first" if pooling == "cls" else pooling
    tail = [g.Pool(kind, "hidden", "embedding"), *([g.Normalize("embedding")] if normalize else [])]
    assert list(graph.body[3:]) == tail
    checkpoint = pipeline.load(tmp_path)
    (line,) = [line for line in checkpoint_report(checkpoint, graph) if line.startswith("task")]
    assert line == f"task         embedding of 10 values, pooling {kind}, {'' if normalize else 'not '}normalized"


@pytest.mark.parametrize("prefix", ["", "bert."])
@pytest.mark.parametrize("pooler", [True, False])
def test_names_of_tensors(prefix: str, pooler: bool, tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path / "embedding", prefix=prefix, pooler=pooler)
    write_tiny_checkpoint(tmp_path / "classifier")
    graph, classifier = graph_of(tmp_path / "embedding"), graph_of(tmp_path / "classifier")
    for ours, theirs in zip(graph.body[:2], classifier.body[:2], strict=True):
        for one, other in zip(slots(ours), slots(theirs), strict=True):
            assert np.array_equal(one.arrays[0].values, other.arrays[0].values)
    unused = [f"{prefix}pooler.dense.bias", f"{prefix}pooler.dense.weight"] if pooler else []
    assert all(name in " ".join(graph.notes) for name in unused)
    assert bool(graph.notes) == pooler


def test_a_tensor_without_a_place_is_refused(tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path, prefix="bert.")
    (tmp_path / "modules.json").rename(tmp_path / "other.json")
    configure(tmp_path, architectures=["BertForSequenceClassification"])
    with pytest.raises(EtchError) as caught:
        graph_of(tmp_path)
    assert (caught.value.code, caught.value.tensor) == ("missing-tensor", "classifier.weight")


def test_an_encoder_alone_that_names_no_class_is_told_of_pooling(tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path)
    (tmp_path / "modules.json").rename(tmp_path / "other.json")
    configure(tmp_path, architectures=None)
    with pytest.raises(EtchError, match="for an encoder alone say --pooling mean") as caught:
        graph_of(tmp_path)
    assert (caught.value.code, caught.value.file) == ("missing-tensor", "model.safetensors")


def without_modules(folder: Path) -> None:
    (folder / "modules.json").unlink()


ARCHITECTURES: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "no modules": (without_modules, "modules-missing", "modules.json of sentence-transformers"),
    "a classifier with modules": (
        lambda folder: configure(folder, architectures=["BertForSequenceClassification"]),
        "architecture-conflict",
        "remove modules.json",
    ),
}


@pytest.mark.parametrize("case", ARCHITECTURES)
def test_architectures_are_refused(case: str, tmp_path: Path) -> None:
    change, code, words = ARCHITECTURES[case]
    write_tiny_sentence_model(tmp_path)
    change(tmp_path)
    with pytest.raises(EtchError) as caught:
        graph_of(tmp_path)
    assert (caught.value.code, caught.value.stage, caught.value.file) == (code, "front-end", "config.json")
    assert words in str(caught.value)


def test_an_encoder_need_not_name_its_architecture(tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path)
    configure(tmp_path, architectures=None)
    assert graph_of(tmp_path).task == Embedding(10)


def test_reports_of_classifiers(tmp_path: Path) -> None:
    for labels, problem, words in (
        (3, None, "single-label classification (softmax), 3 labels: label 0, label 1, label 2"),
        (2, MULTI, "multi-label classification (sigmoid), 2 labels: label 0, label 1"),
        (1, None, "multi-label classification (sigmoid), 1 label: label 0"),
        (1, "regression", "regression (no activation), 1 value: label 0"),
    ):
        folder = tmp_path / f"{labels}{problem}"
        write_tiny_checkpoint(folder, labels=labels, problem_type=problem)
        lines = checkpoint_report(pipeline.load(folder), graph_of(folder))
        assert f"task         {words}" in lines
