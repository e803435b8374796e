# SPDX-License-Identifier: Apache-2.0
"""Lives of buffers in programs made by hand, worked out by hand; test_plan.py follows whole models."""

from __future__ import annotations

import numpy as np

from codegen.ir import program as p
from codegen.memory.liveness import Lives, lives_of
from codegen.tasks.embedding import Embedding

WEIGHTS = p.WeightSlot("norm", ())


def rows(name: str, kind: p.Rows = "tokens") -> p.Buffer:
    return p.Buffer(name, "f32", kind, 4)


def norm(source: p.Buffer, out: p.Buffer) -> p.Norm:
    return p.Norm("layer", WEIGHTS, source, out)


def lives(*steps: p.Step, result: p.Buffer) -> Lives:
    return lives_of(p.Program("fp32", steps, (p.Output(Embedding(4), result),), 10, 1, 8))


A, B, C, D = map(rows, "abcd")
ROW, OTHER = rows("row", "one"), rows("other", "one")


def test_what_a_loop_only_reads_lives_until_it_ends() -> None:
    """The next layer reads it again."""
    body = (p.Blocks((p.Multiply(A, B, C),)), p.Blocks((norm(C, B),)))
    found = lives(norm(B, A), p.Loop("layer", 2, body), p.Pool("mean", B, ROW), result=ROW)
    assert found == {"a": (1, 3), "b": (1, 4), "c": (2, 3), "row": (4, 4)}


def test_what_a_loop_writes_before_it_reads_lives_inside() -> None:
    body = (p.Blocks((norm(B, C),)), p.Blocks((norm(C, D),)), p.Blocks((norm(D, B),)))
    found = lives(norm(A, B), p.Loop("layer", 2, body), p.Pool("mean", B, ROW), result=ROW)
    assert found == {"a": (1, 1), "b": (1, 5), "c": (2, 3), "d": (3, 4), "row": (5, 5)}


def test_blocks_take_turns() -> None:
    """What a block of rows has been read from is still needed by the next block; a row of the block's own is not."""
    block = rows("block", "block")
    found = lives(p.Blocks((norm(A, block), norm(block, C), norm(C, D))), p.Pool("mean", D, ROW), result=ROW)
    assert found == {"a": (1, 3), "block": (1, 2), "c": (1, 3), "d": (1, 4), "row": (4, 4)}


def test_what_generation_reads_from_before_lives_through_all_steps() -> None:
    """A step of generation is a phase with layers of its own; `b` is handed on from one step to the next."""
    source, state, inner = rows("source"), rows("state"), rows("inner")
    layers = p.Loop("layer", 2, (p.Blocks((p.Multiply(state, source, inner), norm(inner, state))),))
    phase = p.Repeat("steps", (norm(B, state), layers, norm(state, C), norm(C, B)))
    found = lives(norm(A, source), norm(source, B), phase, norm(A, D), p.Pool("mean", D, ROW), result=ROW)
    assert found == {
        **{"a": (1, 8), "source": (1, 7), "b": (2, 7)},  # read behind the phase, in every step, by the next step
        **{"state": (3, 6), "inner": (4, 5), "c": (6, 7)},  # of one step
        **{"d": (8, 9), "row": (9, 9)},
    }


def test_a_result_lives_through_what_comes_after_it() -> None:
    found = lives(p.Pool("mean", A, ROW), norm(B, C), p.Repeat("steps", (norm(C, D), norm(D, C))), result=ROW)
    assert found["row"] == (1, 4)


def test_what_is_repeated_for_each_text_leaves_its_source() -> None:
    found = lives(norm(B, A), p.Repeat("texts", (p.Pool("mean", A, ROW), norm(ROW, OTHER))), result=OTHER)
    assert found == {"a": (1, 3), "b": (1, 1), "row": (2, 3), "other": (3, 3)}


KEYS = p.Buffer("keys", "keys", "tokens", 4, layers=2)
STEP_KEYS = p.Buffer("step_keys", "keys", "steps", 4, layers=2)
SHAPE = p.HeadShape(1, 1, 4)


def attention(keys: p.Buffer) -> p.Attention:
    return p.Attention("f32", SHAPE, np.float32(1), ROW, keys, keys, OTHER)


def test_what_is_packed_for_each_layer_lives_from_the_first_on() -> None:
    """The second layer's projection is written when the first layer's keys are there."""
    block = rows("block", "block")
    loop = p.Loop("layer", 2, (p.Blocks((norm(A, block), norm(block, B))), p.Blocks((p.PackKeys(SHAPE, B, KEYS),))))
    found = lives(norm(A, A), loop, p.Repeat("steps", (attention(KEYS),)), result=OTHER)
    assert (found["keys"], found["block"]) == ((2, 5), (2, 3))


def test_what_steps_append_to_lives_through_all_of_them() -> None:
    loop = p.Loop("layer", 2, (p.Blocks((p.PackKeys(SHAPE, ROW, STEP_KEYS), attention(STEP_KEYS), norm(OTHER, ROW))),))
    repeat = p.Repeat("steps", (norm(C, ROW), loop, norm(ROW, OTHER)))
    found = lives(norm(A, B), norm(B, C), repeat, result=OTHER)
    assert found == {"a": (1, 1), "b": (1, 2), "c": (2, 7), "row": (3, 7), "step_keys": (3, 7), "other": (5, 7)}
