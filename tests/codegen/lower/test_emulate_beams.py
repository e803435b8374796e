# SPDX-License-Identifier: Apache-2.0
"""Beam search as the generated code has it, in float32, beside what the library found in float64."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from test_generation import HERE, graph_of, settings_of

from codegen.emulate.generation import Generation
from codegen.ir.search import Search
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.lower import lower
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES

VARIANTS = ("bart/two_layers", "bart/uneven", "marian/settings", "gpt2/narrow", "llama/tied")


@pytest.mark.parametrize(
    ("variant", "most"),
    [("bart/two_layers", 4), ("marian/settings", 2), *(pytest.param(v, 99, marks=pytest.mark.sweep) for v in VARIANTS)],
)
def test_what_the_library_found(variant: str, most: int) -> None:
    """Token for token and score by score; no search of these comes as near as float32 rounds."""
    made = graph_of(variant)
    assert made.target_rules is not None
    own = settings_of(variant, Config.from_json(CheckpointFolder(HERE / variant).read_json("config.json")))
    searches = json.loads((HERE / variant / "beams.json").read_text(encoding="utf-8"))
    for ids, beams, penalty, early, written, score in [one for one in searches if one[1] is not None][1 : 2 * most : 2]:
        search = Search(beams, penalty, early, own.search.renormalize)
        program = lower(replace(made, target_rules=replace(made.target_rules, search=search)), RECIPES["fp32"])
        best = Generation(program, ids, [0] * len(ids)).beams()[0]
        assert list(best.tokens) == written
        assert abs(float(best.score) - score) < 1e-4


@pytest.mark.parametrize(
    ("variant", "least"), [("bart/uneven", 6), ("bart/ends", 4), ("gpt2/narrow", 9), ("mistral/ends", 3)]
)
def test_an_end_that_comes_late(variant: str, least: int) -> None:
    """The same with min_new_tokens, of the interpreter, too."""
    made = graph_of(variant)
    assert made.target_rules is not None
    searches = json.loads((HERE / variant / "least.json").read_text(encoding="utf-8"))
    for ids, beams, penalty, early, written, score in searches:
        search = Search(beams, penalty, early)
        late = replace(made, target_rules=replace(made.target_rules, search=search, least_tokens=least))
        exact = Interpreter(late).beams(ids, [0] * len(ids), search)[0]
        assert (list(exact.tokens), exact.score) == (written, pytest.approx(score, rel=1e-5))
        best = Generation(lower(late, RECIPES["fp32"]), ids, [0] * len(ids)).beams()[0]
        assert list(best.tokens) == written
        assert abs(float(best.score) - score) < 1e-4


@pytest.mark.parametrize(("variant", "most"), [("bart/two_layers", 5), ("gpt2/narrow", 3)])
def test_a_search_for_fewer_tokens(variant: str, most: int) -> None:
    """The same with max_new_tokens: the bits of a model that is generated for so many."""
    made = graph_of(variant)
    assert made.target_rules is not None
    searches = json.loads((HERE / variant / "fewer.json").read_text(encoding="utf-8"))
    assert all(len(written) <= most for *_, written, _ in searches)
    for ids, beams, penalty, early, written, score in searches:
        rules = replace(made.target_rules, search=Search(beams, penalty, early))
        whole, short = (
            replace(made, target_rules=replace(rules, max_tokens=n)) for n in (made.target_rules.max_tokens, most)
        )
        found = Generation(lower(whole, RECIPES["fp32"]), ids, [0] * len(ids), most).beams()
        assert list(found[0].tokens) == written
        assert abs(float(found[0].score) - score) < 1e-4
        assert found == Generation(lower(short, RECIPES["fp32"]), ids, [0] * len(ids)).beams()
