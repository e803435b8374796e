# SPDX-License-Identifier: Apache-2.0
"""Keys of config.json: harmless, neutral, unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from malformed import CONFIG, put
from tiny_checkpoint import write_tiny_checkpoint

from codegen import frontends, pipeline
from codegen.load.config_keys import HARMLESS
from codegen.report import checkpoint_report

AGNEWS = Path(__file__).parents[3] / "tools" / "train" / "agnews" / "checkpoint"


def notes(folder: Path) -> tuple[str, ...]:
    return pipeline.to_graph(pipeline.load(folder), None).notes


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "model")
    return tmp_path / "model"


def test_what_transformers_writes_needs_no_note(model: Path) -> None:
    assert notes(model) == ()
    assert notes(AGNEWS) == ()
    # As versions 2 to 4 wrote them, and Google's own files.
    put(
        CONFIG,
        directionality="bidi",
        pooler_fc_size=768,
        pooler_type="first_token_transform",
        torch_dtype="float32",
        torchscript=False,
        pruned_heads={},
        num_beams=1,
        gradient_checkpointing=False,
        quantization_config=None,
        _name_or_path="bert-base-uncased",
        task_specific_params=None,
    )(model)
    assert notes(model) == ()


def test_unknown_keys_are_named(model: Path, tmp_path: Path) -> None:
    put(CONFIG, rope_theta=1e4, attention_scale=2, summary_activation="gelu")(model)
    assert notes(model) == ("config.json: not used: attention_scale, rope_theta, summary_activation",)
    loaded = pipeline.load(model)
    lines = checkpoint_report(loaded, pipeline.to_graph(loaded, None))
    assert "note         config.json: not used: attention_scale, rope_theta, summary_activation" in lines
    put(CONFIG, **{f"k{i:02}\n\u202e": i for i in range(20)}, **{"x" * 100_000: 1})(model)
    (note,) = notes(model)
    assert note.endswith(" and 12 more")
    assert len(note) < 1000
    assert all(
        "\u202e" not in line for line in checkpoint_report(loaded, pipeline.to_graph(pipeline.load(model), None))
    )


def test_a_note_stays(model: Path) -> None:
    """Asking what is not used is no use."""
    put(CONFIG, rope_theta=1e4)(model)
    loaded = pipeline.load(model)
    assert pipeline.to_graph(loaded, None).notes == pipeline.to_graph(loaded, None).notes != ()


def test_a_harmless_key_changes_nothing(model: Path) -> None:
    """The tensors and the graph are those of a configuration without any of them."""
    values = json.loads((model / CONFIG).read_text())
    graph = pipeline.to_graph(pipeline.load(model), None)
    own = {"architectures", "id2label", "label2id", "model_type", "num_labels", "problem_type"}
    put(CONFIG, **dict.fromkeys(HARMLESS - own - set(values), 1))(model)
    again = pipeline.to_graph(pipeline.load(model), None)
    assert (again.notes, again.widths, again.body) == (graph.notes, graph.widths, graph.body)


@pytest.mark.parametrize("value", [None, {}, []])
def test_neutral_values(model: Path, value: object) -> None:
    put(CONFIG, pruned_heads=value)(model)
    assert notes(model) == ()


def test_a_familys_harmless_keys(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(CONFIG, sinusoidal_pos_embds=False)(model)
    assert notes(model) == ("config.json: not used: sinusoidal_pos_embds",)
    monkeypatch.setattr(frontends.FRONT_ENDS["bert"], "HARMLESS_KEYS", {"sinusoidal_pos_embds"}, raising=False)
    assert notes(model) == ()
