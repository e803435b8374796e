# SPDX-License-Identifier: Apache-2.0
"""The plan's numbers for what only some models have, worked out by hand: questions, steps, relative rows, mixed bits.

test_plan_sizes.py has those of a classifier.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from tiny_checkpoint import write_tiny_checkpoint
from tiny_generators import encoder_decoder

from codegen import pipeline
from codegen.ir import program as p
from codegen.ir import walks
from codegen.lower import lower
from codegen.memory.call_memory import question_bytes
from codegen.memory.placement import Placement
from codegen.memory.plan import SCRATCH, expanded_inputs, plan_memory, relative_scratch_bytes
from codegen.quantize import RECIPES
from codegen.render.arena import size_checks
from codegen.targets import TARGETS, round_up


def placed(program: p.Program, target: str, most_pieces: int = 0) -> dict[str, Placement]:
    plan = plan_memory(program, TARGETS[target], 700, most_pieces=most_pieces)
    return {item.name: item for item in plan.placements}


def test_a_question_keeps_arrays_of_the_window_and_of_what_is_pending() -> None:
    # An id and two logits for each of 100 tokens; id, offsets and mark of 100 tokens, 7 pieces and one more.
    assert question_bytes(100, 7) == 1984 + 100 * (4 + 4 + 4) + 108 * (4 + 8 + 1)


@pytest.mark.parametrize("target", TARGETS)
def test_a_question_and_its_tokenizer_live_throughout(target: str) -> None:
    program = pipeline.lower(pipeline.load(folder("answers/bert")), "fp32", None)
    last = len(walks.ops_of(program))
    for pieces in (0, 50):
        found = placed(program, target, pieces)
        assert found["question"].size == round_up(question_bytes(program.max_tokens, pieces), TARGETS[target].alignment)
        assert {(found[name].first, found[name].last) for name in ("question", "tokenizer")} == {(0, last)}
    assert plan_memory(program, TARGETS[target], 700) == plan_memory(program, TARGETS[target], 700, most_pieces=0)


@pytest.mark.parametrize(("target", "size"), [("host", 64), ("m-profile", 48)])
def test_what_is_written_lives_from_the_first_step_on(target: str, size: int) -> None:
    """4 bytes for each of 2 tokens that it begins with and 9 more; what was read is looked up once."""
    program = lower(encoder_decoder(), RECIPES["fp32"])
    *once, repeat = program.steps
    before = sum(1 for step in once for _ in walks.ops_in(step))
    written, ids = placed(program, target)["written"], placed(program, target)["ids"]
    assert (written.size, written.first) == (size, 1 + before)
    assert written.last == before + sum(1 for _ in walks.ops_in(repeat))
    assert (ids.first, ids.last) == (0, 1)


def test_scratch_of_relative_rows() -> None:
    # 24 rows with distances to 150 keys: 173, padded to 176, and one panel more; one row of scales.
    assert relative_scratch_bytes(24, 150) == 24 * 192 * 4 + 64
    # 4 rows of queries take less than the keys of a panel with distances to them: 19, padded to 32, and 16 more.
    assert relative_scratch_bytes(4, 150) == 16 * 48 * 4 + 64


@pytest.mark.parametrize(
    ("recipe", "target", "size"),
    [
        ("fp32", "host", 9600),  # 4 * 150 * 16
        ("fp32", "m-profile", 9600),
        ("w8a8", "host", 10816),  # 2 heads of 150 * 8 values, padded to 16, of 2 bytes, + 2 * 600 for scales
        ("w8a8", "m-profile", 6000),  # the same of one byte
    ],
)
def test_rows_of_keys(recipe: str, target: str, size: int) -> None:
    program = pipeline.lower(pipeline.load(folder("deberta-v2/long")), recipe, None)
    assert placed(program, target)["key_rows"].size == size


def test_of_mixed_bits_the_widest_input_counts(tmp_path: Path) -> None:
    """`output` has 601 inputs and 4 bits, as those around it with 36; `intermediate` has 8."""
    write_tiny_checkpoint(tmp_path, hidden=36, heads=3, intermediate=601)
    program = pipeline.lower(pipeline.load(tmp_path), "w4a8", None, bits={"intermediate": 8})
    assert expanded_inputs(program) == 601


@pytest.mark.parametrize(
    ("recipe", "target", "size"),
    [
        # 3 gates of 13 floats, padded to 192 bytes, and an encoded row of 16 values, padded to 64.
        ("w8a8", "host", 192 + 64),
        ("w4a8", "host", 192 + 64 + 16 * 64),  # behind it 16 outputs of 16 inputs, of 4 bytes
        ("w4a8", "m-profile", 192 + 64 + 16 * 16),
    ],
)
def test_a_gru_expands_its_4_bits_behind_its_scratch(recipe: str, target: str, size: int) -> None:
    """The generated code says so, too, and does not compile where the scratch is smaller."""
    program = pipeline.lower(pipeline.load(folder("gru/one_layer")), recipe, None)
    (gru,) = (op for op in walks.ops_of(program) if isinstance(op, p.Gru))
    assert gru.width == 13
    assert SCRATCH(gru, program, TARGETS[target]) == size
    expanded = " + expanded_bytes(kPacking, 13)" if recipe == "w4a8" else ""
    checks = size_checks(program, plan_memory(program, TARGETS[target], 700))
    assert f"gru_scratch_bytes(kPacking, 13){expanded} <= kScratchBytes" in checks
