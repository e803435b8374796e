# SPDX-License-Identifier: Apache-2.0
"""`is_causal` of config.json, by which the library makes masks of any family: it is neutral where it says what the
family does, and a decoder whose rows are not written by sees everything where it says false. fuzz/model_differences.py
compares both with the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, graph_of
from test_decoders import folder as writer
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

ROWS, WINDOW, OWN_MASKS, DECODER_IN_PART = "qwen3/softmax", "mistral/softmax", "stablelm/softmax", "groupvit/whole"
ENCODER, ENCODER_IN_PART, BOTH, HALVES = "bert/softmax", "chinese_clip/whole", "bart/regression", "t5gemma/softmax"


def saying(value: Any, part: str | None = None, **others: Any) -> Change:
    """A change of config.json, or of what it says of a part."""

    def change(path: Path) -> None:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        (config if part is None else config[part]).update(is_causal=value, **others)
        write_json(path / "config.json", config)

    return change


@pytest.mark.parametrize(
    ("variant", "part", "values"),
    [
        (ROWS, None, (None, 0, "false")),
        (OWN_MASKS, None, (False, None)),
        (DECODER_IN_PART, "text_config", (False, None)),
        (ENCODER, None, (True, 1)),
        (ENCODER_IN_PART, "text_config", (True, 1)),
        (BOTH, None, (True, False, None)),
        (HALVES, "encoder", (True,)),
        (HALVES, "decoder", (False, None)),
    ],
)
def test_refused(variant: str, part: str | None, values: tuple[Any, ...], tmp_path: Path) -> None:
    for i, value in enumerate(values):
        assert_refused(variant, saying(value, part), "config-not-supported", "is_causal': ", tmp_path / str(i))


@pytest.mark.parametrize("family", ["llama", "gpt2", "opt", "bart", "t5"])
def test_a_writer_that_sees_what_it_will_write(family: str, tmp_path: Path) -> None:
    path = writer(tmp_path / "model", family, is_causal=False)
    with pytest.raises(EtchError, match="'is_causal': false is not supported") as caught:
        graph_of(path)
    assert caught.value.code == "config-not-supported"


@pytest.mark.parametrize(
    ("variant", "part", "value"),
    [
        (ROWS, None, True),
        (WINDOW, None, True),
        (DECODER_IN_PART, "text_config", True),
        (ENCODER, None, False),
        (ENCODER, None, None),
        (ENCODER_IN_PART, "text_config", False),
        (HALVES, "encoder", False),
        (HALVES, "decoder", True),
    ],
)
def test_what_the_family_does_needs_no_note(variant: str, part: str | None, value: Any, tmp_path: Path) -> None:
    graph = graph_of(changed(variant, saying(value, part), tmp_path))
    own = graph_of(folder(variant))
    assert (graph.notes, masks(graph)) == (own.notes, masks(own))


def masks(graph: g.Graph) -> list[Any]:
    return [op.mask for op, _ in g.ops_of(graph) if isinstance(op, g.Attention)]


def test_rows_that_see_everything(tmp_path: Path) -> None:
    graph, own = graph_of(changed(ROWS, saying(False), tmp_path)), graph_of(folder(ROWS))
    assert (masks(graph), masks(own)) == (["none"], ["causal"])
    assert graph.notes == own.notes
    text = [7, 9, 4]
    assert not np.array_equal(*(Interpreter(each).output(text, [0] * 3) for each in (graph, own)))
    assert np.array_equal(*(Interpreter(each).output([7], [0]) for each in (graph, own)))


def test_a_window_of_the_past_stays(tmp_path: Path) -> None:
    assert_refused(WINDOW, saying(False, sliding_window=3), "config-not-supported", "is_causal': false", tmp_path)


def test_windows_of_gemma_by_two_keys(tmp_path: Path) -> None:
    """Each of them has another one."""
    path = changed("gemma3_text/mean", saying(False), tmp_path)
    with pytest.raises(EtchError, match="is_causal: two windows"):
        pipeline.to_graph(pipeline.load(path), None)
