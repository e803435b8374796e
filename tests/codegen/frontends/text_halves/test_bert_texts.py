# SPDX-License-Identifier: Apache-2.0
"""The texts' halves that are a BERT or a RoBERTa: what configurations need not say, and what is refused.
test_recorded_models.py has what the models compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, texts
from test_dpr import wide_modules

from codegen import pipeline
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

CHINESE, ALT, ALIGN, CLAP = (f"{family}/whole" for family in ("chinese_clip", "altclip", "align", "clap"))
CLASSES = {CHINESE: "ChineseCLIPModel", ALT: "AltCLIPModel", ALIGN: "AlignModel", CLAP: "ClapModel"}
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    **{
        f"another class, {name}": (
            variant,
            configure(architectures=["CLIPModel"]),
            "architecture-not-supported",
            f"supported: {name}",
        )
        for variant, name in CLASSES.items()
    },
    "modules": (CHINESE, wide_modules, "architecture-conflict", "no rows"),
    "a decoder": (ALT, texts(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "positions of another kind": (
        ALIGN,
        texts(position_embedding_type="relative_key"),
        "position-embedding-not-supported",
        "relative_key",
    ),
    "pruned heads": (CLAP, texts(pruned_heads={"0": [1]}), "config-not-supported", "pruned_heads"),
    "no settings": (CHINESE, configure(text_config=[1]), "config-type", "text_config"),
    "the usual projection": (CHINESE, configure(projection_dim=None), "wrong-shape", "text_projection.weight"),
    "the usual projection of ALIGN": (ALIGN, configure(projection_dim=None), "wrong-shape", "640"),
    "the usual width of the teacher": (ALT, texts(project_dim=None), "wrong-shape", "transformation.weight"),
    "the usual width": (CLAP, texts(intermediate_size=None), "wrong-shape", "3072"),
    "an activation": (CLAP, configure(projection_hidden_act="mish"), "activation-not-supported", "_hidden_act"),
    "padding that texts have": (CLAP, texts(pad_token_id=2), "config-value", "pad_token_id 2"),
    "a tensor more": (ALT, add("text_model.more", (2,)), "unused-tensor", "text_model.more"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def output(path: Path) -> np.ndarray:
    return Interpreter(graph_of(path)).output([0, 7, 30, 9, 2], [0] * 5)


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        (CHINESE, {"layer_norm_eps": 1e-12, "type_vocab_size": 2}),
        (ALT, {"hidden_act": "gelu", "layer_norm_eps": 1e-5, "pad_token_id": 1, "type_vocab_size": 1}),
        (ALIGN, {"hidden_act": "gelu", "layer_norm_eps": 1e-12, "type_vocab_size": 2}),
        (CLAP, {"hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 1, "type_vocab_size": 1}),
    ],
)
def test_what_no_key_says(variant: str, said: dict[str, Any], tmp_path: Path) -> None:
    expected = output(folder(variant))
    assert json.loads((folder(variant) / "config.json").read_text())["text_config"].items() >= said.items()
    assert np.array_equal(output(changed(variant, texts(**dict.fromkeys(said)), tmp_path)), expected)


@pytest.mark.parametrize("variant", [CHINESE, ALT])
def test_the_older_key_counts_alone(variant: str, tmp_path: Path) -> None:
    """In the place of the other one, be it whole."""
    whole = json.loads((folder(variant) / "config.json").read_text())["text_config"]

    def change(path: Path) -> None:
        texts("text_config_dict", **whole)(path)
        texts(hidden_act="silu", num_attention_heads=2)(path)

    assert np.array_equal(output(changed(variant, change, tmp_path)), output(folder(variant)))


@pytest.mark.parametrize("variant", [ALIGN, CLAP])
def test_the_older_key_is_none_of_these(variant: str, tmp_path: Path) -> None:
    change = texts("text_config_dict", num_attention_heads=2)
    assert np.array_equal(output(changed(variant, change, tmp_path)), output(folder(variant)))


def test_one_row_is_the_embedding() -> None:
    for variant in CLASSES:
        loaded = pipeline.load(folder(variant))
        graph = pipeline.to_graph(loaded, None)
        assert [op.kind for op, _ in g.ops_of(graph) if isinstance(op, g.Pool)] == ["first"]
        assert (graph.task.verb, graph.task.outputs) == ("embed", 11)
        assert loaded.notes == ()  # on labels, which no class has
        assert any("tensors that are not about texts" in note for note in graph.notes)


def test_the_length_is_one_in_clap_alone() -> None:
    lengths = {variant: float(np.linalg.norm(output(folder(variant)))) for variant in CLASSES}
    assert abs(lengths.pop(CLAP) - 1) < 1e-12
    assert all(abs(length - 1) > 1e-3 for length in lengths.values())
