# SPDX-License-Identifier: Apache-2.0
"""CLIP's texts: which row is their embedding, what configurations need not say, and what is refused.
test_recorded_models.py has what the models compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, texts
from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors

from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

PROJECTED, POOLED, WHOLE = "clip_text_model/linear", "clip_text_model/pooled", "clip/whole"
START, END = 525, 526


def with_modules(path: Path) -> None:
    """The files of sentence-transformers."""
    kinds = ("Transformer", "Pooling")
    write_json(
        path / "modules.json",
        [
            {
                "idx": i,
                "name": str(i),
                "path": "" if i == 0 else "1_Pooling",
                "type": f"sentence_transformers.models.{k}",
            }
            for i, k in enumerate(kinds)
        ],
    )
    (path / "1_Pooling").mkdir()
    write_json(path / "1_Pooling/config.json", {"word_embedding_dimension": 18, "pooling_mode_mean_tokens": True})


def another_largest_id(path: Path) -> None:
    """That of the token with which texts begin."""
    file = path / "tokenizer.json"
    text = (
        file.read_text().replace(f"{END}", "at the end").replace(f"{START}", f"{END}").replace("at the end", f"{START}")
    )
    described = json.loads(text)
    described["added_tokens"].reverse()
    file.write_text(json.dumps(described))


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "a class of images": (
        PROJECTED,
        configure(architectures=["CLIPVisionModel"]),
        "architecture-not-supported",
        "CLIPTextModel, CLIPTextModelWithProjection",
    ),
    "a classifier of images": (
        WHOLE,
        configure(architectures=["CLIPForImageClassification"]),
        "architecture-not-supported",
        "supported: CLIPModel",
    ),
    "another end": (PROJECTED, configure(eos_token_id=7), "config-value", "ends texts with 526"),
    "the usual end": (PROJECTED, configure(eos_token_id=None), "config-value", "eos_token_id is 49407"),
    "several ends": (PROJECTED, configure(eos_token_id=[END]), "config-type", "eos_token_id"),
    "an end that is not the largest id": (POOLED, another_largest_id, "config-value", "the row of the largest id"),
    "another end of a whole": (WHOLE, texts(eos_token_id=9), "config-value", "eos_token_id is 9"),
    "modules of a whole": (WHOLE, with_modules, "architecture-conflict", "no rows"),
    "pruned heads of a whole": (WHOLE, texts(pruned_heads={"0": [1]}), "config-not-supported", "pruned_heads"),
    "no settings": (WHOLE, configure(text_config=[1]), "config-type", "text_config"),
    "the width of texts": (WHOLE, configure(projection_dim=None), "wrong-shape", "text_projection.weight"),
    "a tensor more": (WHOLE, add("text_model.more", (2,)), "unused-tensor", "text_model.more"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def output(path: Path, ids: list[int]) -> np.ndarray:
    return Interpreter(graph_of(path)).output(ids, [0] * len(ids))


TEXT = [START, 7, 30, 9, END]


@pytest.mark.parametrize("variant", [PROJECTED, POOLED, WHOLE])
def test_the_first_end_counts(variant: str) -> None:
    """A token sees nothing behind it."""
    expected = output(folder(variant), TEXT)
    assert np.allclose(output(folder(variant), [*TEXT, 8, 12, END]), expected, rtol=0, atol=1e-12)
    assert not np.allclose(output(folder(variant), [*TEXT[:-1], 8, END]), expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("variant", "change"),
    [
        (PROJECTED, configure(hidden_act=None, layer_norm_eps=None)),
        (WHOLE, texts(hidden_act=None, layer_norm_eps=None)),
    ],
)
def test_what_no_key_says(variant: str, change: Change, tmp_path: Path) -> None:
    assert np.array_equal(output(changed(variant, change, tmp_path), TEXT), output(folder(variant), TEXT))


def test_the_older_key_counts_alone(tmp_path: Path) -> None:
    """In the place of the other one, be it whole."""
    whole = json.loads((folder(WHOLE) / "config.json").read_text())["text_config"]

    def change(path: Path) -> None:
        texts("text_config_dict", **whole | {"hidden_act": "gelu"})(path)
        texts(hidden_act="relu", num_attention_heads=2)(path)

    activations = {
        op.activation for op, _ in g.ops_of(graph_of(changed(WHOLE, change, tmp_path))) if "inter" in str(op)
    }
    assert "gelu" in activations and "relu" not in activations


def test_names_without_prefix(tmp_path: Path) -> None:
    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        write_raw_safetensors(
            path / "model.safetensors", {name.removeprefix("text_model."): at for name, at in header.items()}, data
        )

    assert np.array_equal(output(changed(POOLED, change, tmp_path), TEXT), output(folder(POOLED), TEXT))


def test_rows_for_sentence_transformers(tmp_path: Path) -> None:
    graph = graph_of(changed(POOLED, with_modules, tmp_path))
    assert [op.kind for op, _ in g.ops_of(graph) if isinstance(op, g.Pool)] == ["mean"]


def test_a_projection_that_the_class_has_not_is_a_note(tmp_path: Path) -> None:
    graph = graph_of(changed(PROJECTED, configure(architectures=["CLIPTextModel"]), tmp_path))
    assert any("text_projection.weight" in note for note in graph.notes)
    assert graph.task.outputs == 18


def test_what_looks_at_images_is_a_note() -> None:
    assert any("tensors that are not about texts" in note for note in graph_of(folder(WHOLE)).notes)
