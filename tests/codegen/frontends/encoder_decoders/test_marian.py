# SPDX-License-Identifier: Apache-2.0
"""Marian as a family: folders that are opened, what they may say, and that programs write what the library wrote."""

from __future__ import annotations

import json
import sys
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import read_raw_safetensors, write_raw_safetensors

from codegen import pipeline
from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.frontends.shared.sinusoids import halved_sinusoids
from codegen.ir import graph as g
from codegen.ir.graph import Graph
from codegen.lower import lower
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.report import parameter_count

HERE = Path(__file__).resolve().parents[2] / "generation"
sys.path.insert(0, str(HERE))
from record_translations import MAX_LENGTH, MODELS, write_folder  # noqa: E402 - of the folder beside

WORDS = "model.shared.weight"
RECORDED: dict[str, Any] = json.loads((HERE / "marian_texts.json").read_text(encoding="utf-8"))


def folder(out: Path, name: str = MODELS[0], *, generation: dict[str, Any] | None = None, **changes: Any) -> Path:
    """A whole folder, with keys of its configuration changed; None removes a key."""
    out.mkdir()
    write_folder(name, out)
    for file, keys in (("config.json", changes), ("generation_config.json", generation or {})):
        values = json.loads((out / file).read_text(encoding="utf-8")) | keys
        kept = {key: value for key, value in values.items() if value is not None}
        (out / file).write_text(json.dumps(kept), encoding="utf-8")
    return out


def again(made: Path, name: str, difference: int = 0) -> None:
    """Stores the words under another name as well; `difference` changes the first byte."""
    header, data = read_raw_safetensors(made / "model.safetensors")
    begin, end = header[WORDS]["data_offsets"]
    copy = bytes((data[begin] ^ difference,)) + data[begin + 1 : end]
    header[name] = header[WORDS] | {"data_offsets": [len(data), len(data) + len(copy)]}
    write_raw_safetensors(made / "model.safetensors", header, data + copy)


def graph_of(made: Path) -> Graph:
    return pipeline.to_graph(pipeline.load(made), None)


def test_what_a_folder_says(tmp_path: Path) -> None:
    graph = graph_of(folder(tmp_path / "model"))
    assert graph.target_rules is not None
    assert (graph.task.name, graph.task.verb, graph.max_tokens) == ("translation", "translate", 24)
    assert (graph.target_rules.begin, graph.target_rules.ends, graph.target_rules.forced_end) == ((44,), (0,), True)
    assert graph.target_rules.max_tokens == MAX_LENGTH - 1
    assert graph.notes == ()
    stored, _ = read_raw_safetensors(tmp_path / "model" / "model.safetensors")
    sizes = (prod(entry["shape"]) for name, entry in stored.items() if name != "__metadata__")
    assert parameter_count(graph) == sum(sizes) + 24 * 20  # one table of positions, which the file does not have


@pytest.mark.parametrize("name", MODELS)
def test_programs_write_what_the_library_wrote(name: str, tmp_path: Path) -> None:
    graph = graph_of(folder(tmp_path / "model", name))
    program = lower(graph, RECIPES["fp32"])
    for text, ids, written, _ in RECORDED[name]:
        assert Generation(program, ids, [0] * len(ids)).greedy()[0] == written, text


def test_targets_that_are_longer_than_texts(tmp_path: Path) -> None:
    """Both are looked up in one table of positions."""
    graph = pipeline.to_graph(pipeline.load(folder(tmp_path / "model")), 5)
    assert graph.target_rules is not None and graph.target_rules.max_tokens > 5
    interpreter, program = Interpreter(graph), lower(graph, RECIPES["fp32"])
    written = interpreter.generate([4, 5, 6], [0] * 3)
    assert len(written) > 5
    assert Generation(program, [4, 5, 6], [0] * 3).greedy()[0] == written


def test_words_that_lie_twice(tmp_path: Path) -> None:
    """Older files have the words by all their names."""
    made = folder(tmp_path / "model")
    for name in ("model.encoder.embed_tokens.weight", "lm_head.weight"):
        again(made, name)
    assert graph_of(made).notes == ()
    again(made, "model.decoder.embed_tokens.weight", difference=1)
    with pytest.raises(EtchError, match=r"decoder\.embed_tokens\.weight is not model\.shared\.weight"):
        graph_of(made)


def test_a_table_of_positions_of_the_file_counts(tmp_path: Path) -> None:
    """Older files have it; the library (5.23) takes it where it has other values, too, as files of 16 bits do."""
    made, sinusoids = folder(tmp_path / "model"), halved_sinusoids("table", 24, 20).at(0).values
    plain = parameter_count(graph_of(made))
    store(made, "model.encoder.embed_positions.weight", sinusoids)
    assert parameter_count(graph_of(made)) == plain
    store(made, "model.decoder.embed_positions.weight", sinusoids.astype(np.float16))
    tables = [op.terms[1].table for op, _ in g.ops_of(graph_of(made)) if isinstance(op, g.Embed)]
    rounded = sinusoids.astype(np.float16).astype(np.float32)
    assert [np.array_equal(table.at(0).values, sinusoids) for table in tables] == [True, False]
    assert np.array_equal(tables[1].at(0).values, rounded)


def store(made: Path, name: str, values: np.ndarray) -> None:
    """Adds a tensor."""
    header, data = read_raw_safetensors(made / "model.safetensors")
    dtype = {"float32": "F32", "float16": "F16"}[values.dtype.name]
    place = [len(data), len(data) + values.nbytes]
    header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": place}
    write_raw_safetensors(made / "model.safetensors", header, data + values.tobytes())


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["MarianModel"]}, "architecture-not-supported"),
        ({"share_encoder_decoder_embeddings": False}, "generation-not-supported"),
        ({"decoder_vocab_size": 44}, "generation-not-supported"),
        ({"tie_word_embeddings": False}, "generation-not-supported"),
        ({"static_position_embeddings": False}, "generation-not-supported"),
        ({"normalize_before": True}, "generation-not-supported"),
        ({"normalize_embedding": True}, "generation-not-supported"),
        ({"normalize_embedding": 1}, "config-type"),
        ({"scale_embedding": "yes"}, "config-type"),
        ({"encoder_layers": 1}, "unused-tensor"),
        ({"decoder_layers": 3}, "missing-tensor"),
        ({"vocab_size": 46, "decoder_vocab_size": None}, "wrong-shape"),
        ({"vocab_size": 44}, "token-id-out-of-range"),
        ({"activation_function": "sine"}, "activation-not-supported"),
        ({"generation": {"num_beams": 9}}, "generation-not-supported"),
        ({"generation": {"encoder_repetition_penalty": 2.0}}, "generation-not-supported"),
        ({"generation": {"forced_eos_token_id": 3}}, "generation-not-supported"),
        ({"generation": {"forced_bos_token_id": 3}}, "generation-not-supported"),
        ({"generation": {"decoder_start_token_id": None}}, "config-missing"),
        ({"generation": {"decoder_start_token_id": 45}}, "token-id-out-of-range"),
        ({"generation": {"max_length": 26}}, "max-tokens-out-of-range"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", **changes))
    assert caught.value.code == code
