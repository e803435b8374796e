# SPDX-License-Identifier: Apache-2.0
"""Programs that write texts: what their steps compute is what the interpreter makes of the graph, and what the library
wrote; one row a step, with keys and values that are appended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graph_builder import HEADS, MAX_TOKENS, SEGMENTS, VOCABULARY, WIDTH, Builder
from sampling import sampled
from test_generation import VARIANTS, graph_of, recorded
from test_plan import check
from tiny_generators import GENERATORS, MAX_TARGET, decoder_only, encoder_decoder

from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.ir import check_program, walks
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir.op import reads, writes
from codegen.lower import lower
from codegen.memory import liveness
from codegen.memory.plan import plan_memory
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.targets import TARGETS
from codegen.tasks.embedding import Embedding

BOUND = {"fp32": 1e-5, "w8a8": 0.2}


def texts() -> list[tuple[list[int], list[int]]]:
    random = np.random.default_rng(2)
    return [
        (random.integers(0, VOCABULARY, n).tolist(), random.integers(0, SEGMENTS, n).tolist())
        for n in (1, 2, 7, MAX_TOKENS)
    ]


@pytest.mark.parametrize("recipe", sorted(BOUND))
@pytest.mark.parametrize("form", GENERATORS)
def test_close_to_the_interpreter(form: str, recipe: str) -> None:
    """Step by step, whatever the recipe would write."""
    made = GENERATORS[form]()
    program, interpreter = lower(made, RECIPES[recipe]), Interpreter(made)
    for ids, segments in texts():
        written, logits = Generation(program, ids, segments).greedy()
        exact = interpreter.logits(ids, segments, written[:-1])
        assert np.abs(np.stack(logits) - exact).max() < BOUND[recipe] * max(1.0, np.abs(exact).max())
        assert np.stack(logits).argmax(axis=1).tolist() == written


@pytest.mark.parametrize("variant", sampled(VARIANTS, 50, "programs that write"))
def test_what_the_library_wrote(variant: str) -> None:
    program = lower(graph_of(variant), RECIPES["fp32"])
    for text in recorded(variant)["outputs"]:
        written, logits = Generation(program, text["ids"], [0] * len(text["ids"])).greedy()
        expected = np.array(text["logits"])
        assert np.abs(np.stack(logits)[: len(expected)] - expected).max() < 1e-4
        assert written == text["written"]


def test_a_step_depends_on_what_was_read_alone() -> None:
    """Read as the text or as what was written: the bits are the same, so that a cache holds no more than it should."""
    program = lower(decoder_only(), RECIPES["w8a8"])
    ids = texts()[2][0]
    written, logits = Generation(program, ids, [0] * len(ids)).greedy()
    assert len(written) > 2
    again = Generation(program, [*ids, *written[:2]], [0] * (len(ids) + 2), len(written) - 2).greedy()
    assert again[0] == written[2:]
    assert np.stack(again[1]).tobytes() == np.stack(logits[2:]).tobytes()


def test_it_ends_where_the_target_is_full() -> None:
    program = lower(encoder_decoder(), RECIPES["fp32"])
    ids, segments = texts()[1]
    for most in (1, 2, MAX_TARGET):
        assert 1 <= len(Generation(program, ids, segments, most).greedy()[0]) <= most
    full = Generation(program, ids, segments)
    for _ in range(MAX_TARGET):
        full.logits_behind(5)
    with pytest.raises(ValueError, match="token 5 after 10 steps"):
        full.logits_behind(5)
    with pytest.raises(ValueError, match=f"token {VOCABULARY}"):
        Generation(program, ids, segments).logits_behind(VOCABULARY)


# --- the program -----------------------------------------------------------------------------------------------------


def test_what_is_the_same_in_every_step_is_packed_once() -> None:
    """Keys and values of the text: for each layer, before the steps. A step packs its own row only."""
    *once, repeat = lower(encoder_decoder(), RECIPES["w8a8"]).steps
    before = {op.out for step in once for op in walks.ops_in(step) if isinstance(op, p.PackKeys | p.PackValues)}
    inside = {op.out for op in walks.ops_in(repeat) if isinstance(op, p.PackKeys | p.PackValues)}
    assert {(b.name, b.rows, b.layers) for b in before} == {
        ("keys", "tokens", 1),
        ("values", "tokens", 1),
        ("cross_keys", "tokens", 3),
        ("cross_values", "tokens", 3),
    }
    assert {(b.name, b.rows, b.layers) for b in inside} == {("self_keys", "steps", 3), ("self_values", "steps", 3)}
    rows = {
        b.name: b.rows for b in walks.buffers_of(replace(lower(encoder_decoder(), RECIPES["w8a8"]), steps=(once[-1],)))
    }
    assert (rows["cross_key"], rows["cross_value"], rows["hidden"]) == ("block", "block", "tokens")
    others = {
        b for op in walks.ops_in(repeat) for b in (*reads(op), *writes(op)) if b.storage not in ("keys", "values")
    }
    assert {b.rows for b in others} == {"one"}


@pytest.mark.parametrize("recipe", ["w8a8", "fp32", "w4a8"])
@pytest.mark.parametrize("form", GENERATORS)
def test_nothing_alive_overlaps(form: str, recipe: str) -> None:
    for target in TARGETS.values():
        program = lower(GENERATORS[form](), RECIPES[recipe])
        plan = plan_memory(program, target, 700)
        check(program, plan, target)
        assert plan.arena_bytes <= 1.05 * plan.lower_bound


@pytest.mark.parametrize(("recipe", "value_bytes", "scale_bytes"), [("fp32", 4, 0), ("w8a8", 1, 4)])
def test_a_cache_has_room_for_every_layer_and_row(recipe: str, value_bytes: int, scale_bytes: int) -> None:
    plan = plan_memory(lower(encoder_decoder(), RECIPES[recipe]), TARGETS["m-profile"], 700)
    sizes = {item.name: item.size for item in plan.placements}
    for of, rows in (("cross", MAX_TOKENS), ("self", MAX_TARGET + 1)):
        for what in ("keys", "values"):
            assert sizes[f"{of}_{what}"] >= 3 * rows * (WIDTH * value_bytes + HEADS * scale_bytes)
    assert sizes["written"] >= 4 * (MAX_TARGET + 2)


def test_the_encoders_memory_is_used_again() -> None:
    """The steps' own rows lie where the encoder's were."""
    plan = plan_memory(lower(encoder_decoder(), RECIPES["fp32"]), TARGETS["host"], 700)
    assert plan.arena_bytes < sum(item.size for item in plan.placements)
    placed = {item.name: item for item in plan.placements}
    assert placed["hidden"].last < placed["self_keys"].first
    assert placed["cross_keys"].last == placed["self_keys"].last == len(plan.op_names) - 1


def test_a_cache_that_ends_too_early_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness._Walk, "_lasting", lambda self, repeated, first: None)
    with pytest.raises(AssertionError):
        for form in GENERATORS:
            program = lower(GENERATORS[form](), RECIPES["w8a8"])
            for target in TARGETS.values():
                check(program, plan_memory(program, target, 700), target)


def broken_programs() -> dict[str, p.Program]:
    program = lower(encoder_decoder(), RECIPES["w8a8"])
    *once, packs, repeat = program.steps
    assert isinstance(packs, p.Loop) and isinstance(repeat, p.Repeat)
    at = next(i for i, part in enumerate(repeat.body) if isinstance(part, p.Loop))
    loop = repeat.body[at]
    assert isinstance(loop, p.Loop)
    ops = loop.body[0].body

    def repeated(*body: p.Op | p.Loop) -> p.Program:
        return replace(program, steps=(*once, packs, p.Repeat("steps", body)))

    def neighbors(op: p.Op | p.Loop) -> p.Op | p.Loop:
        if not isinstance(op, p.EmbeddingSum):
            return op
        return replace(op, terms=(replace(op.terms[0], shift=-1), *op.terms[1:]))

    def layers(*body: p.Op, count: int = loop.count) -> p.Program:
        return repeated(*repeat.body[:at], p.Loop(loop.name, count, (p.Blocks(body),)), *repeat.body[at + 1 :])

    return {
        "nothing packed for the steps": replace(program, steps=(*once, repeat)),
        "nothing embedded": repeated(*repeat.body[at:]),
        "neighbors of a step": repeated(*map(neighbors, repeat.body)),  # type: ignore[arg-type]
        "another count": layers(*ops, count=2),
        "nothing appended": layers(*(op for op in ops if not isinstance(op, p.PackKeys))),
        "attention first": layers(*ops[-1:], *ops[:-1]),
        "no steps": replace(program, steps=(*once, packs)),
        "steps without a target": replace(program, target_rules=None),
        "a row of the text": layers(*ops, *(replace(op, out=_text_rows(op)) for op in ops if isinstance(op, p.Norm))),
    }


def _text_rows(op: p.Norm) -> p.Buffer:
    return replace(op.out, name="hidden", rows="tokens")


@pytest.mark.parametrize("case", broken_programs())
def test_programs_are_refused(case: str) -> None:
    with pytest.raises(EtchError) as caught:
        check_program.check_program(broken_programs()[case])
    assert (caught.value.code, caught.value.stage) == ("program-not-sound", "check")


def _pooled(made: g.Graph) -> g.Graph:
    pool, head = g.Pool("mean", "hidden", "pooled"), made.heads[0]
    dense = Builder().linear("head", "pooled", "row")
    widths = made.widths | {"pooled": WIDTH, "row": WIDTH}
    heads = (head, g.Head(Embedding(WIDTH), "row"))
    return replace(made, body=(*made.body, pool, dense), widths=widths, heads=heads)


def _attends_in_the_steps(made: g.Graph) -> g.Graph:
    b = Builder()
    names = ("more_query", "more_key", "more_value")
    ops = (
        *(b.linear(name, "hidden", name) for name in names),
        g.Attention(*names, "more_context", 2),
        b.linear("mixed", "more_context", "hidden"),
    )
    widths = made.widths | dict.fromkeys((*names, "more_context"), WIDTH)
    return replace(made, widths=widths, repeat=(*ops, *made.repeat))


def test_neighbors_of_a_step_are_refused() -> None:
    made = decoder_only()
    embed, *others = made.repeat
    assert isinstance(embed, g.Embed)
    shifted = replace(embed, terms=(replace(embed.terms[0], shift=-1), *embed.terms[1:]))
    with pytest.raises(EtchError, match="entries by id of a text can be those of tokens") as caught:
        lower(replace(made, repeat=(shifted, *others)), RECIPES["w8a8"])
    assert (caught.value.code, caught.value.stage) == ("graph-not-sound", "check")


@pytest.mark.parametrize("change", [_pooled, _attends_in_the_steps])
def test_a_graph_that_no_program_says(change: object) -> None:
    with pytest.raises(EtchError) as caught:
        lower(change(encoder_decoder()), RECIPES["w8a8"])  # type: ignore[operator]
    assert (caught.value.code, caught.value.stage) == ("generation-not-supported", "lower")


def test_a_convolution_over_the_text_belongs_before_what_repeats() -> None:
    made, b = encoder_decoder(), Builder()
    convolution = g.CausalConvolution("convolution", b.parameter("taps", WIDTH, 3), None, "hidden", "convolved")
    widths = made.widths | {"convolved": WIDTH}
    with pytest.raises(EtchError, match="convolution: rows of the text belong before what repeats"):
        lower(replace(made, repeat=(convolution, *made.repeat), widths=widths), RECIPES["w8a8"])
