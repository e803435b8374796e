# SPDX-License-Identifier: Apache-2.0
"""SigLIP's texts: which row is their embedding, what configurations need not say, and what is refused.
test_recorded_models.py has what the models compute, load/test_padding.py what their texts are padded with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, texts
from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors

from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

TEXT, WHOLE, WHOLE_2 = "siglip_text_model/base", "siglip/whole", "siglip2/whole"
IDS = [7, 30, 9, 1, *[0] * 12]


def output(path: Path, ids: list[int]) -> np.ndarray:
    return Interpreter(graph_of(path)).output(ids, [0] * len(ids))


def modules(path: Path) -> None:
    write_json(path / "modules.json", [])


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "a class of images": (
        TEXT,
        configure(architectures=["SiglipVisionModel"]),
        "architecture-not-supported",
        "supported: SiglipTextModel",
    ),
    "a classifier of images": (
        WHOLE,
        configure(architectures=["SiglipForImageClassification"]),
        "architecture-not-supported",
        "supported: SiglipModel",
    ),
    "the other version": (
        WHOLE_2,
        configure(architectures=["SiglipModel"]),
        "architecture-not-supported",
        "supported: Siglip2Model",
    ),
    "a decoder": (TEXT, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "no settings": (WHOLE, configure(text_config=[1]), "config-type", "text_config"),
    "the width of texts": (TEXT, configure(projection_size=None), "wrong-shape", "head.weight"),
    "another activation": (WHOLE, texts(hidden_act="mish"), "activation-not-supported", "'mish'"),
    "a tensor more": (WHOLE, add("text_model.more", (2,)), "unused-tensor", "text_model.more"),
    "a tensor more of the encoder alone": (TEXT, add("more", (2,)), "unused-tensor", "more"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize("variant", [TEXT, WHOLE, WHOLE_2])
def test_the_last_row_counts_and_sees_all(variant: str) -> None:
    expected = output(folder(variant), IDS)
    for at in (0, 3, 4, 15):
        other = [*IDS[:at], 40, *IDS[at + 1 :]]
        assert not np.allclose(output(folder(variant), other), expected, rtol=0, atol=1e-4)
    assert [op.kind for op, _ in g.ops_of(graph_of(folder(variant))) if isinstance(op, g.Pool)] == ["last"]


@pytest.mark.parametrize(
    ("variant", "change"),
    [
        (TEXT, configure(hidden_act=None, layer_norm_eps=None)),
        (WHOLE, texts(hidden_act=None, layer_norm_eps=None, projection_size=None)),
        (WHOLE, configure(text_config_dict={"hidden_size": 7})),  # which is CLIP's alone
    ],
)
def test_what_no_key_says(variant: str, change: Change, tmp_path: Path) -> None:
    assert np.array_equal(output(changed(variant, change, tmp_path), IDS), output(folder(variant), IDS))


def test_names_with_prefix(tmp_path: Path) -> None:
    """As older versions of the library save an encoder alone."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        names = {name if name == "__metadata__" else f"text_model.{name}": at for name, at in header.items()}
        write_raw_safetensors(path / "model.safetensors", names, data)

    assert np.array_equal(output(changed(TEXT, change, tmp_path), IDS), output(folder(TEXT), IDS))


def test_what_looks_at_images_is_a_note() -> None:
    assert any("tensors that are not about texts" in note for note in graph_of(folder(WHOLE)).notes)
