# SPDX-License-Identifier: Apache-2.0
"""GPT-Neo: which keys its layers see, what a folder may say of them, and what is refused. test_recorded_models.py and
test_generation.py have what they compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of

from codegen import pipeline
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

ROWS = "gpt_neo/softmax"  # 20 positions, layers global, local, local with a window of 6
WRITER = Path(__file__).resolve().parents[2] / "generation" / "gpt_neo" / "texts"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "answers": (
        ROWS,
        configure(architectures=["GPTNeoForQuestionAnswering"]),
        "architecture-not-supported",
        "GPTNeoForQuestionAnswering",
    ),
    "too few layers in the list": (
        ROWS,
        configure(attention_layers=["global", "local"]),
        "layers-out-of-range",
        "attention_layers: expected 3 of global or local",
    ),
    **{
        f"patterns, {name}": (ROWS, configure(attention_layers=None, attention_types=types), code, "attention_types")
        for name, types, code in (
            ("too few layers", [[["global"], 2]], "layers-out-of-range"),
            ("another kind", [[["global", "local", "near"], 1]], "layers-out-of-range"),
            ("not kinds", [[[3], 3]], "layers-out-of-range"),
            ("none: both kinds, twelve times", None, "layers-out-of-range"),
            ("none at all", [], "layers-out-of-range"),
            ("no list", "global", "config-value"),
            ("no number", [[["global"], "3"]], "config-value"),
            ("no list of kinds", [["global", 3]], "config-value"),
            ("three parts", [[["global"], 3, 1]], "config-value"),
            ("too many", [[["global"], 1 << 40]], "config-value"),
        )
    },
    "a window of none": (ROWS, configure(window_size=0), "config-out-of-range", "window_size"),
    "too few layers": (ROWS, configure(num_layers=2, attention_layers=["local"] * 2), "unused-tensor", "h.2."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def attention_of(graph: g.Graph) -> g.Attention:
    return next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Attention))


def seen(path: Path, tokens: int | None = None) -> tuple[Any, Any]:
    attention = attention_of(pipeline.to_graph(pipeline.load(path), tokens))
    assert attention.scale == 1.0
    return attention.mask, attention.window


def test_a_window_counts_the_token_itself(tmp_path: Path) -> None:
    some = g.ByLayer(("causal", "past", "past"))
    assert seen(folder(ROWS)) == (some, g.ByLayer((None, 5, 5)))
    least = changed(ROWS, configure(window_size=1, attention_layers=["local"] * 3), tmp_path)
    assert seen(least) == ("past", 0)


def test_a_window_that_holds_all_tokens_is_none(tmp_path: Path) -> None:
    """By the most tokens that are asked for; a writer's are those that it reads and writes."""
    assert seen(folder(ROWS), 7) == (g.ByLayer(("causal", "past", "past")), g.ByLayer((None, 5, 5)))
    assert seen(folder(ROWS), 6) == ("causal", None)
    whole = changed(ROWS, configure(window_size=20), tmp_path)
    assert seen(whole) == ("causal", None)
    for target, expected in ((3, ("causal", None)), (4, (g.ByLayer(("causal", "past")), g.ByLayer((None, 5))))):
        found = attention_of(pipeline.to_graph(pipeline.load(WRITER, Reading(max_target=target)), 4))
        assert (found.mask, found.window) == expected


def rows(path: Path) -> np.ndarray:
    ids = list(range(5, 15))
    return Interpreter(graph_of(path)).output(ids, [0] * len(ids))


def test_kinds_of_layers_by_pattern(tmp_path: Path) -> None:
    """The list of layers counts over the patterns that it is made of, which are there without it, too."""
    patterns = changed(ROWS, configure(attention_layers=None), tmp_path / "patterns")
    both = changed(ROWS, configure(attention_types=[[["global"], 3]]), tmp_path / "both")
    other = changed(ROWS, configure(attention_layers=["local", "global", "local"]), tmp_path / "other")
    assert np.array_equal(rows(patterns), rows(folder(ROWS)))
    assert np.array_equal(rows(both), rows(folder(ROWS)))
    assert not np.array_equal(rows(other), rows(folder(ROWS)))


def test_what_an_older_file_has(tmp_path: Path) -> None:
    """Masks beside the weights."""
    path = changed(ROWS, add("transformer.h.0.attn.attention.bias", (1, 1, 20, 20)), tmp_path)
    add("transformer.h.1.attn.attention.masked_bias", ())(path)
    assert np.array_equal(rows(path), rows(folder(ROWS)))
