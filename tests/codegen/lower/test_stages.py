# SPDX-License-Identifier: Apache-2.0
"""Ops say what their fields are, and every stage knows every op: what it has no entry for is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, make_dataclass, replace
from typing import Any

import pytest
from graph_builder import Builder
from test_lower import texts
from tiny_graphs import post

from codegen.emulate import emulate_outputs
from codegen.emulate.forward import EMULATE, RUN
from codegen.errors import EtchError
from codegen.golden import SECONDS, estimated_seconds
from codegen.ir import check_ops, check_program, check_sums, op
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir.op import reads, slots, writes
from codegen.ir.products import PRODUCTS
from codegen.ir.program_changes import CUT, with_max_tokens
from codegen.ir.stage import Stage
from codegen.lower import lower
from codegen.lower.demand import INPUTS
from codegen.lower.ops import LOWER, PACK
from codegen.lower.steps import AT_ONCE, HANDS_ON
from codegen.memory import liveness, stack_budget, table_traffic, traffic
from codegen.memory.placement import Placement
from codegen.memory.plan import SCRATCH, Region, plan_memory
from codegen.oracle.interpret import INTERPRET
from codegen.quantize import RECIPES
from codegen.quantize.bounds import BOUND
from codegen.render import forward
from codegen.render.environment import template_environment
from codegen.render.generation import PASS_LINES
from codegen.render.head import NEEDS
from codegen.render.scores import MEMBER
from codegen.render.statements import RENDER
from codegen.targets import TARGETS


@pytest.mark.parametrize("kind", [*g.OPS, g.Term, *p.OPS, p.EmbeddingTerm], ids=lambda kind: kind.__name__)
def test_every_field_of_an_op_has_a_role(kind: type) -> None:
    for each in fields(kind):
        assert op.role(each)


STAGES = {
    "graph": (check_ops.CHECK, INPUTS, LOWER, AT_ONCE, HANDS_ON, BOUND, PRODUCTS, INTERPRET),
    "program": (
        *(check_program.CHECK, check_program.READS_ALL, EMULATE, SCRATCH, RENDER, NEEDS, CUT, SECONDS),
        *(check_sums.SUMS, liveness.NAME, stack_budget.OWN, traffic.AGAIN, traffic.SCRATCH_USES),
    ),
}
# Of some ops only: by what their fields are.
PARTIAL: list[tuple[tuple[type, ...], Stage, set[op.Role]]] = [
    (g.OPS, PACK, {"packed"}),
    (p.OPS, table_traffic.SHARE, {"weights", "parts"}),
]


@pytest.mark.parametrize(("ops", "stage"), [(ops, stage) for ops, all_of in STAGES.items() for stage in all_of])
def test_every_stage_has_an_entry_for_every_op(ops: str, stage: Stage) -> None:
    assert stage.types == set(g.OPS if ops == "graph" else p.OPS)


@pytest.mark.parametrize(("ops", "stage", "roles"), PARTIAL, ids=lambda case: getattr(case, "name", None))
def test_every_stage_has_an_entry_for_every_op_with_such_fields(
    ops: tuple[type, ...], stage: Stage, roles: set[op.Role]
) -> None:
    assert stage.types == {kind for kind in ops if roles & {op.role(each) for each in fields(kind)}}


OUTER = [traffic.INSIDE, liveness.BEFORE, check_program.WALK, forward.STEP_LINES, RUN]


@pytest.mark.parametrize("stage", OUTER, ids=lambda stage: stage.name)
def test_every_step_that_holds_others_has_an_entry(stage: Stage) -> None:
    assert stage.types == {p.Blocks, p.Loop, p.Repeat}


ROW = p.Buffer("row", "f32", "one", 4)
DOUBLED = make_dataclass(
    "Doubled", [("scale", p.WeightSlot, op.weights()), ("row", p.Buffer, op.updated())], frozen=True
)
TWICE = make_dataclass("Twice", [("body", tuple)], frozen=True)
UNKNOWN = {"Doubled": DOUBLED(p.WeightSlot("scale", ()), ROW), "Twice": TWICE(())}  # an op, and a step that holds some


def with_step(step: Any) -> p.Program:
    made = lower(post("first"), RECIPES["w8a8"])
    return replace(made, steps=(*made.steps, step))


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize(
    ("stage", "count"),
    [
        ("liveness", liveness.op_names),
        ("liveness", liveness.lives_of),
        ("stack budget", lambda program: stack_budget.stack_budget(TARGETS["host"], program, 0)),
        ("check", check_program.check_program),
        ("emulate", lambda program: emulate_outputs(program, texts())),
        ("render", lambda program: forward.forward_lines(program, template_environment(), True)),
        ("shorter texts", lambda program: with_max_tokens(program, 4)),
        ("golden", lambda program: estimated_seconds(in_layers(program), 4)),
    ],
    ids=("names", "lives", "stack", "check", "emulate", "render", "shorter", "seconds"),
)
def test_no_stage_guesses(stage: str, count: Callable[[p.Program], object], name: str) -> None:
    """What is new is refused, not taken for something else."""
    with pytest.raises(EtchError, match=rf"error\[op-not-supported\] {stage}: .* {name}"):
        count(with_step(UNKNOWN[name]))


@pytest.mark.parametrize("name", UNKNOWN)
def test_traffic_does_not_guess(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, target = lower(post("first"), RECIPES["w8a8"]), TARGETS["host"]
    plan = plan_memory(program, target, 64)
    monkeypatch.setattr(p, "Op", p.Op | DOUBLED)
    monkeypatch.setitem(SCRATCH._entries, DOUBLED, lambda *_: 0)
    grown = replace(program, steps=(*program.steps, UNKNOWN[name]))
    with pytest.raises(EtchError, match=rf"error\[op-not-supported\] traffic: .* {name}"):
        traffic.traffic_of(grown, replace(plan, regions=(with_buffer(plan.regions[0]), *plan.regions[1:])), target)


def with_buffer(region: Region) -> Region:
    return replace(region, placements=(*region.placements, Placement(ROW.name, region.bytes, 16, 0, 0)))


def in_layers(program: p.Program) -> p.Program:
    """The same with its last step in the layers."""
    *others, last = program.steps
    steps = [
        replace(step, body=(*step.body, p.Blocks((last,)))) if isinstance(step, p.Loop) else step for step in others
    ]
    return replace(program, steps=tuple(steps))


@pytest.mark.parametrize(
    "stage", [table_traffic.SHARE, PACK, PASS_LINES, MEMBER, PRODUCTS], ids=lambda stage: stage.name
)
def test_what_has_no_entry_is_refused_by_name(stage: Stage) -> None:
    with pytest.raises(EtchError, match=r"error\[op-not-supported\] .* Doubled"):
        stage(UNKNOWN["Doubled"])


def test_a_missing_entry_names_op_and_stage() -> None:
    stage: Stage[None] = Stage("somewhere")
    with pytest.raises(EtchError, match=r"error\[op-not-supported\] somewhere: .* Pool"):
        stage(g.Pool("mean", "a", "b"))
    stage.on(g.Pool)(lambda op: None)
    with pytest.raises(TypeError, match="two entries for Pool"):
        stage.on(g.Pool)(lambda op: None)


def test_what_an_op_reads_writes_and_holds() -> None:
    b = Builder()
    linear = b.linear("dense", "a", "b", residual="c")
    assert (reads(linear), writes(linear)) == (("a", "c"), ("b",))
    assert [parameter.name for parameter in slots(linear)] == ["dense_weight", "dense_bias"]
    assert [parameter.name for parameter in slots(b.embed("x"))] == ["x_words", "x_segments", "x_positions"]
    turned = g.Normalize("a")
    assert reads(turned) == writes(turned) == ("a",)
    other = g.Parameter("other", ())
    assert set(slots(op.map_slots(b.embed("y"), lambda _: other))) == {other}
