# SPDX-License-Identifier: Apache-2.0
"""Programs of graphs of many forms: what they compute is what the float64 interpreter makes of the graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from graph_builder import MAX_TOKENS, SEGMENTS, VOCABULARY, WIDTH, Builder, graph
from tiny_graphs import GRAPHS, post, pre

from codegen.emulate import emulate_outputs
from codegen.errors import EtchError
from codegen.frontends.shared.periods import prefixed
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.program_changes import with_max_tokens
from codegen.ir.text import Text
from codegen.lower import lower
from codegen.lower.demand import Rows, demand
from codegen.lower.schedule import stages_of
from codegen.memory.liveness import lives_of, op_names
from codegen.oracle.interpret import Interpreter
from codegen.pack.tables import slot_tables
from codegen.quantize import RECIPES
from codegen.targets import TARGETS
from codegen.tasks.embedding import Embedding
from codegen.vocabulary.pruning import keep_rows

BOUND = {"fp32": 1e-5, "w8a8": 0.15}


def texts() -> list[Text]:
    random = np.random.default_rng(1)
    return [
        Text(random.integers(0, VOCABULARY, n).tolist(), random.integers(0, SEGMENTS, n).tolist())
        for n in (1, 2, 7, MAX_TOKENS)
    ]


@pytest.mark.parametrize("recipe", sorted(BOUND))
@pytest.mark.parametrize("form", GRAPHS)
def test_close_to_the_interpreter(form: str, recipe: str) -> None:
    made = GRAPHS[form]()
    program = lower(made, RECIPES[recipe])
    interpreter = Interpreter(made)
    results = emulate_outputs(program, texts())
    assert len(results) == len(made.heads)
    for i, text in enumerate(texts()):
        for ours, exact in zip(results, interpreter.outputs(text.ids, text.segments), strict=True):
            assert np.abs(ours[i] - exact).max(initial=0) <= BOUND[recipe] * max(1.0, np.abs(exact).max(initial=0))


@pytest.mark.parametrize("form", GRAPHS)
def test_a_batch_has_the_bits_of_single_texts(form: str) -> None:
    program = lower(GRAPHS[form](), RECIPES["w8a8"])
    together = emulate_outputs(program, texts())
    for i, text in enumerate(texts()):
        for batch, alone in zip(together, emulate_outputs(program, [text]), strict=True):
            assert batch[i].tobytes() == alone[0].tobytes()


def last_loop(made: g.Graph) -> p.Loop:
    return [step for step in lower(made, RECIPES["w8a8"]).steps if isinstance(step, p.Loop)][-1]


@pytest.mark.parametrize(
    ("form", "first_rows"),
    [
        ("post, first", [False, True]),
        ("post, norm of the first row", [False, True]),
        ("post, mean", [False, False]),
        ("post, last", [False, False]),
        ("pre, first", [False, True]),
        ("pre, mean", [False, False]),
        ("two heads", [False, False]),
        ("cross attention", [False, False]),
        ("read in both, first", [False, True]),
        ("read in both, last", [False, False]),
        ("convolved, first", [False, True]),
        ("convolved, mean", [False, False]),
    ],
)
def test_the_last_layer_computes_what_is_asked_for(form: str, first_rows: list[bool]) -> None:
    assert [blocks.last_layer_first_row for blocks in last_loop(GRAPHS[form]()).body] == first_rows


def test_demand_is_found_backwards() -> None:
    made = post("first")
    asked = demand(made)
    per_layer = len(made.body[2].body)  # type: ignore[union-attr]
    rows = asked[2].runs
    assert set(rows[:-per_layer]) == {Rows.ALL}
    query, key, value, *others = rows[-per_layer:]
    assert [query, key, value] == [Rows.FIRST, Rows.ALL, Rows.ALL]
    assert set(others) == {Rows.FIRST}


def test_ops_run_as_late_as_they_can() -> None:
    b = Builder(layers=2)
    assert stages_of(b.post_layer()) == [1, 0, 0, 1, 1, 1, 1, 1, 1]
    assert stages_of(b.pre_layer()) == [0, 1, 0, 0, 1, 1, 1, 1, 1]
    twice = (*b.post_layer()[:6], *b.projections("hidden"), g.Attention("query", "key", "value", "context", 2))
    assert max(stages_of(twice)) == 3  # no block packs other keys before each has attended to the first ones


def test_a_stage_never_depends_on_a_later_one() -> None:
    """Bodies of random ops: readers after writers, keys and values a stage before, no buffer written too early."""
    random = np.random.default_rng(4)
    values = ["a", "b", "c", "d"]
    for _ in range(300):
        body: list[g.Op] = []
        for _ in range(random.integers(1, 9)):
            one, two, three, out = random.choice(values, 4)
            if random.random() < 0.4:
                body.append(g.Attention(one, two, three, out, 1))
            else:
                body.append(g.Multiply(one, two, out))
        stages = stages_of(body)
        for (i, early), (j, late) in itertools.combinations(enumerate(body), 2):
            between = body[i + 1 : j]
            if not any(op.out == early.out for op in between):
                packed = isinstance(late, g.Attention) and early.out in (late.key, late.value)
                reads = (late.query, late.key, late.value) if isinstance(late, g.Attention) else (late.a, late.b)
                if early.out in reads:
                    assert stages[i] + packed <= stages[j]
            inputs = (early.query, early.key, early.value) if isinstance(early, g.Attention) else (early.a, early.b)
            if late.out in (*inputs, early.out):
                assert stages[i] <= stages[j]


def test_rows_that_later_blocks_read_once_more_are_not_written_again_before() -> None:
    """What a convolution reads has a row per token, and stays until all blocks have gone through it."""
    first, second = last_loop(GRAPHS["convolved, mean"]()).body
    mixed, again = (op for blocks in (first, second) for op in blocks.body if isinstance(op, p.CausalConvolution))
    assert (mixed in first.body, again in second.body) == (True, True)
    assert mixed.input == again.out
    assert {mixed.input.rows, again.input.rows} == {"tokens"}
    assert mixed.state is None


def test_rows_that_are_packed_stay_until_all_blocks_have_read_them() -> None:
    """A convolution around a row has its rows from before, whatever the layer makes of them since and packs again."""
    order = last_loop(GRAPHS["convolved around, first"]()).body
    packed = [(stage, op.out) for stage, blocks in enumerate(order) for op in blocks.body if isinstance(op, p.PackRows)]
    kinds = p.CenteredConvolution | p.DynamicConvolution
    read = [(stage, op.input) for stage, blocks in enumerate(order) for op in blocks.body if isinstance(op, kinds)]
    assert [(stage, rows.name) for stage, rows in packed] == [
        (0, "hidden_packed"),
        (1, "spread_packed"),
        (2, "hidden_packed"),
    ]
    assert [(stage, rows.name) for stage, rows in read] == [
        (1, "hidden_packed"),
        (2, "spread_packed"),
        (3, "hidden_packed"),
    ]
    assert [blocks.last_layer_first_row for blocks in order] == [False, False, False, True]


def test_what_several_layers_write_first_and_read_is_a_block_of_each() -> None:
    b = Builder()
    one, other = (
        tuple(map(prefixed(f"{name}_", frozenset()).op, b.inside(2).pre_layer(kind="rms"))) for name in ("a", "b")
    )
    layers = g.Layers("a_layer", 2, one), g.Layers("b_layer", 2, other)
    made = graph((b.embed("hidden"), *layers, g.Pool("mean", "hidden", "result")), "result")
    rows = {buffer.name: buffer.rows for buffer in walks.buffers_of(lower(made, RECIPES["w8a8"]))}
    assert {rows["hidden"], rows["normed"]} == {"tokens"}  # that one in two passes
    assert {rows["inner"], rows["context"]} == {"block"}


def test_shared_layers_are_stored_once() -> None:
    program = lower(GRAPHS["shared layers"](), RECIPES["w8a8"])
    slots = [slot for slot, loop in walks.slots_of(program) if loop is not None]
    assert {len(slot.stored) for slot in slots} == {2}
    assert [slots[0].at(layer) is slots[0].stored[1] for layer in range(6)] == [False] * 3 + [True] * 3


def refused(made: g.Graph, code: str, words: str) -> None:
    with pytest.raises(EtchError) as caught:
        lower(made, RECIPES["w8a8"])
    assert caught.value.code == code
    assert words in str(caught.value)


def test_a_row_per_token_is_no_result_yet() -> None:
    b = Builder()
    layers = g.Layers("layer", 2, b.inside(2).post_layer())
    tags = b.linear("tagger", "hidden", "tags", outputs=5, exact=True)
    refused(graph((b.embed("hidden"), layers, tags), "tags", tags=5), "graph-not-sound", "'tags' has a row per token")


def test_what_is_pooled_is_not_written_again() -> None:
    made = post("mean")
    body = (made.body[0], g.Pool("first", "hidden", "early"), *made.body[1:])
    both = g.Graph(
        made.widths | {"early": 24},
        body,
        (*made.heads, g.Head(made.task, "early")),
        *(VOCABULARY, SEGMENTS, MAX_TOKENS),
    )
    refused(both, "value-overwritten", "'hidden'")


def test_a_layer_must_end_as_it_began() -> None:
    made = pre("mean")
    layers = made.body[1]
    assert isinstance(layers, g.Layers)
    first = g.Pool("first", "hidden", "hidden")
    shorter = g.Layers(layers.name, layers.count, (*layers.body, first))
    broken = g.Graph(**(vars(made) | {"body": (made.body[0], shorter, *made.body[2:])}))
    refused(broken, "graph-not-sound", "one row per text")


def changed_layers(made: g.Graph, change: Callable[[g.Op], g.Op]) -> g.Graph:
    """With other ops inside the layers."""
    layers = made.body[1]
    assert isinstance(layers, g.Layers)
    return replace(made, body=(made.body[0], replace(layers, body=tuple(map(change, layers.body))), *made.body[2:]))


def attention_with(**values: object) -> Callable[[g.Op], g.Op]:
    return lambda op: replace(op, **values) if isinstance(op, g.Attention) else op  # type: ignore[arg-type]


def test_attributes_by_layer_make_a_difference() -> None:
    made = GRAPHS["alternating layers"]()
    one = changed_layers(made, attention_with(mask="window", window=3))
    alike = changed_layers(made, lambda op: replace(op, table=0) if isinstance(op, g.Rotary) else op)
    text = texts()[-1]
    graphs = (made, one, alike)
    outputs = {tuple(Interpreter(graph).output(text.ids, text.segments).tolist()) for graph in graphs}
    assert len(outputs) == 3


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (attention_with(scale=g.ByLayer((1.0, 0.5, 1.0))), "attribute-by-layer", "'scale' differs by layer"),
        (attention_with(mask=g.ByLayer(("none", "window"))), "graph-not-sound", "2 values by layer for 3 layers"),
        (attention_with(mask=g.ByLayer(("none", "none", "window"))), "graph-not-sound", "mask none with window 3"),
    ],
)
def test_attributes_by_layer_are_checked(change: Callable[[g.Op], g.Op], code: str, words: str) -> None:
    refused(changed_layers(GRAPHS["alternating layers"](), change), code, words)


def test_no_table_to_turn_by_is_refused() -> None:
    beyond = changed_layers(
        GRAPHS["alternating layers"](), lambda op: replace(op, table=2) if isinstance(op, g.Rotary) else op
    )
    refused(beyond, "graph-not-sound", "table 2 of 2")


@pytest.mark.parametrize("form", ["biased scores", "rotary, grouped queries", "window", "alternating layers"])
@pytest.mark.parametrize("tokens", [3, MAX_TOKENS - 1])
def test_shorter_texts_keep_their_bits(form: str, tokens: int) -> None:
    program = lower(GRAPHS[form](), RECIPES["w8a8"])
    shorter = with_max_tokens(program, tokens)
    text = Text(*(part[:tokens] for part in texts()[-1][:2]))
    assert emulate_outputs(shorter, [text])[0].tobytes() == emulate_outputs(program, [text])[0].tobytes()
    sizes = {
        op.bias.stored[0].values.shape[1] for op in walks.ops_of(shorter) if isinstance(op, p.Attention) and op.bias
    }
    assert sizes <= {2 * tokens - 1}


@pytest.mark.parametrize("recipe", ["fp32", "w8a8", "w4a8"])
def test_a_tied_table_is_stored_once(recipe: str) -> None:
    program = lower(GRAPHS["tied words"](), RECIPES[recipe])
    for target in TARGETS.values():
        tables = [t for slot, loop in walks.slots_of(program) if loop is None for t in slot_tables(slot, False, target)]
        large = [table.name for table in tables if table.arrays[0].size >= VOCABULARY * WIDTH]
        assert large == ["hidden_words_table"]


def test_weights_that_cannot_be_tied() -> None:
    made = GRAPHS["tied words"]()
    embed, linear = made.body[0], made.body[-1]
    assert isinstance(embed, g.Embed) and isinstance(linear, g.Linear)
    segments = replace(linear, weight=embed.terms[1].table, bias=None)
    of_segments = {"widths": made.widths | {"result": SEGMENTS}, "heads": (g.Head(Embedding(SEGMENTS), "result"),)}
    for last, changes, message in (
        (replace(linear, exact=True), {}, "as the recipe stores it"),
        (segments, of_segments, "looked up by segments"),
    ):
        with pytest.raises(EtchError, match=message):
            lower(replace(made, body=(*made.body[:-1], last), **changes), RECIPES["w8a8"])


def test_what_is_found_of_some_masks_stays_while_others_are_filled() -> None:
    program = lower(GRAPHS["masked words"](), RECIPES["w8a8"])
    names, lives = op_names(program), lives_of(program)
    assert lives["best"] == (names.index("masked"), len(names) - 1)


def test_fewer_words_and_their_neighbors() -> None:
    """What is read where a text has no token has another number, too."""
    made, kept = GRAPHS["neighbors"](), (1, 4, 7, 8, 30)
    smaller = keep_rows(made, kept)
    ids = [3, 0, 0, 4, 2, 1]
    found = Interpreter(smaller).output(ids, [0] * len(ids))
    assert np.array_equal(found, Interpreter(made).output([kept[i] for i in ids], [0] * len(ids)))
    with pytest.raises(EtchError, match=r"error\[vocabulary-tied\] prune: id 7 is read where a text has no token"):
        keep_rows(made, (1, 4, 8, 30))


def test_fewer_words_of_which_some_are_dropped() -> None:
    made = GRAPHS["dropped"]()
    for kept, ids in (((1, 4, 35, 8, 30), [3, 2, 0, 4, 2, 1]), ((1, 4, 8, 30), [3, 2, 0, 0, 1])):
        found = Interpreter(keep_rows(made, kept)).output(ids, [0] * len(ids))
        assert np.array_equal(found, Interpreter(made).output([kept[i] for i in ids], [0] * len(ids)))


def test_dropped_words_make_the_others_of_their_text_larger() -> None:
    """ESM's token_dropout (modeling_esm.py of transformers): zeros, and the rest by how many are left."""
    made = GRAPHS["dropped"]()
    (embed, *_) = made.body
    alone = Interpreter(replace(made, body=(embed, g.Pool("mean", "hidden", "result"))))
    assert isinstance(embed, g.Embed)
    words, places = (term.table.at(0).values.astype(np.float64) for term in embed.terms)
    ids = [35, 3, 35, 12, 3]
    rows = places[:5] + np.array([[0], [1], [0], [1], [1]]) * words[ids] * 0.88 / (1 - 2 / 5)
    assert np.allclose(alone.output(ids, [0] * 5), rows.mean(0), rtol=1e-14)
    assert np.allclose(alone.output([35], [0]), places[0], rtol=1e-14)
