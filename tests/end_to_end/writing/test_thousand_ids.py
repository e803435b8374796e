# SPDX-License-Identifier: Apache-2.0
"""A tiny model of each family over a thousand random texts and more, in float32, greedily and with beams: token for
token what `transformers` wrote, wherever no two of the candidates of a step were nearer than 1e-4.
tests/codegen/generation/record_tiny_digests.py has recorded it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from classify_program import ROOT
from model_build import build_test
from once import once
from test_generation_programs import SOURCE, checkpoint, generate, graph, kernels, written

GENERATION = ROOT / "tests" / "codegen" / "generation"
sys.path.insert(0, str(GENERATION))
from random_texts import TINY, digest, random_texts  # noqa: E402 - of the folder beside

__all__ = ["checkpoint"]  # a fixture
BEAMS = 4  # as recorded
COMPARED = 1000  # texts, at least


@pytest.mark.parametrize("family", TINY)
def test_what_the_library_wrote(family: str, checkpoint: Path, shared: Path, tmp_path: Path) -> None:
    of_all, *recorded = json.loads((GENERATION / f"{family}_digests.json").read_text(encoding="ascii"))
    plain = graph(TINY[family])
    assert plain.target_rules is not None
    texts = random_texts(TINY[family], plain.vocabulary)
    assert of_all == digest([digest(ids) for ids in texts])
    search = replace(plain.target_rules.search, beams=BEAMS)
    made = replace(plain, target_rules=replace(plain.target_rules, search=search))
    folder = shared / "thousands" / family / "form"
    once(folder.parent / "made", repr(search), lambda: generate(made, "fp32", "host", checkpoint, folder))
    program = build_test(folder, SOURCE, tmp_path / "program")
    asked = [(plain.target_rules.max_tokens, ids) for ids in texts]
    for way, beams in enumerate((1, BEAMS)):
        lines = written(program, kernels(program)[-1], 1, 0, asked, beams)
        ours = [digest(line.split()[3:]) for line in lines]
        pairs = [(i, one, row[way]) for i, (one, row) in enumerate(zip(ours, recorded, strict=True)) if row[way]]
        assert len(pairs) >= COMPARED
        other = [i for i, one, theirs in pairs if one != theirs]
        assert not other, f"{len(other)} of {len(pairs)} with {beams} beams: {other[:5]}"
