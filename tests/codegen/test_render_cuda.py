# SPDX-License-Identifier: Apache-2.0
"""The values of a model's files for GPUs: found in programs of encoders, refused in any other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen import program as p
from codegen.errors import EtchError
from codegen.quantize import RECIPES
from codegen.render.cuda import cuda_values
from codegen.render.model import render_model
from codegen.targets import TARGETS


def classifier(folder: Path, recipe: str = "w8a8", **shape: Any) -> p.Program:
    write_tiny_checkpoint(folder, **shape)
    return pipeline.lower(pipeline.load(folder), recipe, None)


def embedding(folder: Path, pooling: str, normalize: bool = True) -> p.Program:
    write_tiny_sentence_model(folder, pooling=pooling, normalize=normalize)
    return pipeline.lower(pipeline.load(folder), "w8a8", None)


def test_a_classifier(tmp_path: Path) -> None:
    values = cuda_values(classifier(tmp_path, hidden=36, heads=3, intermediate=37))
    assert (values["exact"], values["first_rows"], values["pooling"], values["normalizes"]) == (True, True, None, False)
    assert [linear["name"] for linear in values["hidden_linears"]] == ["pooler"]
    assert values["last_linear"]["name"] == "classifier"
    # Rows of products are padded to 16 values; in fast mode each head is, too.
    assert (values["exact_projections_stride"], values["width_stride"], values["inner_stride"]) == (112, 48, 48)
    assert (values["exact_widest"], values["fast_projections"], values["fast_context"]) == (112, 144, 48)


def test_the_recipe_decides_whether_there_is_an_exact_mode(tmp_path: Path) -> None:
    assert not cuda_values(classifier(tmp_path, "fp32"))["exact"]


@pytest.mark.parametrize("pooling", ["first", "mean", "max", "mean_sqrt"])
def test_embeddings_are_pooled_of_all_rows(pooling: str, tmp_path: Path) -> None:
    values = cuda_values(embedding(tmp_path, "cls" if pooling == "first" else pooling))
    assert (values["pooling"], values["first_rows"], values["last_linear"]) == (pooling, False, None)
    assert values["normalizes"]
    assert values["host_ops"]


@pytest.mark.parametrize(
    ("activation", "epilogue", "own"),
    [
        ("relu", "bias_relu", False),
        ("gelu", "bias_gelu", False),
        ("gelu_new", "bias_gelu", False),
        ("silu", "bias", True),
        ("quick_gelu", "bias", True),
    ],
)
def test_activations_are_the_librarys_where_it_has_them(
    activation: str, epilogue: str, own: bool, tmp_path: Path
) -> None:
    values = cuda_values(classifier(tmp_path, hidden_act=activation))
    assert (values["epilogue"], values["own_activation"]) == (epilogue, own)
    assert values["tanh_gelu"] == (activation == "gelu")


def without(kind: type) -> Callable[[p.Program], p.Program]:
    return lambda program: dataclasses.replace(
        program, steps=tuple(step for step in program.steps if not isinstance(step, kind))
    )


def twice(program: p.Program) -> p.Program:
    loop = next(step for step in program.steps if isinstance(step, p.Loop))
    return dataclasses.replace(program, steps=(loop, *program.steps))


def longer_head(program: p.Program) -> p.Program:
    return dataclasses.replace(program, steps=(*program.steps, program.steps[-1]))


def pooled_twice(program: p.Program) -> p.Program:
    row = program.output
    return dataclasses.replace(program, steps=(*program.steps, p.Pool("mean", row, row)))


@pytest.mark.parametrize(
    "change", [without(p.EmbeddingSum), without(p.LayerNorm), without(p.Loop), twice, longer_head, pooled_twice]
)
def test_what_is_no_encoder_is_refused(change: Callable[[p.Program], p.Program], tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        cuda_values(change(classifier(tmp_path)))
    assert (caught.value.code, caught.value.stage) == ("gpu-not-supported", "render")


@pytest.mark.parametrize("target", TARGETS)
def test_hosts_have_files_for_gpus(target: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, hidden=64, heads=2, hidden_act="silu")
    checkpoint = pipeline.load(tmp_path)
    model = pipeline.make_model("tiny", checkpoint, pipeline.to_graph(checkpoint, None), RECIPES["w8a8"], target)
    files = {file.name: b"".join(file.content).decode() for file in render_model(model, "c")}
    expected = {"tiny_cuda.hpp", "tiny_cuda.cpp"} if target == "host" else set()
    assert {name for name in files if "cuda" in name} == expected
    assert ("CUDA_SOURCES tiny_cuda.cpp" in files["CMakeLists.txt"]) == (target == "host")
    assert all(len(line) <= 120 for name in expected for line in files[name].split("\n"))
