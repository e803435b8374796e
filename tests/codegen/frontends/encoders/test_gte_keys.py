# SPDX-License-Identifier: Apache-2.0
"""GTE by the keys and names that it was published with: the model is that of the library's keys, and what the published
code computes otherwise is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen import pipeline
from codegen.oracle.interpret import Interpreter

SOFTMAX, LABELS, MASKS, NEW, MEAN = "gte/softmax", "gte/multi_label", "masks/gte", "new/softmax", "new/mean"
# As in snowflake-arctic-embed-m-v2.0, whose flags are texts.
PUBLISHED = {
    **{"layer_norm_type": "layer_norm", "logn_attention_clip1": False, "logn_attention_scale": False},
    **{"pack_qkv": True, "position_embedding_type": "rope", "unpad_inputs": "true"},
    **{"use_memory_efficient_attention": "true", "rope_parameters": None},
    "auto_map": {"AutoModel": "modeling_hf_alibaba_nlp_gte.GteModel"},
}


@pytest.mark.parametrize(
    ("variant", "angles"),
    [
        (SOFTMAX, {"rope_theta": 160_000.0}),
        # 31.25 * 16 and 16^(2 / 8) are the recorded theta and factor.
        (LABELS, {"rope_theta": 31.25, "rope_scaling": {"type": "ntk", "factor": 16.0}}),
        (LABELS, {"rope_theta": 31.25, "rope_scaling": {"type": "ntk", "factor": 16, "mixed_b": None}}),
    ],
)
def test_the_same_model(variant: str, angles: Mapping[str, object], tmp_path: Path) -> None:
    checkpoint = pipeline.load(changed(variant, configure(**PUBLISHED, **angles), tmp_path))
    assert checkpoint.notes[-1].endswith("(auto_map): never run, read as gte")
    graph = pipeline.to_graph(checkpoint, None)
    assert not [note for note in graph.notes if "not used" in note]
    interpreter = Interpreter(graph)
    for text in read_recorded(variant):
        output = interpreter.output(text.ids, text.segments)
        assert np.abs(output - text.float64).max() < 1e-12 * max(1, np.abs(text.float64).max())


def test_masked_words_by_the_published_names(tmp_path: Path) -> None:
    def as_new(path: Path) -> None:
        header, data = read_raw_safetensors(path / "model.safetensors")
        names = {name: re.sub("^gte[.]", "new.", name) for name in header}
        write_raw_safetensors(path / "model.safetensors", {names[name]: header[name] for name in header}, data)
        said = {"model_type": "new", "architectures": ["NewForMaskedLM"], "rope_theta": 160_000.0}
        configure(**PUBLISHED | said | {"auto_map": None})(path)

    interpreter = Interpreter(graph_of(changed(MASKS, as_new, tmp_path)))
    for text in read_recorded(MASKS):
        output, expected = interpreter.output(text.ids, text.segments), text.float64
        assert np.abs(output - expected.reshape(output.shape)).max() < 1e-12


def test_nothing_of_the_published_keys_is_told_as_unread() -> None:
    for variant in (NEW, MEAN):
        assert not [note for note in graph_of(folder(variant)).notes if "not used" in note]


def test_classes_for_two_texts_and_keys_that_may_be_missing(tmp_path: Path) -> None:
    missing = dict.fromkeys(("auto_map", "hidden_act", "layer_norm_eps", "pack_qkv", "architectures"))
    assert graph_of(changed(NEW, configure(**missing), tmp_path)).widths == graph_of(folder(NEW)).widths


NTK = {"type": "ntk", "factor": 16.0}
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "scores by length": (NEW, configure(logn_attention_scale=True), "config-not-supported", "logn_attention_scale"),
    "cut scores by length": (NEW, configure(logn_attention_clip1=True), "config-not-supported", "clip1"),
    "other norms": (NEW, configure(layer_norm_type="rms_norm"), "config-not-supported", "layer_norm_type rms_norm"),
    "in the library's model, too": (SOFTMAX, configure(logn_attention_scale=True), "config-not-supported", "logn"),
    "a table of positions": (
        NEW,
        configure(position_embedding_type="absolute"),
        "position-embedding-not-supported",
        "rope",
    ),
    "slopes": (SOFTMAX, configure(position_embedding_type="alibi"), "position-embedding-not-supported", "alibi"),
    "mixed angles": (NEW, configure(rope_scaling=NTK | {"mixed_b": 0.9}), "rotary-not-supported", "mixed_b"),
    "more of angles": (NEW, configure(rope_scaling=NTK | {"theta": 3}), "rotary-not-supported", "theta"),
    "a factor below 1": (NEW, configure(rope_scaling=NTK | {"factor": 0.5}), "rotary-not-supported", "0.5"),
    "no factor": (NEW, configure(rope_scaling={"type": "ntk"}), "config-missing", "factor"),
    "slower angles": (NEW, configure(rope_scaling={"type": "linear", "factor": 2}), "rotary-not-supported", "linear"),
    "other angles": (NEW, configure(rope_scaling={"type": "dynamic", "factor": 2}), "rotary-not-supported", "dynamic"),
    "angles by two keys": (
        NEW,
        configure(rope_parameters={"rope_type": "default"}),
        "rotary-not-supported",
        "rope_scaling",
    ),
    "parted inputs that are one": (NEW, configure(pack_qkv=False), "missing-tensor", "q_proj"),
    "one input that is parted": (MEAN, configure(pack_qkv=True), "missing-tensor", "qkv_proj"),
    "another program's": (NEW, configure(auto_map={"AutoModel": "m.Own"}), "remote-code", "Own"),
    "no gate": (NEW, rename("new.encoder.layer.0.mlp.up_gate_proj.weight", "other"), "missing-tensor", "up_gate_proj"),
    "a decoder": (NEW, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)
