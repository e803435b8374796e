# SPDX-License-Identifier: Apache-2.0
"""The values of a model's files for GPUs: found in programs of encoders, refused in any other."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen.errors import EtchError
from codegen.gpu import encoder_of
from codegen.ir import program as p
from codegen.ir import walks
from codegen.quantize import RECIPES
from codegen.render.cuda import cuda_values
from codegen.render.manifest import manifest
from codegen.render.model import render_model


def values_of(program: p.Program) -> dict[str, Any]:
    return cuda_values(program, encoder_of(program))


def classifier(folder: Path, recipe: str = "w8a8", **shape: Any) -> p.Program:
    write_tiny_checkpoint(folder, **shape)
    return pipeline.lower(pipeline.load(folder), recipe, None)


def embedding(folder: Path, pooling: str, normalize: bool = True) -> p.Program:
    write_tiny_sentence_model(folder, pooling=pooling, normalize=normalize)
    return pipeline.lower(pipeline.load(folder), "w8a8", None)


def test_a_classifier(tmp_path: Path) -> None:
    values = values_of(classifier(tmp_path, hidden=36, heads=3, intermediate=37))
    assert (values["exact"], values["pooling"], values["normalizes"]) == (True, None, False)
    assert (values["width"], values["inner"], values["heads"], values["head_width"]) == (36, 37, 3, 12)
    assert (values["hidden"], values["hidden_activation"], values["last"]) == ("kPooler", "tanh", "kClassifier")


def test_the_recipe_decides_whether_there_is_an_exact_mode(tmp_path: Path) -> None:
    assert not values_of(classifier(tmp_path, "fp32"))["exact"]


@pytest.mark.parametrize("pooling", ["first", "mean", "max", "mean_sqrt"])
def test_embeddings_are_pooled_of_all_rows(pooling: str, tmp_path: Path) -> None:
    values = values_of(embedding(tmp_path, "cls" if pooling == "first" else pooling))
    assert values["pooling"] == pooling
    assert "last" not in values
    assert values["normalizes"]
    assert values["host_ops"]


def without(kind: type) -> Callable[[p.Program], p.Program]:
    return lambda program: dataclasses.replace(
        program, steps=tuple(step for step in program.steps if not isinstance(step, kind))
    )


def twice(program: p.Program) -> p.Program:
    loop = next(step for step in program.steps if isinstance(step, p.Loop))
    return dataclasses.replace(program, steps=(loop, *program.steps))


def with_head(program: p.Program, *ops: p.Op) -> p.Program:
    *steps, head = program.steps
    assert isinstance(head, p.Repeat)
    return dataclasses.replace(program, steps=(*steps, dataclasses.replace(head, body=(*head.body, *ops))))


def longer_head(program: p.Program) -> p.Program:
    return with_head(program, walks.ops_of(program)[-1])


def pooled_twice(program: p.Program) -> p.Program:
    row = program.output
    return with_head(program, p.Pool("mean", row, row))


@pytest.mark.parametrize(
    "change", [without(p.EmbeddingSum), without(p.Norm), without(p.Loop), twice, longer_head, pooled_twice]
)
def test_what_is_no_encoder_is_refused(change: Callable[[p.Program], p.Program], tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        encoder_of(change(classifier(tmp_path)))
    assert (caught.value.code, caught.value.stage) == ("gpu-not-supported", "gpu")


@pytest.mark.parametrize("gpu", [False, True])
def test_files_are_there_where_asked_for(gpu: bool, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden=64, heads=2, hidden_act="silu")
    checkpoint = pipeline.load(tmp_path)
    graph = pipeline.to_graph(checkpoint, None)
    model = pipeline.make_model("tiny", checkpoint, graph, RECIPES["w8a8"], "host", gpu=gpu)
    files = {file.name: b"".join(file.content).decode() for file in render_model(model, "c")}
    expected = {"tiny_cuda.hpp", "tiny_cuda.cpp"} if gpu else set()
    assert {name for name in files if "cuda" in name} == expected
    assert ("CUDA_SOURCES tiny_cuda.cpp" in files["CMakeLists.txt"]) == gpu
    assert json.loads(manifest(model, "c", {}))["gpu"] == gpu
    assert all(len(line) <= 120 for name in expected for line in files[name].split("\n"))


NAMES = ("without", "asked")
NO_ENCODER = EtchError("gpu-not-supported", "gpu", "no encoder")


def refuse(_: p.Program) -> None:
    raise NO_ENCODER


def test_cpus_never_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What GPUs cannot run is generated for CPUs; asked for, it is refused and nothing is written."""
    monkeypatch.setattr(pipeline, "encoder_of", refuse)
    write_tiny_checkpoint(tmp_path / "checkpoint")
    plain, asked = (pipeline.Request(tmp_path / "checkpoint", tmp_path / name, gpu=name == "asked") for name in NAMES)
    pipeline.generate(plain, lambda _: None)
    with pytest.raises(EtchError) as caught:
        pipeline.generate(asked, lambda _: None)
    assert caught.value is NO_ENCODER
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "without"]
