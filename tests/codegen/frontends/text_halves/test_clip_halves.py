# SPDX-License-Identifier: Apache-2.0
"""Texts' halves that are CLIP's beside others of images or videos: which row counts, whose files have them, and what is
refused. test_recorded_models.py has what the models compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, texts
from test_clip import TEXT, another_largest_id, with_modules

from codegen import pipeline
from codegen.oracle.interpret import Interpreter

META, VIDEOS, SEGMENTS, BOXES, OWL2, GROUPS = (
    *("metaclip_2/whole", "xclip/whole", "clipseg/segments", "owlvit/boxes", "owlv2/whole", "groupvit/whole"),
)
CLASSES = {
    META: "MetaClip2Model",
    VIDEOS: "XCLIPModel",
    SEGMENTS: "CLIPSegModel, CLIPSegForImageSegmentation",
    BOXES: "OwlViTModel, OwlViTForObjectDetection",
    OWL2: "Owlv2Model, Owlv2ForObjectDetection",
    GROUPS: "GroupViTModel",
}
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    **{
        f"another class, {names}": (
            variant,
            configure(architectures=["CLIPModel"]),
            "architecture-not-supported",
            f"(supported: {names})",
        )
        for variant, names in CLASSES.items()
    },
    "modules": (SEGMENTS, with_modules, "architecture-conflict", "CLIPSegModel makes the embedding by itself"),
    "another end": (META, texts(eos_token_id=1), "config-value", "eos_token_id is 1, and"),
    "the usual end": (META, texts(eos_token_id=None), "config-value", "eos_token_id is 49407"),
    "another end of images": (SEGMENTS, texts(eos_token_id=9), "config-value", "eos_token_id is 9"),
    "not the largest id": (VIDEOS, another_largest_id, "config-value", "XCLIPModel the row of the largest id"),
    "not the largest id of texts": (OWL2, another_largest_id, "config-value", "Owlv2Model the row of the largest id"),
    "not the largest id with an old end": (GROUPS, another_largest_id, "config-value", "eos_token_id 2 the row"),
    "the usual width": (OWL2, configure(projection_dim=None), "wrong-shape", "512"),
    "the usual width of groups": (GROUPS, configure(projection_dim=None), "wrong-shape", "256"),
    "the usual inner width": (GROUPS, configure(projection_intermediate_dim=None), "wrong-shape", "4096"),
    "a tensor more": (BOXES, add("owlvit.text_model.more", (2,)), "unused-tensor", "owlvit.text_model.more"),
    "a tensor of the other half": (VIDEOS, add("decoder.more", (2,)), "unused-tensor", "decoder.more"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def output(path: Path) -> np.ndarray:
    return Interpreter(graph_of(path)).output(TEXT, [0] * len(TEXT))


@pytest.mark.parametrize("variant", [VIDEOS, BOXES, OWL2])
def test_no_end_is_asked_for(variant: str, tmp_path: Path) -> None:
    """The row of the largest id counts, whatever is said."""
    assert np.array_equal(output(changed(variant, texts(eos_token_id=7), tmp_path)), output(folder(variant)))


@pytest.mark.parametrize("variant", [SEGMENTS, BOXES])
def test_the_whole_may_be_named(variant: str, tmp_path: Path) -> None:
    """The library finds its tensors in the files of what has it, too."""
    whole = CLASSES[variant].partition(",")[0]
    assert np.array_equal(output(changed(variant, configure(architectures=[whole]), tmp_path)), output(folder(variant)))


@pytest.mark.parametrize("variant", [BOXES, OWL2])
def test_the_older_key_is_not_read(variant: str, tmp_path: Path) -> None:
    """By these classes of the library."""
    path = changed(variant, configure(text_config_dict={"hidden_size": 7, "hidden_act": "relu"}), tmp_path)
    assert np.array_equal(output(path), output(folder(variant)))
    assert pipeline.load(path).default_max_tokens == pipeline.load(folder(variant)).default_max_tokens


def test_the_usual_lengths(tmp_path: Path) -> None:
    """Published files of OWL-ViT may leave out that texts are short."""
    path = changed(OWL2, texts(max_position_embeddings=None), tmp_path)
    assert json.loads((folder(OWL2) / "config.json").read_text())["text_config"]["max_position_embeddings"] == 16
    assert graph_of(path).max_tokens == 16


def test_notes() -> None:
    for variant in CLASSES:
        loaded = pipeline.load(folder(variant))
        graph = pipeline.to_graph(loaded, None)
        assert graph.task.verb == "embed"
        assert loaded.notes == ()
        other, *more = graph.notes
        assert other.startswith("not used: ") and other.endswith(" tensors that are not about texts")
        assert more == ["config.json: not used: vocab_size"]  # which the recorder gives every class
