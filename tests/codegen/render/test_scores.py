# SPDX-License-Identifier: Apache-2.0
"""What generated code does with scores of steps, of which there are none behind their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tiny_generators import decoder_only

from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.lower import lower
from codegen.quantize import RECIPES
from codegen.render.scores import bias_name, score_values


def program_with(**changes: Any) -> p.Program:
    """Of a writer whose attention has something changed."""

    def changed(node: g.Node) -> g.Node:
        if not isinstance(node, g.Layers):
            return node
        return replace(
            node, body=tuple(replace(op, **changes) if isinstance(op, g.Attention) else op for op in node.body)
        )

    made = decoder_only()
    return lower(replace(made, repeat=tuple(map(changed, made.repeat))), RECIPES["w8a8"])


@pytest.mark.parametrize(
    ("changes", "name", "values"),
    [
        ({"mask": "causal"}, None, []),
        ({"mask": "past", "window": 3}, "kScorePast3", ["{AttentionMask::past, /*window=*/3, /*table=*/nullptr}"]),
        ({"mask": g.ByLayer(("causal", "past")), "window": g.ByLayer((None, 3))}, "layer.score", []),
    ],
)
def test_a_window_of_the_past_masks_steps(changes: dict[str, Any], name: str | None, values: list[str]) -> None:
    program = program_with(**changes)
    assert {bias_name(op) for op in walks.ops_of(program) if isinstance(op, p.Attention)} == {name}
    assert [bias["value"] for bias in score_values(program)["biases"]] == values
