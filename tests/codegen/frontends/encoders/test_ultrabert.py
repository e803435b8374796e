# SPDX-License-Identifier: Apache-2.0
"""The UltraBERT front-end: what older files say otherwise, and what is refused. test_recorded_models.py has what its
models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.frontends.shared.rotary import Angles, rotary_tables
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

CLS, MEAN, MASKS = "ultrabert/cls", "ultrabert/mean", "masks/ultrabert"
FULL, SLIDING = "full_attention", "sliding_attention"
ROTARY = "rotary-not-supported"
BARE = {"layer_types": None, "sliding_window": None, "rope_parameters": None}
OLDER = BARE | {"attention_windows": [3, 3, 0], "rope_theta": [70.0, 70.0, 900.0]}  # what CLS says
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "architecture": (CLS, configure(architectures=["UltrabertModel2"]), "architecture-not-supported", "UltrabertModel"),
    "a bare encoder": (CLS, configure(architectures=["UltrabertModel"]), "modules-missing", "UltrabertModel"),
    "pooling": (MEAN, configure(classifier_pooling="late"), "pooling-not-supported", "cls, mean"),
    "kinds": (CLS, configure(layer_types=[FULL] * 2), "layers-out-of-range", "3"),
    "a window": (CLS, configure(sliding_window=-1), "config-out-of-range", "sliding_window"),
    "no biases": (CLS, configure(attention_bias=True), "missing-tensor", "q_proj.bias"),
    "other angles": (CLS, configure(rope_parameters={FULL: {"rope_type": "yarn"}}), ROTARY, "yarn"),
    "angles of no kind": (CLS, configure(rope_parameters={"rope_theta": 3.0}), ROTARY, "rope_parameters"),
    "scaled angles": (CLS, configure(rope_scaling={"rope_type": "linear"}), ROTARY, "rope_scaling"),
    "a head's width": (MASKS, configure(prediction_head_size=None), "wrong-shape", "768"),
    "words twice": (MASKS, add("head.decoder.weight", (12, 3)), "unused-tensor", "head.decoder"),
    "other words": (MASKS, configure(tie_word_embeddings=True), "tied-tensors-differ", "cls.weight"),
    "windows for some layers": (CLS, configure(attention_windows=[3, 3]), "config-value", "3 layers"),
    "windows below 0": (CLS, configure(attention_windows=[-1, 3, 0]), "config-value", "3 layers"),
    "windows by name": (CLS, configure(attention_windows=["3", "3", "0"]), "config-value", "3 layers"),
    "a window alone": (CLS, configure(attention_windows=3), "config-value", "3 layers"),
    "several windows": (CLS, configure(attention_windows=[3, 2, 0]), "config-not-supported", "several"),
    "windows elsewhere": (CLS, configure(attention_windows=[3, 0, 0]), "config-value", "layer_types"),
    "other windows": (CLS, configure(attention_windows=[2, 2, 0]), "config-value", "sliding_window"),
    "thetas twice": (CLS, configure(rope_theta=[70.0, 70.0, 900.0]), ROTARY, "rope_parameters"),
    "thetas for some layers": (CLS, configure(**OLDER | {"rope_theta": [70.0]}), ROTARY, "3 layers"),
    "a theta alone": (CLS, configure(**OLDER | {"rope_theta": 70.0}), ROTARY, "3 layers"),
    "thetas by name": (CLS, configure(**OLDER | {"rope_theta": ["70", "70", "900"]}), ROTARY, "3 layers"),
    "several thetas": (CLS, configure(**OLDER | {"rope_theta": [60.0, 70.0, 900.0]}), ROTARY, "several"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(
    "values", [OLDER, OLDER | {"sliding_window": 3}, OLDER | {"layer_types": [SLIDING, SLIDING, FULL]}]
)
def test_an_older_file_means_the_same(values: dict[str, object], tmp_path: Path) -> None:
    interpreter = Interpreter(graph_of(changed(CLS, configure(**values), tmp_path)))
    for text in read_recorded(CLS):
        output = interpreter.output(text.ids, text.segments)
        assert np.abs(output - text.float64).max() < 1e-12 * max(1, np.abs(text.float64).max())


@pytest.mark.parametrize(
    ("values", "masks", "windows"),
    [
        ({}, ["window", "window", "none"], {3, None}),
        (BARE, ["window", "window", "none"], {128, None}),
        (BARE | {"attention_windows": [None, 5, 0]}, ["none", "window", "none"], {5, None}),
        (BARE | {"attention_windows": [0, 0, 0]}, ["none"] * 3, {None}),
        ({"sliding_window": 0}, ["window", "window", "none"], {0, None}),
    ],
)
def test_what_layers_see(values: dict[str, object], masks: list[str], windows: set[int | None], tmp_path: Path) -> None:
    graph = graph_of(changed(CLS, configure(**values), tmp_path))
    seen = [op for op, _ in g.runs_of(graph) if isinstance(op, g.Attention)]
    assert ([op.mask for op in seen], {op.window for op in seen}) == (masks, windows)


@pytest.mark.parametrize(
    ("values", "angles"),
    [
        (BARE, [Angles(10_000.0), Angles(2_560_000.0)]),
        (
            {"rope_parameters": {FULL: {}, SLIDING: {"rope_type": "linear", "factor": 2.0}}},
            [Angles(10_000.0, 2.0), Angles(10_000.0)],
        ),
        (BARE | {"rope_theta": [70, 70, 900]}, [Angles(70.0), Angles(900.0)]),
    ],
)
def test_angles_where_no_object_says_theta(values: dict[str, object], angles: list[Angles], tmp_path: Path) -> None:
    graph = graph_of(changed(CLS, configure(**values), tmp_path))
    found = [op.cosines[op.table].arrays[0] for op, _ in g.runs_of(graph) if isinstance(op, g.Rotary)]
    for table, expected in zip(found[::2], [angles[0], *angles], strict=True):  # of queries, layer by layer
        assert np.array_equal(table.values, rotary_tables("", expected, 20, 4)[0].arrays[0].values)


def test_the_usual_epsilon(tmp_path: Path) -> None:
    graph = graph_of(changed(CLS, configure(rms_norm_eps=None), tmp_path))
    assert {op.epsilon for op, _ in g.ops_of(graph) if isinstance(op, g.Norm)} == {1e-6}


def test_a_file_may_have_the_names_of_the_library_itself(tmp_path: Path) -> None:
    def named(path: Path) -> None:
        rename("cls.weight", "head.decoder.weight")(path)
        for name in pipeline.load(path).tensors.names:
            if name.startswith("ultrabert."):
                rename(name, name.replace("ultrabert.", "model."))(path)

    graphs = [graph_of(folder(MASKS)), graph_of(changed(MASKS, named, tmp_path))]
    mask = next(op.id for op, _ in g.ops_of(graphs[0]) if isinstance(op, g.Masked))
    assert np.array_equal(*(Interpreter(graph).output([0, 40, 50, mask, 60, 2], [0] * 6) for graph in graphs))


def test_what_predicts_words_is_three_linears() -> None:
    ops = [node for node in graph_of(folder(MASKS)).body if not isinstance(node, g.Layers)]
    assert [type(op) for op in ops[-4:]] == [g.Masked, g.Linear, g.Linear, g.Best]
    assert [op.activation for op in ops if isinstance(op, g.Linear)] == ["gelu_tanh"] * 2
