# SPDX-License-Identifier: Apache-2.0
"""Nomic's dense BERT by the keys that it was published with: the model is that of the library's keys."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import assert_refused, changed, configure
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.oracle.interpret import Interpreter

SOFTMAX, REGRESSION = "nomic_bert/softmax", "nomic_bert/regression"
# As in nomic-embed-text-v1.5, but for sizes.
PUBLISHED = {
    **dict.fromkeys(("causal", "parallel_block", "prenorm", "rotary_emb_interleaved", "use_rms_norm"), False),
    **dict.fromkeys(("mlp_fc1_bias", "mlp_fc2_bias", "qkv_proj_bias", "scale_attn_by_inverse_layer_idx"), False),
    **dict.fromkeys(("rotary_emb_scale_base", "rotary_scaling_factor", "summary_activation")),
    **{"attn_pdrop": 0.0, "max_trained_positions": 2048, "pad_vocab_size_multiple": 64, "rotary_emb_fraction": 1.0},
    **{"use_flash_attn": True, "scale_attn_weights": True, "summary_type": "cls_index"},
}
NAMES = {
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "n_positions",
    "layer_norm_eps": "layer_norm_epsilon",
}
GATES = {"silu": "swiglu", "gelu": "geglu"}


def as_published(path: Path, **more: object) -> None:
    """Keys of the library become those of the code that comes with checkpoints."""
    config = json.loads((path / "config.json").read_text())
    config["rotary_emb_base"] = config.pop("rope_parameters")["rope_theta"]
    config["activation_function"] = GATES[config.pop("hidden_act")]
    del config["head_dim"]
    renamed = {NAMES.get(key, key): value for key, value in config.items()}
    write_json(path / "config.json", {k: v for k, v in (renamed | PUBLISHED | more).items() if v != "missing"})


@pytest.mark.parametrize("variant", [SOFTMAX, REGRESSION])
def test_the_same_model(variant: str, tmp_path: Path) -> None:
    multiple = {} if variant == SOFTMAX else {"pad_vocab_size_multiple": "missing"}
    path = changed(variant, lambda path: as_published(path, **multiple), tmp_path)
    graph = pipeline.to_graph(pipeline.load(path), None)
    assert not [note for note in graph.notes if "not used" in note]
    there = pipeline.to_graph(pipeline.load(folder(variant)), None)
    assert (graph.max_tokens, graph.widths) == (there.max_tokens, there.widths)
    for text in read_recorded(variant):
        output = Interpreter(graph).output(text.ids, text.segments)
        assert np.abs(output - text.float64).max() < 1e-12 * max(1, np.abs(text.float64).max())


def test_keys_of_the_library_count(tmp_path: Path) -> None:
    path = changed(SOFTMAX, configure(n_embd=99, n_positions=5, activation_function="relu"), tmp_path)
    assert pipeline.to_graph(pipeline.load(path), None).max_tokens == 20


REFUSED: dict[str, tuple[dict[str, object], str, str]] = {
    "rows of the past": ({"causal": True}, "config-not-supported", "causal"),
    "longer texts": ({"rotary_scaling_factor": 2.0}, "config-not-supported", "rotary_scaling_factor"),
    "biases": ({"qkv_proj_bias": True}, "config-not-supported", "qkv_proj_bias"),
    "biases that nobody denies": ({"mlp_fc1_bias": "missing"}, "config-missing", "mlp_fc1_bias"),
    "no gate": ({"activation_function": "gelu"}, "activation-not-supported", "gelu"),
    "another width": ({"n_inner": 24}, "wrong-shape", "fc1"),
    "no layers": ({"n_layer": "missing"}, "config-missing", "n_layer"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    more, code, words = REFUSED[case]
    assert_refused(SOFTMAX, lambda path: as_published(path, **more), code, words, tmp_path)
