# SPDX-License-Identifier: Apache-2.0
"""`etch inspect`: the same in words and as JSON; what it says of a model type that no front-end knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoint import write_json, write_tiny_checkpoint

from codegen import cli
from codegen.console.inspect import Question, inspect
from codegen.errors import EtchError
from codegen.frontends import FRONT_ENDS
from codegen.frontends.shared.near import advice
from codegen.load.config import Config

WRITER = Path(__file__).resolve().parents[1] / "generation" / "llama" / "texts"


def facts(question: Question) -> dict[str, Any]:
    lines: list[str] = []
    inspect(question, lines.append, as_json=True)
    return json.loads("\n".join(lines))


def test_json_says_what_the_words_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tiny_checkpoint(tmp_path)
    assert cli.main(["inspect", str(tmp_path)]) == 0
    words = capsys.readouterr().out
    assert cli.main(["inspect", "--json", str(tmp_path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["model_type"] == "bert"
    assert f"{said['parameters']:,} parameters" in words
    assert f"task         {said['task_description']}\n" in words
    assert f"up to {said['max_tokens']} tokens (default {said['max_tokens']} from {said['max_tokens_source']})" in words
    assert f"sha256 {said['checkpoint_sha256']}\n" in words
    for place in said["bits"]:
        assert f" {place['bytes_8']:,} " in words
    assert len(said["bits"]) == words.split("forecast")[0].count("\n             ")
    assert len(said["forecasts"]) == words.count("\nforecast")
    for forecast in said["forecasts"]:
        assert f"{forecast['tables']:,} bytes, arena {forecast['arena']:>12,} bytes" in words


def test_regions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those of every form, as generate would plan them; of one that does not fit, what would."""
    write_tiny_checkpoint(tmp_path)
    small = ["--region", "fast=1K", "--region", "slow=8K"]
    assert cli.main(["inspect", "--json", str(tmp_path), *small]) == 0
    forecasts = json.loads(capsys.readouterr().out)["forecasts"]
    assert cli.main(["inspect", str(tmp_path), *small]) == 0
    words = capsys.readouterr().out
    fits = next(forecast for forecast in forecasts if (forecast["recipe"], forecast["target"]) == ("w8a8", "m-profile"))
    out = tmp_path / "out"
    made = ["generate", str(tmp_path), "--out", str(out), "--target", "m-profile", "--quiet", *small]
    assert cli.main(made) == 0
    manifest = json.loads((out / "etch.json").read_text())
    assert {key: fits[key] for key in ("regions", "region_buffers")} == {
        key: manifest[key] for key in ("regions", "region_buffers")
    }
    assert fits["arena"] == manifest["arena_bytes"]
    fast = fits["regions"]["fast"]
    assert f"  in fast     {fast['bytes']:,} bytes (lower bound {fast['lower_bound']:,}, " in words
    large = next(forecast for forecast in forecasts if (forecast["recipe"], forecast["target"]) == ("w4a8", "host"))
    assert "would do" in large["refusal"]
    assert large["refusal"] in words
    assert cli.main(["inspect", str(tmp_path), "--region", "fast=1K"]) == 2
    assert "error[wrong-regions]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "mobilebert"}, "nearest: "),
        ({"model_type": "bert-generation", "num_experts": 4}, "it asks for mixtures of experts; needed: a front-end"),
        ({"model_type": "xyz", "num_experts": 2, "num_local_experts": 2}, "it asks for mixtures of experts; needed"),
        ({"model_type": "xyz", "rope_theta": 1, "attn_logit_softcapping": 5}, "it asks for scores that a tanh bounds"),
        ({"model_type": "xyz", "is_encoder_decoder": True, "num_experts": 0}, "needed: a front-end"),
    ],
)
def test_what_is_said_of_a_family_that_is_not_there(config: dict[str, Any], words: str) -> None:
    said = advice(Config.from_json(config), ["albert", "bert"])
    assert words in said
    assert ("it asks for" in said) == ("it asks for" in words)


def test_the_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tiny_checkpoint(tmp_path)
    write_json(tmp_path / "config.json", {"model_type": "bart2", "is_encoder_decoder": True})
    assert cli.main(["inspect", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "; needed: a front-end (codegen/README.md, How to add); " in said
    assert said.endswith(f"supported: {len(FRONT_ENDS)} others, which etch inspect --model-types prints\n")


def test_model_types(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["inspect", "--model-types"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == sorted(FRONT_ENDS)


def test_inspect_for_shorter_texts(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "model", layers=2)
    whole, short = (facts(Question(tmp_path / "model", max_tokens=tokens)) for tokens in (None, 16))
    assert (whole["max_tokens"], whole["max_tokens_default"]) == (32, 32)
    assert (short["max_tokens"], short["max_tokens_default"]) == (16, 32)
    for before, after in zip(whole["forecasts"], short["forecasts"], strict=True):
        assert after["tables"] < before["tables"]  # positions
        assert after["arena"] < before["arena"]


def test_inspect_of_a_writer(tmp_path: Path) -> None:
    """Without an encoder what is written takes positions of what is read."""
    short, long = (facts(Question(WRITER, max_target=target)) for target in (4, 8))
    assert (short["max_tokens"], long["max_tokens"]) == (38, 34)
    write_tiny_checkpoint(tmp_path)
    with pytest.raises(EtchError, match="writes no texts"):
        facts(Question(tmp_path, max_target=4))
