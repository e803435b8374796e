# SPDX-License-Identifier: Apache-2.0
"""How often bytes of buffers and tables are touched, in programs made by hand, worked out by hand.

test_regions.py and test_table_places.py have whole models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.graph import TargetRules
from codegen.ir.search import Search
from codegen.memory.placement import Placement
from codegen.memory.plan import ARENA, Plan, Region
from codegen.memory.table_traffic import table_traffic
from codegen.memory.traffic import traffic_of
from codegen.pack.tables import Table
from codegen.targets import TARGETS
from codegen.tasks.embedding import Embedding

TOKENS = 10
BLOCK = 4  # rows: 3 blocks
TARGET = TARGETS["m-profile"]  # 4 rows of queries are a tile: 3 tiles
SHAPE = p.HeadShape(2, 2, 10)
EMPTY = p.WeightSlot("none", ())
WORDS = p.WeightSlot("words", (p.EmbeddingWeights(p.F32Matrix(np.zeros((50, 20), np.float32)), "words"),))
EMBED = p.EmbeddingTerm(WORDS, "ids")


def rows(name: str, kind: p.Rows, width: int = 20, storage: p.Storage = "f32", layers: int = 1) -> p.Buffer:
    return p.Buffer(name, storage, kind, width, layers=layers)


A, B, C = rows("a", "tokens"), rows("b", "block"), rows("c", "block", 33)
CONTEXT = rows("context", "block")
ONE, TWO, LOGITS = rows("one", "one"), rows("two", "one"), rows("logits", "one", 17)


def norm(source: p.Buffer, out: p.Buffer, slot: p.WeightSlot = EMPTY) -> p.Norm:
    return p.Norm("layer", slot, source, out)


def linear(source: p.Buffer, out: p.Buffer, residual: p.Buffer | None = None, slot: p.WeightSlot = EMPTY) -> p.Linear:
    return p.Linear("f32", slot, source, "none", residual, out)


def attention(query: p.Buffer, keys: p.Buffer, out: p.Buffer) -> p.Attention:
    return p.Attention("f32", SHAPE, np.float32(1), query, keys, keys, out)


# Of an attention: 4 rows of scores for 10 or 9 keys, padded to 16, and 4 factors, padded to 64 bytes.
SCRATCH = 4 * 16 * 4 + 64


def program(*steps: p.Step, rules: TargetRules | None = None) -> p.Program:
    return p.Program("fp32", steps, (p.Output(Embedding(17), LOGITS),), 50, 1, TOKENS, rules)


def planned(sizes: Mapping[str, int], block: int = BLOCK) -> Plan:
    placements = tuple(Placement(name, 0, size, 0, 0) for name, size in sizes.items())
    return Plan(block, True, (Region(ARENA, placements, 0, 0),), (), 0, {}, {})


def touched(made: p.Program, *extra: str, block: int = BLOCK) -> dict[str, int]:
    """In hundredths of a buffer's bytes; the scratch in bytes."""
    names = [*(buffer.name for buffer in walks.buffers_of(made)), *extra, "scratch"]
    return traffic_of(made, planned(dict.fromkeys(names, 100), block), TARGET)


def test_layers_in_blocks() -> None:
    keys = rows("keys", "tokens", storage="keys")
    first = p.Blocks((norm(A, B), p.PackKeys(SHAPE, B, keys)))
    second = p.Blocks((linear(B, C, residual=A), attention(C, keys, CONTEXT), p.Multiply(CONTEXT, C, A)))
    pooled = (p.Pool("mean", A, ONE), p.Pool("first", A, TWO), linear(ONE, LOGITS), p.Normalize(LOGITS))
    found = touched(
        program(p.EmbeddingSum("f32", (EMBED,), A), p.Loop("layer", 3, (first, second)), *pooled),
        "ids",
        "tokenizer",
        "offsets",
    )
    assert found == {
        # The embedding; in 3 layers a norm, a residual and what is written; all rows for the mean, the first one.
        "a": 100 * (1 + 3 * 3 + 1) + 10,
        # In each of 3 blocks written by the norm, packed, and gone through 3 times by a linear of 33 outputs.
        "b": 100 * 3 * 3 * (1 + 1 + 3),
        "c": 100 * 3 * 3 * 3,
        # Packed once a layer, then keys and values, which are one buffer here: each tile goes through it.
        "keys": 100 * 3 * (1 + 2 * 3),
        "context": 100 * 3 * 3 * 2,
        "one": 100 * (1 + 2),  # the pool, then 17 outputs
        "two": 100,
        "logits": 100 * (1 + 2),  # normalized in place: read and written
        **{"ids": 200, "tokenizer": 200, "offsets": 200},
        "scratch": 2 * 3 * SCRATCH * 2 * 3,  # of 2 heads 3 tiles, in 3 layers
    }


def test_a_block_that_holds_all_rows() -> None:
    """Not one row of a text, whose tenth would count."""
    found = touched(program(p.Blocks((norm(A, ONE),))), block=TOKENS)
    assert found == {"a": 100, "one": 100, "scratch": 0}


@pytest.mark.parametrize("over", ["texts", "masks"])
def test_what_is_repeated_for_each_text_counts_as_of_one(over: str) -> None:
    found = touched(program(p.Repeat(over, (p.Pool("first", A, ONE), norm(ONE, LOGITS)))))  # type: ignore[arg-type]
    assert found == {"a": 10, "one": 200, "logits": 100, "scratch": 0}


def written(beams: int) -> TargetRules:
    """9 steps: what it begins with and 8 of the 9 tokens that are written."""
    return TargetRules(40, 9, (7,), 3, search=Search(beams=beams))


STEP_KEYS = rows("step_keys", "steps", storage="keys", layers=2)
SOURCE_KEYS = rows("source_keys", "tokens", storage="keys", layers=2)
ALL_LOGITS = rows("all_logits", "one", 40)


def writer(beams: int) -> p.Program:
    encoder = p.Loop("encoder_layer", 2, (p.Blocks((p.PackKeys(SHAPE, B, SOURCE_KEYS),)),))
    decoder = p.Blocks(
        (
            p.PackKeys(SHAPE, ONE, STEP_KEYS),
            attention(ONE, STEP_KEYS, TWO),
            attention(TWO, SOURCE_KEYS, ONE),
        )
    )
    steps = (p.EmbeddingSum("f32", (EMBED,), ONE), p.Loop("layer", 2, (decoder,)), linear(ONE, ALL_LOGITS))
    return program(encoder, p.Repeat("steps", steps), rules=written(beams))


def test_steps_of_a_text_that_is_written() -> None:
    found = touched(writer(1), "ids", "written", "beams", "texts")
    assert found == {
        "b": 100 * 2 * 3,
        # Of each layer packed once; in 9 steps of each of 2 layers, which are a half of it, as keys and as values.
        "source_keys": 100 * (1 + 9 * 2),
        # A row in each step; of what was written so far a half on average.
        "step_keys": 100 * (1 + 9),
        # Looked up, packed, the query, what attention gives in two layers, 40 outputs.
        "one": 100 * 9 * (1 + 2 * 3 + 3),
        "two": 100 * 9 * 2 * 2,
        "all_logits": 900,
        # What tokenization needs once, the rest in each step.
        **{"ids": 200, "texts": 200, "written": 1800, "beams": 1800},
        "scratch": 2 * 9 * 2 * SCRATCH * 2 * 2,  # 2 attentions of 2 heads
    }


def test_beams_share_a_tile() -> None:
    """Up to 4 of them; the fifth needs another one. Rows are of the same buffers."""
    one, four, five = (touched(writer(beams)) for beams in (1, 4, 5))
    assert one == four
    assert five == one | {"scratch": 2 * one["scratch"]}


def test_steps_read_one_row_of_a_text_greedily() -> None:
    """With beams each has one: then all of it is counted."""

    def of(beams: int) -> int:
        return touched(program(p.Repeat("steps", (norm(A, ONE),)), rules=written(beams)))["a"]

    assert (of(1), of(2)) == (9 * 10, 9 * 100)


def four_bits(outputs: int, inputs: int) -> p.WeightSlot:
    factors = np.ones((outputs, -(-inputs // p.GROUP)), np.uint8)
    matrix = p.S4Matrix(np.zeros((outputs, inputs), np.int8), factors, np.ones(outputs, np.float32))
    return p.WeightSlot("matrix", (p.LinearWeights(matrix, None, "matrix"),))


def test_scratch_that_expands_weights() -> None:
    """16 rows of 32 bytes, 20 rounded up, for every 16 of 33 outputs, in each block; of Best for every 16 of 50."""
    q = rows("q", "block", storage="quantized")
    assert touched(program(p.Blocks((linear(q, C, slot=four_bits(33, 20)),))))["scratch"] == 2 * 512 * 3 * 3
    mask, out = rows("mask", "masks"), rows("out", "tokens")
    best = p.Best("s8", four_bits(50, 20), 50, mask, rows("l", "masks"), rows("sums", "masks"), out)
    found = touched(program(p.Repeat("masks", (best,))))
    assert found["scratch"] == 2 * 512 * 4
    assert (found["mask"], found["out"]) == (400, 100)


def test_scratch_that_packs_and_that_of_a_gru() -> None:
    """Outside blocks, too, of each row: 4 rows of a head as bytes; 3 gates of 10 floats and a row of bytes."""
    keys = p.Buffer("keys", "keys", "tokens", 20, 2, "s8")
    packed = 2 * 40 * TOKENS
    assert touched(program(p.PackKeys(SHAPE, A, keys)))["scratch"] == packed
    assert touched(program(p.Blocks((p.PackKeys(SHAPE, B, keys),))))["scratch"] == packed
    gates = rows("gates", "tokens", 30)
    gru = p.Gru("f32", (EMPTY,), gates, rows("out", "tokens", 10))
    assert touched(program(gru))["scratch"] == 2 * (128 + 64) * TOKENS


def test_rows_that_convolutions_read_and_keep() -> None:
    """Once for each row, of what is kept all that a layer has in each of 9 steps, to be read and written."""
    taps = p.ConvolutionWeights(np.zeros((3, 20), np.float32), None, "taps")
    weights = p.WeightSlot("taps", (taps,) * 2)
    made = program(p.Loop("layer", 2, (p.Blocks((p.CausalConvolution(weights, A, B),)),)))
    assert touched(made)["a"] == 2 * 100
    assert read(made, table("taps", 6, 6, layers=(0, 1))) == {"taps": 2 * TOKENS * 6}
    state = p.Buffer("state", "state", "sequences", 40, layers=2)
    steps = p.Loop("layer", 2, (p.Blocks((p.CausalConvolution(weights, ONE, TWO, state),)),))
    made = program(p.Repeat("steps", (steps, linear(TWO, ALL_LOGITS))), rules=written(2))
    assert touched(made)["state"] == 9 * 2 * 100


def test_a_state_that_each_block_hands_to_the_next() -> None:
    """In two layers for each row: it decays, then it changes."""
    weights = p.WeightSlot("rates", (p.DeltaWeights(np.ones(2, np.float32), "rates"),) * 2)
    state = p.Buffer("state", "state", "carried", 30)
    decay, beta = rows("decay", "block", 2), rows("beta", "block", 2)
    rule = p.DeltaRule(weights, 2, 1, 3, rows("input", "block", 16), decay, beta, rows("out", "block", 10), state)
    assert touched(program(p.Loop("layer", 2, (p.Blocks((rule,)),))))["state"] == 2 * TOKENS * 4 * 100
    kept = replace(state, rows="sequences", layers=2)
    step = replace(
        rule,
        **{name: replace(getattr(rule, name), rows="one") for name in ("input", "decay", "beta", "out")},
        state=kept,
    )
    steps = p.Loop("layer", 2, (p.Blocks((step,)),))
    made = program(p.Repeat("steps", (steps, linear(TWO, ALL_LOGITS))), rules=written(2))
    assert touched(made)["state"] == 9 * 4 * 100


def test_a_state_that_is_gone_through_once() -> None:
    """In two layers for each row: it decays and is added to at once."""
    slot = p.WeightSlot("rates", (p.StateSpaceWeights(np.ones(2, np.float32), np.ones(2, np.float32), "rates"),) * 2)
    state, sizes = p.Buffer("state", "state", "carried", 30), (2, 1, 3, np.float32(0), np.float32(9))
    values = rows("input", "block", 16), rows("time", "block", 2), rows("out", "block", 10)
    space = p.StateSpace(slot, *sizes, *values, state)
    assert touched(program(p.Loop("layer", 2, (p.Blocks((space,)),))))["state"] == 2 * TOKENS * 2 * 100
    step = replace(
        space,
        **{name: replace(getattr(space, name), rows="one") for name in ("input", "time", "out")},
        state=replace(state, rows="sequences", layers=2),
    )
    steps = p.Loop("layer", 2, (p.Blocks((step,)),))
    made = program(p.Repeat("steps", (steps, linear(TWO, ALL_LOGITS))), rules=written(2))
    assert touched(made)["state"] == 9 * 2 * 100


def test_rows_that_are_packed_as_they_are() -> None:
    """Of what an attention reads for each tile, convolutions read the rows around a row: once, as what they write."""
    weights = p.WeightSlot("taps", (p.ConvolutionWeights(np.zeros((3, 20), np.float32), None, "taps"),) * 2)
    packed = rows("packed", "tokens", storage="rows")
    first = p.Blocks((p.PackRows(A, packed),))
    own = rows("own", "block", 10)
    second = p.Blocks((p.CenteredConvolution(weights, packed, B), p.DynamicConvolution(2, own, packed, C)))
    made = program(p.Loop("layer", 2, (first, second)))
    assert touched(made)["packed"] == 2 * 3 * 100
    assert read(made, table("taps", 6, 6, layers=(0, 1))) == {"taps": 2 * TOKENS * 6}


def test_rows_of_which_each_is_made_of_all() -> None:
    packed = rows("packed", "tokens", storage="rows")
    transformed = p.Blocks((p.FourierRows(packed, B),))
    made = program(p.Loop("layer", 2, (p.Blocks((p.PackRows(A, packed),)), transformed)))
    assert touched(made)["packed"] == 2 * (1 + TOKENS) * 100


def table(name: str, *arrays: int, part: str | None = None, layers: Sequence[int] = ()) -> Table:
    return Table(name, part or name, tuple(np.zeros(size, np.int8) for size in arrays), tuple(layers))


def slot(name: str, count: int = 1, of_layer: tuple[int, ...] = ()) -> p.WeightSlot:
    weights = p.LinearWeights(p.F32Matrix(np.zeros((33, 20), np.float32)), None, name)
    return p.WeightSlot(name, (weights,) * count, of_layer)


def norm_slot(name: str, count: int = 1) -> p.WeightSlot:
    gamma = np.ones(20, np.float32)
    return p.WeightSlot(name, (p.NormWeights(gamma, gamma, np.float32(1e-5), np.float32(1 / 20), name),) * count)


def read(made: p.Program, *tables: Table) -> dict[str, int]:
    return table_traffic(made, planned({"scratch": 0}), TARGET, tables)


def test_tables_of_linears_norms_and_attentions() -> None:
    keys = rows("keys", "tokens", storage="keys")
    biased = p.Attention("f32", SHAPE, np.float32(1), C, keys, keys, CONTEXT, bias=slot("bias", 3))
    layer = p.Blocks((norm(A, B, norm_slot("norm", 3)), linear(B, C, slot=slot("inner", 3)), biased))
    made = program(
        p.EmbeddingSum("f32", (EMBED,), A),
        p.Loop("layer", 3, (layer,)),
        p.Pool("first", A, ONE),
        norm(ONE, TWO, norm_slot("last_norm")),
        linear(TWO, LOGITS, slot=slot("logits")),
    )
    found = read(
        made,
        table("words", 50 * 7),
        table("norm", 5, 5, 5, layers=(0, 1, 2)),
        table("inner", 11, 11, 11, layers=(0, 1, 2)),
        table("inner_scales", 2, 2, 2, part="inner", layers=(0, 1, 2)),
        table("bias", 13, 13, 13, layers=(0, 1, 2)),
        table("last_norm", 3),
        table("logits", 17),
        table("labels", 99, part="tokenizer"),
    )
    assert found == {
        "words": 10 * 7,  # a row for each token
        "norm": 3 * 10 * 5,  # for each row
        "inner": 3 * 3 * 11,  # for each block
        "inner_scales": 3 * 3 * 2,
        "bias": 3 * 3 * 13,  # for each tile
        "last_norm": 3,
        "logits": 17,
        "labels": 0,
    }


def test_layers_of_different_bits_and_layers_that_share() -> None:
    """Layers 0 and 2 have another kind of table than layer 1; of two stored weights three layers read the first."""
    made = program(p.Loop("layer", 3, (p.Blocks((linear(B, C, slot=slot("inner", 3)),)),)))
    found = read(made, table("eight", 8, 8, part="inner", layers=(0, 2)), table("four", 4, part="inner", layers=(1,)))
    assert found == {"eight": 3 * 16, "four": 3 * 4}
    made = program(p.Loop("layer", 4, (p.Blocks((linear(B, C, slot=slot("inner", 2, (0, 0, 1, 0))),)),)))
    found = read(made, table("first", 8, part="inner", layers=(0,)), table("second", 4, part="inner", layers=(1,)))
    assert found == {"first": 3 * 3 * 8, "second": 3 * 4}


def test_a_tied_table_is_read_as_the_linear_and_as_what_is_looked_up() -> None:
    tied = p.LinearWeights(p.F32Matrix(np.zeros((50, 20), np.float32)), None, "words", table="words")
    out = p.WeightSlot("out", (tied,))
    steps = (p.EmbeddingSum("f32", (EMBED,), ONE), linear(ONE, ALL_LOGITS, slot=out))
    made = program(p.Repeat("steps", steps), rules=written(2))
    # In each of 9 steps all of it, and the rows of 2 beams, of 50.
    assert read(made, table("words", 50 * 7), table("bias", 4, part="out")) == {"words": 9 * (350 + 14), "bias": 36}


def test_rows_of_other_tables_that_are_looked_up() -> None:
    """Floats as they are; 5 rows and 10 tokens: each is read twice. What a GRU has, once for each token."""
    floats = p.WeightSlot("floats", (p.FloatTable(np.zeros((5, 20), np.float32), "floats"),))
    gru = p.Gru("f32", (slot("gru"),), A, rows("out", "tokens"))
    made = program(p.EmbeddingSum("f32", (p.EmbeddingTerm(floats, "positions"),), A), gru)
    assert read(made, table("floats", 15), table("gru", 6)) == {"floats": 30, "gru": 60}
