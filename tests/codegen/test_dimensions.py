# SPDX-License-Identifier: Apache-2.0
"""--dimensions: the first values of an embedding, as `encode(truncate_dim=N)` of sentence-transformers has them, and
with `normalize_embeddings=True` where the model normalizes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder

from codegen import cli, pipeline
from codegen.emulate import emulate_texts
from codegen.errors import EtchError
from codegen.folders.manifest import read_manifest
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir.text import Text
from codegen.ir.walks import ops_of
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

MEAN, DENSE, MODEL2VEC = (f"static_embedding/{name}" for name in ("mean", "dense", "model2vec"))
POOLED, WITH_LINEAR = "bert/jina_mean", "bert/dense_tanh"
IDS = [[5, 7, 8, 3], [9], [4, 4, 6]]


def graph_of(variant: str, dimensions: int | None) -> g.Graph:
    return pipeline.to_graph(pipeline.load(folder(variant), Reading(dimensions=dimensions)), None)


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("variant", [MEAN, DENSE, MODEL2VEC, POOLED, WITH_LINEAR, "bert/weighted"])
def test_they_are_the_first_ones(variant: str, count: int) -> None:
    whole, first = Interpreter(graph_of(variant, None)), Interpreter(graph_of(variant, count))
    normalizes = any(isinstance(node, g.Normalize) for node in graph_of(variant, None).body)
    for ids in IDS:
        expected = whole.output(ids, [0] * len(ids))[:count]
        expected = expected / np.linalg.norm(expected) if normalizes else expected
        found = first.output(ids, [0] * len(ids))
        assert found.shape == (count,)
        assert np.abs(found - expected).max() < 1e-12


@pytest.mark.parametrize("recipe", ["fp32", "w8a8"])
@pytest.mark.parametrize("variant", [POOLED, WITH_LINEAR])
def test_the_bits_are_those_of_all(variant: str, recipe: str) -> None:
    """Before a length of one: what computes a value does not know of those behind it."""
    programs = []
    for dimensions in (None, 5):
        program = pipeline.lower(pipeline.load(folder(variant), Reading(dimensions=dimensions)), recipe, None)
        steps = tuple(_without_normalize(step) for step in program.steps)
        programs.append(emulate_texts(replace(program, steps=steps), [Text(ids, [0] * len(ids)) for ids in IDS]))
    for whole, first in zip(*programs, strict=True):
        assert first.tobytes() == whole[:5].tobytes()


def _without_normalize(step: p.Step) -> p.Step:
    if not isinstance(step, p.Repeat):
        return step
    return replace(step, body=tuple(op for op in step.body if not isinstance(op, p.Normalize)))


def test_what_is_left_out_is_not_stored() -> None:
    table, pooled, linear = (graph_of(variant, 5) for variant in (MEAN, POOLED, DENSE))
    (embed, pool, _) = table.body
    assert isinstance(embed, g.Embed) and embed.terms[0].table.shape[1] == 5
    assert isinstance(pool, g.Pool) and pool.columns is None
    assert [node.columns for node in pooled.body if isinstance(node, g.Pool)] == [5]
    assert [node.weight.shape[0] for node in linear.body if isinstance(node, g.Linear)][-1] == 5
    program = pipeline.lower(pipeline.load(folder(MEAN), Reading(dimensions=5)), "w8a8", None)
    assert any(isinstance(op, p.EmbeddingMean) and op.out.width == 5 for op in ops_of(program))


@pytest.mark.parametrize(
    ("variant", "dimensions", "code"),
    [
        (MEAN, 0, "dimensions-out-of-range"),
        (MEAN, 100_000, "dimensions-out-of-range"),
        ("bert/row_norms", 5, "dimensions-not-supported"),
        ("bert/softmax", 5, "option-conflict"),
        ("sparse/bert", 5, "option-conflict"),
        ("vectors/bert", 5, "option-conflict"),
    ],
)
def test_others_are_refused(variant: str, dimensions: int, code: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(variant, dimensions)
    assert caught.value.code == code


def test_it_is_remembered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert cli.main(["generate", str(folder(POOLED)), "--out", str(out), "--dimensions", "7"]) == 0
    assert "embedding of 7 values" in capsys.readouterr().out
    assert read_manifest(out)["dimensions"] == 7
    assert "kEmbeddingWidth = 7;" in (out / "out.hpp").read_text()
    assert cli.main(["inspect", str(folder(POOLED)), "--dimensions", "7", "--json"]) == 0
    assert "7" in str(json.loads(capsys.readouterr().out))
    arguments = ["generate", str(folder(POOLED)), "--out", str(tmp_path / "gpu"), "--dimensions", "7"]
    assert cli.main([*arguments, "--gpu"]) == 1
    assert "error[gpu-not-supported]" in capsys.readouterr().err
