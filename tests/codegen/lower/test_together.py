# SPDX-License-Identifier: Apache-2.0
"""Texts that are written together, or read again as they were written: the bits of one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from sampling import sampled
from test_generation import VARIANTS, graph_of, recorded

from codegen.emulate.generation import Generation
from codegen.emulate.together import logits_of, write_greedily
from codegen.lower import lower
from codegen.quantize import RECIPES

QUICK = [(variant, "w8a8") for variant in VARIANTS[::4]]
OTHERS = [(variant, recipe) for variant in VARIANTS for recipe in ("w8a8", "fp32") if (variant, recipe) not in QUICK]
SWEPT = sampled(OTHERS, 40, "texts written together")


@pytest.mark.parametrize(
    ("variant", "recipe"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.sweep) for case in SWEPT)]
)
def test_the_same_bits(variant: str, recipe: str) -> None:
    program = lower(graph_of(variant), RECIPES[recipe])
    texts = [text["ids"] for text in recorded(variant)["outputs"]]
    alone = [Generation(program, ids, [0] * len(ids)).greedy() for ids in texts]
    assert write_greedily(program, texts) == [written for written, _ in alone]
    again = logits_of(program, texts, [written for written, _ in alone])
    for ours, (_, logits) in zip(again, alone, strict=True):
        assert ours.tobytes() == np.stack(logits).tobytes()
