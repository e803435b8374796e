# SPDX-License-Identifier: Apache-2.0
"""Sums of products of bytes that int32 does not hold are refused; of floats they are none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recorded.outputs import folder

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import program as p
from codegen.ir.check_sums import MOST_PRODUCTS, check_sums
from codegen.ir.program_changes import map_ops
from codegen.ir.walks import ops_of


def program(recipe: str) -> p.Program:
    return pipeline.lower(pipeline.load(folder("modernbert/one_layer")), recipe, None)


def with_inputs(made: p.Program, width: int) -> p.Program:
    """Its linears read rows of this width."""

    def wider(op: p.Op) -> p.Op:
        return replace(op, input=replace(op.input, width=width)) if isinstance(op, p.Linear) else op

    return replace(made, steps=tuple(map_ops(step, wider) for step in made.steps))


@pytest.mark.parametrize("recipe", ["w8a8", "w4a8", "fp32"])
def test_keys_and_inputs_are_as_many_as_a_sum_holds(recipe: str) -> None:
    made = program(recipe)
    assert any(isinstance(op, p.Attention) for op in ops_of(made))
    check_sums(replace(made, max_tokens=MOST_PRODUCTS))
    check_sums(with_inputs(made, MOST_PRODUCTS))
    for changed, code, words in (
        (replace(made, max_tokens=MOST_PRODUCTS + 1), "max-tokens-out-of-range", "65,537 tokens"),
        (with_inputs(made, MOST_PRODUCTS + 1), "width-not-supported", "65,537 inputs"),
    ):
        if recipe == "fp32":
            check_sums(changed)
            continue
        with pytest.raises(EtchError, match=words) as caught:
            check_sums(changed)
        assert (caught.value.code, caught.value.stage) == (code, "check")
