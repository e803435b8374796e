# SPDX-License-Identifier: Apache-2.0
"""PEGASUS as a family: what its folders may say, whose positions count, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decoders import OWN_FILES, RECORDED, folder, graph_of
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen.errors import EtchError
from codegen.frontends.encoder_decoders import pegasus
from codegen.frontends.shared.sinusoids import halved_sinusoids
from codegen.ir import graph as g
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights


def tables(made: Path) -> list[g.Parameter]:
    """Of encoder and decoder."""
    files = CheckpointFolder(made)
    graph = pegasus.FAMILY.graph_of(Config.from_json(files.read_json("config.json")), open_weights(files)[0], 24, 17)
    return [op.terms[1].table for op, _ in g.ops_of(graph) if isinstance(op, g.Embed)]


def test_what_a_folder_says(tmp_path: Path) -> None:
    graph = graph_of(folder(tmp_path / "model", "pegasus"))
    assert graph.target_rules is not None
    assert (graph.target_rules.begin, graph.target_rules.ends, graph.target_rules.forced_end) == ((0,), (1,), True)
    assert (graph.target_rules.search.beams, graph.target_rules.max_tokens, graph.notes) == (4, 17, ())
    assert graph.widths.keys() >= {"normed", "target_normed"}


def test_older_files(tmp_path: Path) -> None:
    """Keys that say what the class does anyway, and nothing."""
    keys = {
        **dict.fromkeys(("normalize_before", "add_final_layer_norm", "static_position_embeddings"), True),
        **dict.fromkeys(("normalize_embedding", "add_bias_logits"), False),
        "extra_pos_embeddings": 1,
    }
    assert graph_of(folder(tmp_path / "model", "pegasus", **keys)).notes == ()


def test_tables_of_the_file_count(tmp_path: Path) -> None:
    """Without them there is one for both."""
    made = tmp_path / "own"
    shutil.copytree(RECORDED / "pegasus" / "own", made, ignore=shutil.ignore_patterns(*OWN_FILES))
    computed = halved_sinusoids("table", 24, 20).at(0).values
    assert all(np.array_equal(one.at(0).values, computed.astype(np.float16)) for one in tables(made))
    header, data = read_raw_safetensors(made / "model.safetensors")
    name = "model.decoder.embed_positions.weight"
    begin, _ = header[name]["data_offsets"]
    write_raw_safetensors(made / "model.safetensors", header, data[:begin] + b"\0\x3c" + data[begin + 2 :])
    encoder, decoder = tables(made)
    assert (encoder.at(0).values[0, 0], decoder.at(0).values[0, 0]) == (0, 1)
    encoder, decoder = tables(RECORDED / "pegasus" / "texts")
    assert encoder is decoder and np.array_equal(encoder.at(0).values, computed)
    config = json.loads((made / "config.json").read_text(encoding="utf-8")) | {"max_position_embeddings": 25}
    (made / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(EtchError) as caught:
        tables(made)
    assert caught.value.code == "wrong-shape"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["PegasusForCausalLM"]}, "architecture-not-supported"),
        ({"normalize_before": False}, "generation-not-supported"),
        ({"normalize_embedding": True}, "generation-not-supported"),
        ({"add_final_layer_norm": False}, "generation-not-supported"),
        ({"static_position_embeddings": False}, "generation-not-supported"),
        ({"num_attention_heads": 2}, "config-value"),
        ({"tie_word_embeddings": False}, "missing-tensor"),
        ({"decoder_layers": 2}, "missing-tensor"),
        ({"vocab_size": 43}, "token-id-out-of-range"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", "pegasus", **changes))
    assert caught.value.code == code
