# SPDX-License-Identifier: Apache-2.0
"""Classifiers by a GRU on a frozen encoder: what a folder may say, and what is refused of it by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, changed, graph_of
from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors, write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends.encoders import bert
from codegen.frontends.shared.computed import Computed
from codegen.ir import graph as g
from codegen.ir.weights import S4Matrix
from codegen.quantize.bits import places_of
from codegen.quantize.bounds import check_bounds
from codegen.request import Reading
from codegen.tasks.classification import Classification

SETTINGS = json.loads((folder("gru/one_layer") / "head.json").read_text())


def settings(**values: object) -> Change:
    """Sets keys of head.json; None removes one."""

    def change(path: Path) -> None:
        given = SETTINGS | values
        write_json(path / "head.json", {key: value for key, value in given.items() if value is not None})

    return change


def tensors(edit: Callable[[dict[str, np.ndarray]], None]) -> Change:
    """Changes what head.safetensors holds, in float16."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "head.safetensors")
        held = {
            name: np.frombuffer(data[slice(*entry["data_offsets"])], np.float16).reshape(entry["shape"]).copy()
            for name, entry in header.items()
            if name != "__metadata__"
        }
        edit(held)
        parts, entries, end = [], {}, 0
        for name, values in held.items():
            raw = values.tobytes()
            kind = {"float16": "F16", "int8": "I8"}[values.dtype.name]
            entries[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [end, end + len(raw)]}
            parts.append(raw)
            end += len(raw)
        write_raw_safetensors(path / "head.safetensors", entries, b"".join(parts))

    return change


def encoder_config(**values: object) -> Change:
    def change(path: Path) -> None:
        config = json.loads((path / "encoder" / "config.json").read_text()) | values
        write_json(path / "encoder" / "config.json", config)

    return change


def a_link(path: Path) -> None:
    (path / "encoder").rename(path / "elsewhere")
    (path / "encoder").symlink_to("elsewhere")


def pickled(path: Path) -> None:
    (path / "head.safetensors").rename(path / "head.pt")


def a_classifier(path: Path) -> None:
    shutil.rmtree(path / "encoder")
    write_tiny_checkpoint(path / "encoder")


def without_a_tensor(held: dict[str, np.ndarray]) -> None:
    del held["gru.bias_hh_l0"]


def of_another_width(held: dict[str, np.ndarray]) -> None:
    held["gru.weight_ih_l0"] = held["gru.weight_ih_l0"][:, :-1]


def of_two_directions(held: dict[str, np.ndarray]) -> None:
    held |= {f"{name}_reverse": values for name, values in held.items() if name.startswith("gru.")}


def not_finite(held: dict[str, np.ndarray]) -> None:
    held["linear.weight"][0, 0] = np.nan


def in_bytes(held: dict[str, np.ndarray]) -> None:
    held["linear.weight"] = held["linear.weight"].astype(np.int8)


def of_an_lstm(held: dict[str, np.ndarray]) -> None:
    for name in [name for name in held if name.startswith("gru.")]:
        held[name.replace("gru.", "lstm.")] = held.pop(name)


REFUSALS: list[tuple[str, Change, str, str]] = [
    ("no encoder", lambda path: shutil.rmtree(path / "encoder"), "encoder-missing", "no encoder/"),
    ("encoder is a link", a_link, "encoder-missing", "a link or a file"),
    ("config beside it", lambda path: shutil.copy(path / "encoder" / "config.json", path), "head-conflict", "encoder/"),
    ("a head on a head", lambda path: shutil.copy(path / "head.json", path / "encoder"), "head-conflict", "a head on"),
    ("an encoder with a head", a_classifier, "head-conflict", "BertForSequenceClassification"),
    ("an encoder of another family", encoder_config(model_type="whisper"), "model-type-not-supported", "'whisper'"),
    ("no weights", lambda path: (path / "head.safetensors").unlink(), "weights-missing", "of the head"),
    ("pickled weights", pickled, "pickle-refused", "head.pt"),
    ("a list", lambda path: write_json(path / "head.json", [SETTINGS]), "json-not-an-object", "head.json"),
    ("no type", settings(type=None), "config-missing", "'type'"),
    ("LSTM", settings(type="lstm"), "head-type-not-supported", "'lstm'"),
    ("RNN", settings(type="rnn"), "head-type-not-supported", "'rnn'"),
    ("unknown key", settings(attention=True), "head-setting", "'attention'"),
    ("projected states", settings(proj_size=4), "head-setting", "'proj_size': 4"),
    ("padded training", settings(packed=False), "head-setting", "'packed': false"),
    ("mean of the states", settings(pooling="mean"), "head-setting", "'pooling': 'mean'"),
    ("Keras' first form", settings(reset_after=False), "head-setting", "'reset_after'"),
    ("five layers", settings(num_layers=5), "config-out-of-range", "num_layers"),
    ("no layers", settings(num_layers=0), "config-out-of-range", "num_layers"),
    ("no width", settings(hidden_size=None), "config-missing", "hidden_size"),
    ("width as text", settings(hidden_size="13"), "config-type", "hidden_size"),
    ("directions as a number", settings(bidirectional=2), "config-type", "bidirectional"),
    ("another width of the encoder", settings(input_size=21), "head-width", "21"),
    ("dropout of 2", settings(dropout=2), "config-out-of-range", "dropout"),
    ("batch_first as text", settings(batch_first="yes"), "config-type", "batch_first"),
    ("no labels", settings(labels=None), "labels-type", "labels"),
    ("empty labels", settings(labels=[]), "labels-type", "labels"),
    ("labels of numbers", settings(labels=[0, 1, 2]), "labels-type", "0"),
    ("labels twice", settings(labels=["a", "a", "b"]), "labels-duplicate", "same name"),
    ("too few labels", settings(labels=["a", "b"]), "wrong-shape", "linear.weight"),
    ("softmax of one", settings(labels=["a"]), "labels-conflict", "sigmoid"),
    ("no activation", settings(activation=None), "config-missing", "activation"),
    ("another activation", settings(activation="relu"), "activation-not-supported", "'relu'"),
    ("one layer more than there is", settings(num_layers=2), "missing-tensor", "gru.weight_ih_l1"),
    ("both directions of one", settings(bidirectional=True), "missing-tensor", "_reverse"),
    ("biases that are not used", settings(bias=False), "unused-tensor", "gru.bias_hh_l0"),
    ("a missing tensor", tensors(without_a_tensor), "missing-tensor", "gru.bias_hh_l0"),
    ("inputs of another width", tensors(of_another_width), "wrong-shape", "gru.weight_ih_l0"),
    ("a direction that is not used", tensors(of_two_directions), "unused-tensor", "_reverse"),
    ("NaN", tensors(not_finite), "tensor-not-finite", "linear.weight"),
    ("bytes", tensors(in_bytes), "dtype-not-supported", "I8"),
    ("names of an LSTM", tensors(of_an_lstm), "missing-tensor", "gru.weight_ih_l0"),
]


@pytest.mark.parametrize(("change", "code", "words"), [pytest.param(*case[1:], id=case[0]) for case in REFUSALS])
def test_a_bad_folder_is_refused(change: Change, code: str, words: str, tmp_path: Path) -> None:
    path = changed("gru/one_layer", change, tmp_path)
    with pytest.raises(EtchError) as caught:
        graph_of(path)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_files_of_the_encoder_are_named_as_such(tmp_path: Path) -> None:
    path = changed("gru/one_layer", encoder_config(hidden_size="wide"), tmp_path)
    with pytest.raises(EtchError) as caught:
        graph_of(path)
    assert caught.value.file == "encoder/config.json"


def test_a_family_without_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes no notice of what follows the encoder."""
    write_tiny_checkpoint(tmp_path)
    other = graph_of(tmp_path)
    monkeypatch.setattr(bert, "FAMILY", SimpleNamespace(build_graph=lambda *_: other))
    with pytest.raises(EtchError) as caught:
        graph_of(folder("gru/one_layer"))
    assert (caught.value.code, caught.value.file) == ("head-not-supported", "head.json")


def test_other_ways_to_pool_are_refused() -> None:
    with pytest.raises(EtchError) as caught:
        pipeline.load(folder("gru/one_layer"), Reading(pooling="mean"))
    assert caught.value.code == "option-conflict" and "head.json" in str(caught.value)


def test_the_encoder_may_be_a_folder_of_sentence_transformers(tmp_path: Path) -> None:
    """Its modules are not used, and that is said."""

    def exchanged(path: Path) -> None:
        shutil.rmtree(path / "encoder")
        write_tiny_sentence_model(path / "encoder", hidden=20)

    checkpoint = pipeline.load(changed("gru/one_layer", exchanged, tmp_path))
    assert "encoder/modules.json: not used, the GRU reads every row" in checkpoint.notes
    ops = [type(op) for op, _ in g.ops_of(pipeline.to_graph(checkpoint, None))]
    assert ops[-4:] == [g.Linear, g.Gru, g.Pool, g.Linear]


def test_the_digest_is_of_encoder_and_head(tmp_path: Path) -> None:
    digests = {
        pipeline.load(changed("gru/one_layer", change, tmp_path / str(i))).digest
        for i, change in enumerate((lambda _: None, settings(dropout=0.5), encoder_config(initializer_range=0.5)))
    }
    assert len(digests) == 3
    assert pipeline.load(folder("gru/one_layer")).digest in digests


def test_sigmoid_of_several_labels_is_each_by_itself(tmp_path: Path) -> None:
    checkpoint = pipeline.load(changed("gru/one_layer", settings(activation="sigmoid"), tmp_path))
    task = pipeline.to_graph(checkpoint, None).task
    assert task == Classification(("label 0", "label 1", "label 2"), "sigmoid") and task.name == "multi_label"


def test_weights_of_4_bits_where_they_are_named() -> None:
    """The input products, and what goes from row to row."""
    checkpoint = pipeline.load(folder("gru/three_layers"))
    bits = {"gru_1_input": 4, "gru_0_backward": 4}
    program = pipeline.lower(checkpoint, "w8a8", None, bits=bits)
    four = {name for _, name, weights in places_of(program) if isinstance(weights.matrix, S4Matrix)}
    assert four == set(bits)
    with pytest.raises(EtchError, match="gru_2_forward"):
        pipeline.lower(checkpoint, "w8a8", None, bits={"gru_3_forward": 4})


def test_a_weight_that_could_overflow_is_refused() -> None:
    graph = graph_of(folder("gru/one_layer"))
    (recurrence,) = next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Gru)).directions
    check_bounds(graph)

    def grown(op: g.Node) -> g.Node:
        if not isinstance(op, g.Gru):
            return op
        weight = g.Parameter("large", (Computed("large", (39, 13), lambda: np.full((39, 13), 2.0**47, np.float32)),))
        return replace(op, directions=(replace(recurrence, weight=weight),))

    with pytest.raises(EtchError) as caught:
        check_bounds(replace(graph, body=tuple(map(grown, graph.body))))
    assert (caught.value.code, caught.value.tensor) == ("activation-bound", "large")
