# SPDX-License-Identifier: Apache-2.0
"""What is not sound is refused: graphs and programs broken in one place each, passes that make a mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest
from graph_builder import INNER, WIDTH, Builder, Made, graph, seeing_all
from test_lower import texts
from test_plan import check
from tiny_graphs import GRAPHS, post

from codegen.emulate import emulate_outputs
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.check_supported import check_supported
from codegen.ir.global_rows import Before
from codegen.ir.op import reads
from codegen.lower import demand as demand_module
from codegen.lower import lower
from codegen.lower.demand import Rows
from codegen.memory import liveness
from codegen.memory.plan import plan_memory
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES
from codegen.targets import TARGETS

# --- graphs ----------------------------------------------------------------------------------------------------------


def changed(kind: type, change: Callable[[g.Op], g.Op], nth: int = 0, made: g.Graph | None = None) -> g.Graph:
    """A graph, that of a classifier if none is given, with its nth op of a kind changed."""
    made = made or post("first")
    seen = -1

    def visit(node: g.Node) -> g.Node:
        nonlocal seen
        if isinstance(node, g.Layers):
            return replace(node, body=tuple(visit(inner) for inner in node.body))  # type: ignore[misc]
        if isinstance(node, kind):
            seen += 1
            return change(node) if seen == nth else node
        return node

    return replace(made, body=tuple(visit(node) for node in made.body))


def with_layers(**changes: object) -> g.Graph:
    """A classifier's graph with other layers."""
    made = post("first")
    return replace(
        made, body=tuple(replace(node, **changes) if isinstance(node, g.Layers) else node for node in made.body)
    )


def with_array(parameter: g.Parameter, *shape: int) -> g.Parameter:
    made = tuple(Made(array.name, np.zeros(shape, np.float32)) for array in parameter.arrays)
    return replace(parameter, arrays=made)


def with_only(**changes: object) -> g.Graph:
    """A graph whose first two rows see all, with their linear or their attention changed."""

    def visit(op: g.Op) -> g.Op:
        own = {name: value for name, value in changes.items() if hasattr(op, name)}
        return replace(op, **own) if getattr(op, "only", None) is not None else op

    made = seeing_all(2, "mean")
    embed, layers, *rest = made.body
    assert isinstance(layers, g.Layers)
    return replace(made, body=(embed, replace(layers, body=tuple(map(visit, layers.body))), *rest))


FOUR_TAPS = Builder(layers=2).parameter("taps", WIDTH, 4)
BROKEN: dict[str, tuple[Callable[[], g.Graph], str]] = {
    "read before it is computed": (lambda: changed(g.Linear, lambda o: replace(o, input="later")), "'later'"),
    "never read": (lambda: changed(g.Norm, lambda o: replace(o, out="normed")), "never read"),
    "weight of another shape": (
        lambda: changed(g.Linear, lambda o: replace(o, weight=with_array(o.weight, WIDTH, WIDTH + 1))),
        "shape of query_weight.0",
    ),
    "bias of another length": (
        lambda: changed(g.Linear, lambda o: replace(o, bias=with_array(o.bias, WIDTH + 1))),
        "shape of query_bias.0",
    ),
    "too few layers": (
        lambda: changed(g.Linear, lambda o: replace(o, weight=replace(o.weight, arrays=o.weight.arrays[:2]))),
        "arrays of query_weight: 2, expected 3",
    ),
    "a layer that no array is of": (
        lambda: changed(g.Linear, lambda o: replace(o, weight=replace(o.weight, of_layer=(0, 1, 1)))),
        "query_weight",
    ),
    "residual of another width": (lambda: changed(g.Linear, lambda o: replace(o, residual="inner"), 4), "'inner'"),
    "in and out the same": (lambda: changed(g.Linear, lambda o: replace(o, out="hidden")), "reads and writes"),
    "activation": (lambda: changed(g.Linear, lambda o: replace(o, activation="mish")), "'mish'"),
    "heads": (lambda: changed(g.Attention, lambda o: replace(o, heads=5)), "5 heads"),
    "key heads": (lambda: changed(g.Attention, lambda o: replace(o, key_heads=1)), "width of 'key'"),
    "window without a width": (lambda: changed(g.Attention, lambda o: replace(o, mask="window")), "window None"),
    "past without a width": (lambda: changed(g.Attention, lambda o: replace(o, mask="past")), "past with window None"),
    "width without a window": (lambda: changed(g.Attention, lambda o: replace(o, window=3)), "window 3"),
    **{
        f"global rows, {name}": (
            lambda kind=kind, values=values: changed(kind, lambda o: replace(o, **values)),
            words,
        )
        for name, kind, values, words in (
            ("beside no window", g.Attention, {"global_rows": 1}, "1 rows are seen beside mask none"),
            ("below 0", g.Attention, {"global_rows": -1, "mask": "window", "window": 3}, "-1 rows are seen"),
            (
                "before no id",
                g.Attention,
                {"global_rows": Before(45), "mask": "window", "window": 3},
                "Before(id=45) rows are seen",
            ),
            ("that have no others", g.Attention, {"only": 1}, "only 1 rows are computed, and those of 'None' stay"),
            (
                "of no others",
                g.Attention,
                {"others": "query"},
                "only None rows are computed, and those of",
            ),
            (
                "of another value",
                g.Attention,
                {"only": 1, "others": "query"},
                "'context': the rows that stay are those of 'query'",
            ),
            ("of a linear", g.Linear, {"only": 0}, "query: only 0 rows"),
        )
    },
    "first rows with a window": (
        lambda: with_only(mask="window", window=3),
        "only 2 rows with mask window",
    ),
    "no first rows": (lambda: with_only(only=0), "only 0 rows"),
    "first rows of a residual": (
        lambda: with_only(residual="hidden"),
        "global_query: only 2 rows, of linears in layers without a residual",
    ),
    "first rows outside layers": (
        lambda: replace(made := post("first"), body=(*made.body[:-1], replace(made.body[-1], only=1))),
        "head: only 1 rows",
    ),
    "bias of scores": (
        lambda: changed(
            g.Attention, lambda o: replace(o, bias=g.Parameter("b", (Made("b", np.zeros((2, 7))),), (), True))
        ),
        "shape of b",
    ),
    "norm": (lambda: changed(g.Norm, lambda o: replace(o, gamma=with_array(o.gamma, 3))), "embedding_norm_gamma"),
    "norm of heads": (lambda: changed(g.Norm, lambda o: replace(o, heads=5)), "has not 5 heads"),
    "rms norm of heads with neither a width's weights nor all": (
        lambda: changed(g.Norm, lambda o: replace(o, kind="rms", beta=None, heads=2, gamma=with_array(o.gamma, 3))),
        "embedding_norm_gamma",
    ),
    "norm of heads with another beta": (
        lambda: changed(g.Norm, lambda o: replace(o, heads=2, beta=with_array(o.beta, WIDTH // 2))),
        "embedding_norm_beta",
    ),
    "affine norm that divides": (lambda: changed(g.Norm, lambda o: replace(o, kind="affine")), "divides by nothing"),
    "affine norm without beta": (
        lambda: changed(g.Norm, lambda o: replace(o, kind="affine", epsilon=None, beta=None)),
        "has a beta",
    ),
    "norm without epsilon": (lambda: changed(g.Norm, lambda o: replace(o, epsilon=None)), "no epsilon"),
    "rms norm with beta": (lambda: changed(g.Norm, lambda o: replace(o, kind="rms")), "no beta"),
    "short table": (
        lambda: changed(
            g.Embed, lambda o: replace(o, terms=(replace(o.terms[0], table=with_array(o.terms[0].table, 5, WIDTH)),))
        ),
        "5 entries",
    ),
    "positions begin too late": (
        lambda: changed(g.Embed, lambda o: replace(o, terms=(*o.terms[:2], replace(o.terms[2], first=1)))),
        "are looked up",
    ),
    **{
        f"neighbors, {name}": (
            lambda nth=nth, values=values: changed(
                g.Embed,
                lambda o: replace(o, terms=(*o.terms[:nth], replace(o.terms[nth], **values), *o.terms[nth + 1 :])),
            ),
            words,
        )
        for name, nth, values, words in (
            ("by segment", 1, {"shift": 1}, "hidden_segments: entries by id"),
            ("by position", 2, {"shift": -1}, "hidden_positions: entries by id"),
            ("too far", 0, {"shift": -22}, "not -22"),
            ("outside of no shift", 0, {"outside": 3}, "id 3 outside"),
            ("outside of the vocabulary", 0, {"shift": 1, "outside": 45}, "id 45 outside"),
            ("below the vocabulary", 0, {"shift": 1, "outside": -1}, "id -1 outside"),
            ("dropped", 0, {"shift": 1, "dropped": 3}, "dropped, not 3"),
            ("dropped by position", 2, {"dropped": 3}, "dropped, not 3"),
            ("dropped outside of the vocabulary", 0, {"dropped": 45}, "dropped, not 45"),
        )
    },
    "an end of the first row": (lambda: changed(g.Pool, lambda o: replace(o, end=1)), "pooling first ends at 1"),
    "an end that is no id": (lambda: changed(g.Pool, lambda o: replace(o, kind="last", end=10**6)), "ends at 1000000"),
    "nothing is summed": (lambda: changed(g.Embed, lambda o: replace(o, terms=())), "nothing"),
    **{
        f"convolution, {name}": (
            lambda values=values: changed(
                g.CausalConvolution, lambda o: replace(o, **values), made=GRAPHS["convolved, mean"]()
            ),
            words,
        )
        for name, values, words in (
            ("in place", {"out": "query"}, "first reads and writes 'query'"),
            ("width", {"out": "inner"}, "width of 'inner'"),
            ("one tap", {"weight": Builder(layers=2).parameter("taps", WIDTH, 1)}, "first takes from 1 rows"),
            ("many taps", {"weight": Builder(layers=2).parameter("taps", WIDTH, 66)}, "from 66 rows, 2 to 65"),
            ("channels", {"weight": Builder(layers=2).parameter("taps", WIDTH + 1, 2)}, "shape of taps.0"),
            ("bias", {"bias": Builder(layers=2).parameter("bias", WIDTH + 1)}, "shape of bias.0"),
        )
    },
    **{
        f"convolution around a row, {name}": (
            lambda op=op, values=values: changed(
                op, lambda o: replace(o, **values), made=GRAPHS["convolved around, mean"]()
            ),
            words,
        )
        for name, op, values, words in (
            ("in place", g.CenteredConvolution, {"out": "hidden"}, "first reads and writes 'hidden'"),
            ("no middle", g.CenteredConvolution, {"weight": FOUR_TAPS, "bias": None}, "from 4 rows, an odd number"),
            ("own taps in place", g.DynamicConvolution, {"out": "spread"}, "reads and writes 'spread'"),
            ("own taps, no middle", g.DynamicConvolution, {"taps": "spread"}, "from 8 rows, an odd number"),
            ("own taps, heads", g.DynamicConvolution, {"heads": 9}, "'own_taps' of 21 values has not 9 heads"),
            ("own taps, width", g.DynamicConvolution, {"out": "inner"}, "width of 'inner'"),
            ("heads of probabilities", g.Softmax, {"heads": 4}, "'own_taps' of 21 values has not 4 heads"),
        )
    },
    **{
        f"transform of rows, {name}": (
            lambda values=values: changed(
                g.FourierRows, lambda o: replace(o, **values), made=GRAPHS["transformed, mean"]()
            ),
            words,
        )
        for name, values, words in (
            ("in place", {"out": "odd_waves"}, "width of 'odd_waves'"),
            ("width", {"width": 9}, "width of 'odd'"),
            ("waves", {"input": "even_waves"}, "width of 'even_waves'"),
        )
    },
    "layers that nothing reads": (
        lambda: replace(
            other := changed(g.Pool, lambda o: replace(o, input="start")),
            body=(Builder().embed("start"), *other.body),
            widths=other.widths | {"start": WIDTH},
        ),
        "'hidden' is computed by Norm and never read",
    ),
    "no layers": (lambda: with_layers(count=0), "layer: 0 layers of"),
    "layers of nothing": (lambda: with_layers(body=()), "layers of 0 ops"),
    "no result": (lambda: replace(post("first"), heads=()), "no result"),
    "result of another width": (
        lambda: graph(post("first").body, "result", pooled=WIDTH, result=INNER),
        "shape of head_weight",
    ),
    "one name twice": (
        lambda: changed(g.Linear, lambda o: replace(o, weight=replace(o.weight, name="key_weight"))),
        "two weights are called 'key_weight'",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_graphs_are_refused(case: str) -> None:
    make, words = BROKEN[case]
    with pytest.raises(EtchError) as caught:
        lower(make(), RECIPES["w8a8"])
    assert (caught.value.code, caught.value.stage) == ("graph-not-sound", "check")
    assert words in str(caught.value)


def test_one_head_is_supported() -> None:
    made = post("first")
    for form in ("read in both, last", "no layers"):
        check_supported(GRAPHS[form]())
    for heads, words in (((), "0 heads"), (made.heads * 2, "2 heads")):
        with pytest.raises(EtchError, match=words) as caught:
            check_supported(replace(made, heads=heads))
        assert (caught.value.code, caught.value.stage) == ("heads-not-supported", "check")


# --- passes that make a mistake --------------------------------------------------------------------------------------


def found_out(form: str) -> bool:
    """Whether anything that compares or checks sees a fault: check, emulator against interpreter, or plan."""
    made = GRAPHS[form]()
    try:
        program = lower(made, RECIPES["fp32"])
        results = emulate_outputs(program, texts())
    except (EtchError, ValueError):
        return True
    exact = Interpreter(made)
    for i, text in enumerate(texts()):
        for ours, wanted in zip(results, exact.outputs(text.ids, text.segments), strict=True):
            if np.abs(ours[i] - wanted).max(initial=0) > 1e-4 * max(1.0, np.abs(wanted).max(initial=0)):
                return True
    return False


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert not any(found_out(form) for form in GRAPHS)


@pytest.mark.parametrize(
    ("form", "kind"), [("post, mean", g.Pool), ("two heads", g.Pool), ("post, first", g.Attention)]
)
def test_a_demand_that_asks_too_little_is_seen(form: str, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_little(op: g.Op, rows: Rows, asked: dict[str, Rows]) -> None:
        for value in reads(op):
            asked[value] = max(asked.get(value, Rows.NONE), Rows.FIRST)

    monkeypatch.setitem(demand_module.INPUTS._entries, kind, too_little)
    assert found_out(form)


def test_keys_packed_too_late_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.lower.steps.stages_of", lambda body: [0] * len(body))
    assert found_out("post, mean")


@pytest.mark.parametrize(("kind", "field"), [(g.Linear, "input"), (g.Attention, "key"), (g.Pool, "input")])
def test_an_op_whose_reads_are_wrong_is_seen(kind: type, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (read,) = [each for each in fields(kind) if each.name == field]
    monkeypatch.setattr(read, "metadata", {"role": "attribute"})
    assert found_out("post, mean")


# --- lives -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", GRAPHS)
@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_nothing_alive_overlaps(form: str, target: object) -> None:
    for recipe in ("w8a8", "fp32"):
        program = lower(GRAPHS[form](), RECIPES[recipe])
        check(program, plan_memory(program, target, 700), target)  # type: ignore[arg-type]


@pytest.mark.parametrize("lost", ["layers", "texts"])
def test_a_lost_back_edge_is_seen(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that layers hand on, and rows that are read for every text."""

    def once(self: liveness._Walk, repeated: p.Loop | p.Repeat, first: int, after: set[p.Buffer]) -> set[p.Buffer]:
        if isinstance(repeated, p.Loop) != (lost == "layers"):
            return until_stable(self, repeated, first, after)
        alive, index = set(after), first + sum(1 for _ in walks.ops_in(repeated))
        for step in reversed(repeated.body):
            index -= sum(1 for _ in walks.ops_in(step))
            alive = self.before(step, index, alive)
        return alive

    until_stable = liveness._Walk.until_stable

    monkeypatch.setattr(liveness._Walk, "until_stable", once)
    with pytest.raises(AssertionError):
        for form in GRAPHS:
            program = lower(GRAPHS[form](), RECIPES["w8a8"])
            for target in TARGETS.values():
                check(program, plan_memory(program, target, 700), target)
