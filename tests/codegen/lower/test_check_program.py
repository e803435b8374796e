# SPDX-License-Identifier: Apache-2.0
"""Programs broken in one place each are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from graph_builder import WIDTH, seeing_all
from tiny_graphs import post

from codegen.errors import EtchError
from codegen.ir import check_program
from codegen.ir import program as p
from codegen.ir.program_changes import map_ops
from codegen.lower import lower
from codegen.quantize import RECIPES


def broken_programs() -> dict[str, p.Program]:
    """The program of a classifier, broken in one place each."""
    program = lower(post("first"), RECIPES["w8a8"])
    embed, norm, loop, head = program.steps
    assert isinstance(loop, p.Loop)
    packs, attends = loop.body
    assert isinstance(embed, p.EmbeddingSum)

    def with_term(nth: int, **values: object) -> p.Program:
        terms = (*embed.terms[:nth], replace(embed.terms[nth], **values), *embed.terms[nth + 1 :])
        return replace(program, steps=(replace(embed, terms=terms), norm, loop, head))

    every = replace(attends, body=attends.body)

    def with_global_rows(change: Callable[[p.Op], p.Op]) -> p.Program:
        made = lower(seeing_all(2, "mean"), RECIPES["w8a8"])
        return replace(made, steps=tuple(map_ops(step, change) for step in made.steps))

    def other_first(op: p.Op) -> p.Op:
        return replace(op, only=3) if isinstance(op, p.Attention) and op.only else op

    def every_row(op: p.Op) -> p.Op:
        return replace(op, only=None, others=None) if isinstance(op, p.Attention) else op

    def without_others(op: p.Op) -> p.Op:
        return replace(op, others=None) if isinstance(op, p.Attention) else op

    return {
        "attention first": replace(program, steps=(embed, norm, replace(loop, body=(every, packs)), head)),
        "nothing embedded": replace(program, steps=(norm, loop, head)),
        "keys of first rows": replace(
            program, steps=(embed, norm, replace(loop, body=(replace(packs, last_layer_first_row=True), every)), head)
        ),
        "no quantize": replace(
            program, steps=(embed, norm, replace(loop, body=(replace(packs, body=packs.body[1:]), every)), head)
        ),
        "no head": replace(program, steps=(embed, norm, loop)),
        "a neighbor's segment": with_term(1, shift=1),
        "outside of no shift by position": with_term(2, outside=1),
        "outside of the table": with_term(0, shift=1, outside=45),
        "dropped by segment": with_term(1, dropped=1),
        "dropped twice": replace(
            program,
            steps=(replace(embed, terms=(replace(embed.terms[0], dropped=1),) * 2), norm, loop, head),
        ),
        "no layers": replace(program, steps=(embed, norm, replace(loop, count=0), head)),
        "layers of no blocks": replace(program, steps=(embed, norm, replace(loop, body=()), head)),
        "blocks of no ops": replace(program, steps=(embed, norm, replace(loop, body=(*loop.body, p.Blocks(()))), head)),
        "layers for each text": replace(program, steps=(embed, norm, p.Repeat("texts", (loop,)), head)),
        "a step that leaves first rows only": replace(program, steps=(embed, norm, p.Repeat("steps", (loop,)), head)),
        "a step that reads what it has not": replace(program, steps=(embed, p.Repeat("steps", (loop, norm)), head)),
        "other first rows of queries": with_global_rows(other_first),
        "every row of what has first ones": with_global_rows(every_row),
        "first rows without others": with_global_rows(without_others),
        "first rows for each text": replace(
            program, steps=(embed, norm, loop, map_ops(head, lambda op: replace(op, only=1)))
        ),
        "another count": replace(program, steps=(embed, norm, replace(loop, count=2), head)),
        "mean of first rows": replace(
            program,
            steps=(
                *program.steps[:3],
                p.Repeat("texts", (p.Pool("mean", p.Buffer("hidden", "f32", "tokens", WIDTH), program.output),)),
            ),
        ),
    }


@pytest.mark.parametrize("case", broken_programs())
def test_programs_are_refused(case: str) -> None:
    with pytest.raises(EtchError) as caught:
        check_program.check_program(broken_programs()[case])
    assert (caught.value.code, caught.value.stage) == ("program-not-sound", "check")
