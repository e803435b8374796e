# SPDX-License-Identifier: Apache-2.0
"""Smoothing: exponents against their definition, what it does to a model with outliers, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.budget import Limits
from codegen.calibration.smooth import exponents_of, smooth
from codegen.emulate import emulate_texts
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.normed import normed_of, with_factors
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.load.checkpoint import Checkpoint
from codegen.lower import lower
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES, choose_recipe

WORDS = ["the", "cat", "sat", "on", "mat", "good", "unable", "playing", "berlin", ".", "dogs", "ran"]
LINES = [" ".join(WORDS[(i * 5 + k * k) % len(WORDS)] for k in range(3 + i % 7)) for i in range(40)]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    write_tiny_checkpoint(tmp_path / "model", hidden=16, layers=2)
    (tmp_path / "texts").write_text("\n".join(LINES))
    return pipeline.load(tmp_path / "model")


def with_outliers(graph: g.Graph) -> g.Graph:
    """The same function; one channel of all rows behind norms is 256 times as large, and its weights are as much
    smaller."""
    normed = normed_of(graph)
    powers = np.zeros(16, np.int64)
    powers[5] = -8
    return with_factors(graph, normed, {stored: powers for of in normed for each in of.channels for stored in each})


def error(graph: g.Graph, checkpoint: Checkpoint, exact: g.Graph) -> float:
    """Of the outputs by w8a8: the mean."""
    encodings = text_tokenizer(checkpoint.tokenizer, 24).encode_batch(LINES)
    texts = [Text(each.ids, each.type_ids) for each in encodings]
    reference = Interpreter(exact)
    expected = np.array([reference.output(text.ids, text.segments) for text in texts])
    return float(np.abs(np.array(emulate_texts(lower(graph, RECIPES["w8a8"]), texts)) - expected).mean())


def test_exponents() -> None:
    inputs = np.array([1.0, 1.0, 1.0, 64.0, 0.0, 1.0, 2.0**60])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    assert exponents_of(inputs, weights).tolist() == [0, 0, 0, 3, 0, 0, 10]
    assert not exponents_of(np.zeros(3), np.ones(3)).any()
    assert exponents_of(inputs * 4, weights).tolist() == exponents_of(inputs, weights).tolist()


def test_outliers_hurt_less(checkpoint: Checkpoint, tmp_path: Path) -> None:
    plain = pipeline.to_graph(checkpoint, 24)
    hurt = with_outliers(plain)
    texts = tmp_path / "texts"
    smoothing = smooth(hurt, checkpoint.tokenizer, RECIPES["w8a8"], texts, reference=Interpreter(hurt))
    before, after = (error(graph, checkpoint, plain) for graph in (hurt, smoothing.graph))
    assert after < before / 4
    assert any("against float64, smoothed" in line for line in smoothing.lines)
    again = smooth(hurt, checkpoint.tokenizer, RECIPES["w8a8"], texts)
    for one, two in zip(g.parameters_of(smoothing.graph), g.parameters_of(again.graph), strict=True):
        assert [a.values.tobytes() for a in one.arrays] == [a.values.tobytes() for a in two.arrays]


def test_calibration_goes_on_with_it(checkpoint: Checkpoint, tmp_path: Path) -> None:
    lines: list[str] = []
    out = tmp_path / "out"
    request = pipeline.Request(tmp_path / "model", out, recipe="w4a8", max_tokens=24, name="tiny")
    texts = tmp_path / "texts"
    pipeline.generate(replace(request, smooth=texts, calibrate=texts), lines.append)
    assert [line.split()[0] for line in lines if line.startswith(("smoothing ", "calibration "))] == [
        "smoothing",
        "calibration",
    ]
    said = (out / "etch.json").read_text()
    assert "smoothing_sha256" in said and "calibration_sha256" in said


def refusal(graph: g.Graph, checkpoint: Checkpoint, recipe: str, texts: Path) -> EtchError:
    with pytest.raises(EtchError) as refused:
        smooth(graph, checkpoint.tokenizer, choose_recipe(recipe, 8, {}), texts)
    return refused.value


def test_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    graph = pipeline.to_graph(checkpoint, 24)
    refused = refusal(graph, checkpoint, "fp32", tmp_path / "texts")
    assert (refused.code, refused.stage) == ("nothing-to-smooth", "arguments")
    assert "fp32 rounds no rows" in str(refused)
    norms = tuple(node for node in graph.body if isinstance(node, g.Embed | g.Norm))
    refused = refusal(replace(graph, body=norms, heads=()), checkpoint, "w8a8", tmp_path / "texts")
    assert (refused.code, refused.stage) == ("nothing-to-smooth", "arguments")
    assert "no linear reads the rows of norms alone" in str(refused)
    refused = refusal(graph, checkpoint, "w8a8", tmp_path / "absent")
    assert (refused.code, refused.stage) == ("texts-unreadable", "smooth")
    (tmp_path / "none").write_text("")
    refused = refusal(graph, checkpoint, "w8a8", tmp_path / "none")
    assert (refused.code, refused.stage) == ("no-texts", "smooth")
    for other in ({"limits": Limits(1, 1)}, {"gpu": True}):
        with pytest.raises(EtchError, match="leave --smooth out"):
            pipeline.Request(tmp_path, tmp_path, smooth=tmp_path, **other)  # type: ignore[arg-type]
