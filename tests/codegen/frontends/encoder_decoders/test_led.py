# SPDX-License-Identifier: Apache-2.0
"""LED as a family: what its folders may say, what a token sees, and what is refused. test_generation.py,
test_recorded_models.py and test_answering.py have what its models compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder as recorded_folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from test_decoders import folder
from test_decoders import graph_of as writer_of

from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

ANSWERS = "answers/led"
NOTE = "not used: 12 tensors of tokens that see all others"
IDS = [0, 70, 9, 12, 33, 8, 2]


def attentions_of(graph: g.Graph) -> list[tuple[Any, Any]]:
    return [(op.mask, op.window) for op, _ in g.ops_of(graph) if isinstance(op, g.Attention)]


def test_what_a_writer_says(tmp_path: Path) -> None:
    graph = writer_of(folder(tmp_path / "model", "led"))
    assert graph.target_rules is not None
    assert (graph.task.verb, graph.max_tokens, graph.target_rules.max_tokens) == ("translate", 20, 17)
    assert (graph.target_rules.begin, graph.target_rules.ends, graph.notes) == ((2,), (2,), (NOTE,))
    assert attentions_of(graph) == [("window", g.ByLayer((2, 4))), ("causal", None), ("none", None)]


def test_what_an_answerer_says() -> None:
    graph = graph_of(recorded_folder(ANSWERS))
    assert (graph.task.verb, graph.max_tokens, graph.target_rules) == ("answer", 32, None)
    assert graph.notes == ("not used: 6 tensors of tokens that see all others",)
    assert attentions_of(graph) == [("window", 2), ("causal", None), ("none", None)]


def test_two_numbers_of_positions(tmp_path: Path) -> None:
    """Those of texts and those of what is written, which begin at 0."""
    path = folder(tmp_path / "model", "led", generation={"max_new_tokens": None})
    graph = writer_of(path, 32)
    assert graph.target_rules is not None
    assert (graph.max_tokens, graph.target_rules.max_tokens) == (32, 23)
    places = [op.terms[1] for op, _ in g.ops_of(graph) if isinstance(op, g.Embed)]
    assert [(term.table.shape, term.first) for term in places] == [((32, 20), 0), ((24, 20), 0)]
    for asked, most in ((33, None), (None, 25)):
        with pytest.raises(EtchError) as caught:
            writer_of(path, asked, most)
        assert caught.value.code == "max-tokens-out-of-range"


@pytest.mark.parametrize("said", [True, False])
def test_words_are_never_scaled(said: bool, tmp_path: Path) -> None:
    """The library's class has no such key."""
    graph = writer_of(folder(tmp_path / "model", "led", scale_embedding=said))
    usual = writer_of(folder(tmp_path / "usual", "led"))
    assert graph.notes == (NOTE, "config.json: not used: scale_embedding")
    outputs = [Interpreter(one).logits(IDS, [0] * len(IDS), [5]) for one in (graph, usual)]
    assert np.array_equal(*outputs)


def test_the_usual_window(tmp_path: Path) -> None:
    graph = writer_of(folder(tmp_path / "model", "led", attention_window=None))
    assert attentions_of(graph)[0] == ("window", 256)


def test_keys_of_published_folders(tmp_path: Path) -> None:
    """Of allenai/led-base-16384."""
    keys = {"classif_dropout": 0.0, "gradient_checkpointing": False, "num_hidden_layers": 2, "output_past": False}
    assert writer_of(folder(tmp_path / "model", "led", **keys)).notes == (NOTE,)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"attention_window": 5}, "config-value"),
        ({"attention_window": [4]}, "config-value"),
        ({"attention_window": [4, 0]}, "config-value"),
        ({"max_encoder_position_embeddings": 31}, "wrong-shape"),
        ({"max_decoder_position_embeddings": 25}, "wrong-shape"),
        ({"max_encoder_position_embeddings": None}, "config-missing"),
        ({"num_hidden_layers": 3}, "config-value"),
        ({"encoder_layers": 1, "attention_window": 4}, "unused-tensor"),
        ({"architectures": ["LEDForSequenceClassification"]}, "architecture-not-supported"),
        ({"architectures": ["LEDModel"]}, "architecture-not-supported"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        writer_of(folder(tmp_path / "model", "led", **changes))
    assert caught.value.code == code


REFUSED: dict[str, tuple[Change, str, str]] = {
    "no query": (
        rename("led.encoder.layers.0.self_attn.longformer_self_attn.query.weight", "other"),
        "missing-tensor",
        "longformer_self_attn.query.weight",
    ),
    "no output": (rename("led.encoder.layers.0.self_attn.output.bias", "other"), "missing-tensor", "output.bias"),
    "a classifier of texts": (
        configure(architectures=["LEDForSequenceClassification"]),
        "architecture-not-supported",
        "LEDForSequenceClassification",
    ),
    "a writer's": (configure(architectures=["LEDForConditionalGeneration"]), "unused-tensor", "qa_outputs"),
    "BART's": (configure(architectures=["BartForQuestionAnswering"]), "architecture-not-supported", "BartFor"),
    "no positions of what is written": (
        rename("led.decoder.embed_positions.weight", "other"),
        "missing-tensor",
        "led.decoder.embed_positions.weight",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(ANSWERS, *REFUSED[case], tmp_path)


def test_files_without_what_nothing_reads(tmp_path: Path) -> None:
    names = [f"{of}_global.{kind}" for of in ("query", "key", "value") for kind in ("weight", "bias")]

    def change(path: Path) -> None:
        for name in names:
            prefix = "led.encoder.layers.0.self_attn.longformer_self_attn"
            rename(f"{prefix}.{name}", f"{prefix}.other_global.{name}")(path)

    graph = graph_of(changed(ANSWERS, change, tmp_path))
    outputs = [Interpreter(one).output(IDS, [0] * len(IDS)) for one in (graph, graph_of(recorded_folder(ANSWERS)))]
    assert np.array_equal(*outputs)
