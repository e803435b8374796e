# SPDX-License-Identifier: Apache-2.0
"""LFM3: what its layers are, as configurations say it, and what is refused. lower/test_generation.py has what it
writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_generation import HERE, graph_of, recorded
from tiny_checkpoint import read_raw_safetensors, write_safetensors

from codegen.errors import EtchError
from codegen.frontends import FRONT_ENDS
from codegen.ir import graph as g
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights
from codegen.oracle.interpret import Interpreter

OWN, PLAIN = "lfm3/own", "lfm3/plain"  # windows, gates and norms behind the blocks; neither of them
FULL, SLIDING = "full_attention", "sliding_attention"
USUAL = {
    SLIDING: {"rope_type": "default", "rope_theta": 10_000.0},
    FULL: {"rope_type": "proportional", "rope_theta": 1_000_000.0, "partial_rotary_factor": 0.5},
}


def logits(variant: str, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    ids = recorded(variant)["outputs"][2]["ids"]
    return Interpreter(graph_of(variant, without, **changes)).logits(ids, [0] * len(ids), [])


def test_what_no_key_says() -> None:
    """As the library has it, which wrote these keys down."""
    unsaid = "tie_word_embeddings", "use_attention_gate", "use_sandwich_norm", "attention_bias"
    own = logits(OWN)
    assert np.array_equal(logits(OWN, unsaid), own)
    assert np.array_equal(logits(OWN, ("rope_parameters",)), logits(OWN, rope_parameters=USUAL))
    assert np.array_equal(logits(PLAIN, ("rope_parameters", "norm_eps", "conv_bias")), logits(PLAIN))
    assert np.array_equal(logits(OWN, ("norm_eps",), rms_norm_eps=1e-3), own)


def test_layers_that_nobody_names() -> None:
    """Two of four are convolutions, and the first one always is."""
    kinds = FRONT_ENDS["lfm3"]._kinds(Config.from_json({"num_hidden_layers": 9}))
    assert "".join(kind[0] for kind in kinds) == "ccfcscfcs"


def test_angles_of_which_some_do_not_turn() -> None:
    """The last pairs of a head, by a part of all; 0: none turns."""
    graph = graph_of(OWN)
    tables = {op.sines[0].name: op.sines[0].arrays[0].values for op, _ in g.ops_of(graph) if isinstance(op, g.Rotary)}
    full, sliding = tables["global_sines"], tables["local_sines"]
    assert [bool(column.any()) for column in full.T] == [True, True, False, False]
    assert [bool(column.any()) for column in sliding.T] == [True] * 4
    still = {kind: {"rope_type": "proportional", "partial_rotary_factor": 0} for kind in (FULL, SLIDING)}
    assert not np.array_equal(logits(OWN, rope_parameters=still), logits(OWN))


def test_gates_by_either_name(tmp_path: Path) -> None:
    """Of the file's and of the library's own."""
    header, data = read_raw_safetensors(HERE / OWN / "model.safetensors")
    tensors = {
        name.replace("self_attn.gate_proj", "self_attn.g_proj"): np.frombuffer(
            data[slice(*entry["data_offsets"])], np.float16
        ).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }
    write_safetensors(tmp_path / "model.safetensors", {name: of.astype(np.float32) for name, of in tensors.items()})
    config = Config.from_json(CheckpointFolder(HERE / OWN).read_json("config.json"))
    made = FRONT_ENDS["lfm3"].FAMILY.graph_of(config, open_weights(CheckpointFolder(tmp_path))[0], 24, 17)
    ids = recorded(OWN)["outputs"][2]["ids"]
    assert np.array_equal(Interpreter(made).logits(ids, [0] * len(ids), []), logits(OWN))


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"layer_types": ["conv"] * 5}, "layers-out-of-range", "no layer has attention"),
        ({"layer_types": ["conv"] * 4}, "layers-out-of-range", "expected 5 of full_attention or sliding_attention or"),
        ({"use_attention_gate": False}, "unused-tensor", "gate_proj"),
        ({"use_sandwich_norm": False}, "unused-tensor", "post_"),
        ({"conv_L_cache": 66}, "config-out-of-range", "conv_L_cache 66"),
        ({"sliding_window": None}, "config-type", "sliding_window"),
        ({"rms_norm_eps": 1e-5}, "config-value", "rms_norm_eps"),
        ({"rope_scaling": {"factor": 2.0}}, "rotary-not-supported", "rope_scaling"),
        ({"partial_rotary_factor": 0.5}, "rotary-not-supported", "put it there"),
        *(
            ({"rope_parameters": USUAL | {FULL: USUAL[FULL] | changes}}, "rotary-not-supported", words)
            for changes, words in (
                ({"partial_rotary_factor": 1.5}, "expected 0 to 1"),
                ({"partial_rotary_factor": None}, "expected 0 to 1"),
                ({"factor": 0.5}, "factor 0.5"),
                ({"low_freq_factor": 2.0}, "low_freq_factor"),
                ({"rope_type": "dynamic"}, "dynamic"),
            )
        ),
    ],
)
def test_refused(changes: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(OWN, **changes)
    assert (caught.value.code, words in str(caught.value)) == (code, True), str(caught.value)
