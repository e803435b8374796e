# SPDX-License-Identifier: Apache-2.0
"""BART as a family: what its folder may say, and what generative models are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends.shared.encoder_decoder import POSITIONS
from codegen.request import Prune
from codegen.sqlite.extension import make_extension
from codegen.web.site import make_site

RECORDED = Path(__file__).resolve().parents[2] / "generation" / "bart" / "two_layers"
CHARACTERS = {"grapheme_chars": "____abcdefgh", "phoneme_chars": "____ABCDEFGHIJKL"}


def folder(out: Path, **changes: Any) -> Path:
    """The recorded checkpoint, whose tokens are characters; None removes a key."""
    shutil.copytree(RECORDED, out, ignore=shutil.ignore_patterns("recorded.json", "beams.json", "fewer.json"))
    config = json.loads((out / "config.json").read_text(encoding="utf-8")) | CHARACTERS | changes
    config = {key: value for key, value in config.items() if value is not None}
    (out / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return out


def test_what_a_folder_says(tmp_path: Path) -> None:
    loaded = pipeline.load(folder(tmp_path / "model"))
    graph = pipeline.to_graph(loaded, None)
    rules = graph.target_rules
    assert rules is not None
    assert (graph.task.name, graph.task.verb, graph.max_tokens) == ("translation", "translate", 24)
    assert (rules.max_tokens, rules.begin, rules.ends, rules.forced_end) == (
        23,
        (1,),
        (2,),
        True,
    )
    assert graph.notes == ()


def test_how_much_is_written(tmp_path: Path) -> None:
    for name, keys, expected in (("length", {"max_length": 9}, 8), ("new", {"max_new_tokens": 9}, 9)):
        graph = pipeline.to_graph(pipeline.load(folder(tmp_path / name, **keys)), None)
        assert graph.target_rules is not None
        assert graph.target_rules.max_tokens == expected


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["BartForCausalLM"]}, "architecture-not-supported"),
        ({"num_beams": 9}, "generation-not-supported"),
        ({"length_penalty": 5.5}, "generation-not-supported"),
        ({"length_penalty": "long"}, "config-type"),
        ({"num_beams": 8, "suppress_tokens": [0, 1, *range(3, 45 - 14)]}, "generation-not-supported"),
        ({"do_sample": True, "min_p": 0.2}, "generation-not-supported"),
        ({"encoder_no_repeat_ngram_size": 3}, "generation-not-supported"),
        ({"forced_bos_token_id": 5}, "generation-not-supported"),
        ({"forced_bos_token_id": 2}, "generation-value"),
        ({"forced_bos_token_id": 45}, "token-id-out-of-range"),
        ({"forced_bos_token_id": 1, "max_length": 2}, "generation-value"),
        ({"num_beams": 0}, "generation-value"),
        ({"min_length": 25}, "generation-value"),
        ({"max_length": 1}, "generation-value"),
        ({"max_length": 30}, "max-tokens-out-of-range"),
        ({"decoder_start_token_id": 45}, "token-id-out-of-range"),
        ({"decoder_layers": 3}, "missing-tensor"),
        ({"encoder_layers": 1}, "unused-tensor"),
        ({"vocab_size": 44}, "wrong-shape"),
        ({"d_model": 24}, "wrong-shape"),
        ({"num_attention_heads": 4}, "config-value"),
        ({"is_encoder_decoder": False}, "config-value"),
        ({"tie_word_embeddings": False}, "missing-tensor"),
        ({POSITIONS: 25}, "wrong-shape"),
        ({"phoneme_chars": None}, "config-missing"),
        ({"grapheme_chars": "abc"}, "characters-reserved"),
        ({"quantization_config": {"bits": 8}}, "config-not-supported"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        pipeline.to_graph(pipeline.load(folder(tmp_path / "model", **changes)), None)
    assert caught.value.code == code


@pytest.mark.parametrize("option", ["gpu", "prune"])
def test_options_of_other_models_are_refused(option: str, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("a,b\n")
    values: dict[str, Any] = {
        "gpu": True,
        "prune": Prune(table, 1),
    }
    request = pipeline.Request(folder(tmp_path / "model"), tmp_path / "out", **{option: values[option]})
    with pytest.raises(EtchError) as caught:
        pipeline.generate(request, lambda _: None)
    assert (caught.value.code, caught.value.stage) == ("generation-not-supported", "arguments")
    assert not (tmp_path / "out").exists()


def test_commands_of_other_models_refuse_it(tmp_path: Path) -> None:
    checkpoint, generated = folder(tmp_path / "model"), tmp_path / "speller"
    pipeline.generate(pipeline.Request(checkpoint, generated), lambda _: None)
    commands: dict[str, Callable[[], object]] = {
        "web": lambda: make_site(generated, tmp_path / "out", print),
        "sqlite": lambda: make_extension(generated, tmp_path / "out", print),
    }
    for stage, command in commands.items():
        with pytest.raises(EtchError) as caught:
            command()
        assert (caught.value.code, caught.value.stage) == ("task-not-supported", stage)
    assert not (tmp_path / "out").exists()
