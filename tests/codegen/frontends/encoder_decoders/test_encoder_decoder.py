# SPDX-License-Identifier: Apache-2.0
"""Two encoders as one that reads and one that writes: what their folders may say, and what is refused.
lower/test_generation.py has what they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decoders import folder, graph_of
from tiny_checkpoint import read_raw_safetensors, write_safetensors

from codegen import pipeline
from codegen.errors import EtchError
from codegen.oracle.interpret import Interpreter

FAMILY = "encoder-decoder"


def changed(path: Path, of: str, **changes: Any) -> Path:
    """With keys of a half's configuration changed; None removes one."""
    values = json.loads((path / "config.json").read_text(encoding="utf-8"))
    values[of] = {key: value for key, value in (values[of] | changes).items() if value is not None}
    (path / "config.json").write_text(json.dumps(values), encoding="utf-8")
    return path


def logits(path: Path) -> np.ndarray:
    return Interpreter(graph_of(path)).logits([9, 7, 3], [0] * 3, [5, 8])


def test_what_a_folder_says(tmp_path: Path) -> None:
    graph = graph_of(folder(tmp_path / "model", FAMILY))
    rules = graph.target_rules
    assert rules is not None
    assert (graph.task.verb, graph.notes, rules.begin, graph.max_tokens) == ("translate", (), (2,), 20)
    assert (rules.ends, rules.max_tokens, rules.vocabulary) == ((3,), 17, graph.vocabulary)


def test_a_pooler_and_copies_are_not_read(tmp_path: Path) -> None:
    own, older = folder(tmp_path / "own", FAMILY), folder(tmp_path / "older", FAMILY)
    header, data = read_raw_safetensors(own / "model.safetensors")
    tensors = {
        name: np.frombuffer(data[slice(*info["data_offsets"])], np.float16).reshape(info["shape"])
        for name, info in header.items()
        if name != "__metadata__"
    }
    kept = {name: tensor for name, tensor in tensors.items() if "pooler" not in name}
    assert len(kept) == len(tensors) - 2
    kept["decoder.cls.predictions.decoder.weight"] = kept["decoder.bert.embeddings.word_embeddings.weight"]
    write_safetensors(older / "model.safetensors", kept, dtype="F16")
    assert graph_of(older).notes == ()
    assert np.array_equal(logits(own), logits(older))


def test_how_it_writes_where_the_decoders_part_alone_says_it(tmp_path: Path) -> None:
    """As the library reads a folder without generation_config.json: what config.json leaves open."""
    path = folder(tmp_path / "model", FAMILY, eos_token_id=None, num_beams=2)
    (path / "generation_config.json").unlink()
    with pytest.raises(EtchError) as caught:
        pipeline.load(path)
    assert "eos_token_id" in str(caught.value)
    changed(path, "decoder", eos_token_id=7, num_beams=4, min_length=3)
    settings = pipeline.load(path).generation
    assert settings is not None
    assert (settings.ends, settings.search.beams) == ((7,), 2)
    assert settings.least_tokens > 0


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["BertLMHeadModel"]}, "architecture-not-supported"),
        ({"encoder": None}, "config-type"),
        ({"decoder": "bert"}, "config-type"),
        ({"tie_encoder_decoder": True}, "config-not-supported"),
        ({"is_encoder_decoder": False}, "config-value"),
    ],
)
def test_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", FAMILY, **changes))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("of", "changes", "code"),
    [
        ("decoder", {"model_type": "gpt2"}, "model-type-not-supported"),
        ("encoder", {"model_type": "electra"}, "model-type-not-supported"),
        ("encoder", {"model_type": None}, "config-missing"),
        ("encoder", {"is_decoder": True}, "config-value"),
        ("decoder", {"is_decoder": False}, "config-value"),
        ("decoder", {"add_cross_attention": None}, "config-value"),
        ("decoder", {"cross_attention_hidden_size": 20}, "config-not-supported"),
        ("decoder", {"position_embedding_type": "relative_key"}, "position-embedding-not-supported"),
        ("decoder", {"hidden_size": 16}, "missing-tensor"),
        ("decoder", {"num_hidden_layers": 2}, "missing-tensor"),
        ("decoder", {"tie_word_embeddings": False}, "missing-tensor"),
        ("decoder", {"max_position_embeddings": 12}, "max-tokens-out-of-range"),
        ("decoder", {"model_type": "roberta"}, "missing-tensor"),
        ("decoder", {"vocab_size": 40}, "tokenizer-missing"),
    ],
)
def test_halves_that_are_refused(of: str, changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(changed(folder(tmp_path / "model", FAMILY), of, **changes))
    assert caught.value.code == code


def test_a_target_that_begins_with_what_has_no_position(tmp_path: Path) -> None:
    path = folder(tmp_path / "model", FAMILY, generation={"decoder_start_token_id": 1})
    with pytest.raises(EtchError, match="begins with the padding token") as caught:
        graph_of(changed(path, "decoder", model_type="roberta", pad_token_id=1))
    assert caught.value.code == "generation-not-supported"
