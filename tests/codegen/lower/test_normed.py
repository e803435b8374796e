# SPDX-License-Identifier: Apache-2.0
"""Factors that move between norms and linears: which can, and that they change no bit of a float program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graph_builder import LAYERS, WIDTH
from recorded.outputs import folder, read_recorded
from recorded_changes import graph_of
from test_lower import texts
from tiny_generators import GENERATORS
from tiny_graphs import GRAPHS, post, pre, with_dense_head

from codegen.emulate import emulate_outputs, emulate_texts
from codegen.emulate.together import logits_of
from codegen.ir import graph as g
from codegen.ir.normed import Normed, Stored, normed_of, with_factors
from codegen.ir.text import Text
from codegen.lower import lower
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES

# Norms before the linears that read their rows; a star where other ops read these, too.
_POST = {"embedding_norm*, output_norm* > query, key, value", "attention_norm* > intermediate"}
_INNER = {"attention_norm* > intermediate"}
_PRE = {"attention_norm > query, key, value", "output_norm > intermediate"}
_FORMS = {**GRAPHS, **GENERATORS}
FOUND: dict[str, set[str]] = {
    **dict.fromkeys(("post, first", "post, mean", "projected embedding"), _POST),
    **dict.fromkeys(
        ("pre, first", "pre, affine norms", "disentangled scores", "rotary, grouped queries", "window"), _PRE
    ),
    # Queries of the first layer read what no norm has written.
    **dict.fromkeys(("two heads", "shared layers", "tied words", "masked words"), _INNER),
    "cross attention": {"memory_norm > start, key, value"},
    "gates": {"norm* > gate, up"},
    "no layers": set(),
    "words alone": set(),
    "decoder only": {*_PRE, "final_norm > logits"},
    "encoder and decoder": {
        "attention_norm* > intermediate",
        "self_norm* > cross_query",
        "cross_norm* > target_inner",
    },
}


def text_of(normed: Normed) -> str:
    stars = (name.removesuffix("_gamma") + "*" * (name in normed.stay) for name in normed.norms)
    return f"{', '.join(stars)} > {', '.join(name.removesuffix('_weight') for name in normed.linears)}"


def with_random_factors(made: g.Graph) -> g.Graph:
    random = np.random.default_rng(3)
    normed = normed_of(made)
    widths = {parameter.name: parameter.shape[-1] for parameter in g.parameters_of(made)}
    exponents: dict[Stored, np.ndarray] = {}
    for channels in (each for of in normed for each in of.channels):
        exponents |= dict.fromkeys(channels, random.integers(-4, 5, widths[channels[0][0]]))
    return with_factors(made, normed, exponents)


@pytest.mark.parametrize("form", FOUND)
def test_what_can_have_factors(form: str) -> None:
    assert {text_of(normed) for normed in normed_of(_FORMS[form]())} == FOUND[form]


def test_layers_have_those_of_the_norm_before_them() -> None:
    first, second = normed_of(with_dense_head())
    assert text_of(first) == "embedding_norm*, output_norm* > query, key, value, dense"
    assert first.passed == {"pooled"}
    found = {channels[0]: set(channels[1:]) for channels in first.channels}
    linears = ("query_weight", "key_weight", "value_weight")
    assert found == {
        ("embedding_norm_gamma", 0): {(name, 0) for name in linears},
        **{("output_norm_gamma", i): {(name, i + 1) for name in linears} for i in range(LAYERS - 1)},
        ("output_norm_gamma", LAYERS - 1): {("dense_weight", 0)},
    }
    assert [len(channels) for channels in second.channels] == [2] * LAYERS


def test_weights_that_an_exact_linear_has_too_stay() -> None:
    """Its inputs are no norm's."""
    made = with_dense_head()
    (dense,) = (op for op, _ in g.ops_of(made) if isinstance(op, g.Linear) and op.name == "dense")
    again = replace(dense, name="again", input="dense", out="again", exact=True)
    shared = replace(made, body=(*made.body[:-1], again, replace(made.body[-1], input="again")))
    assert [text_of(normed) for normed in normed_of(shared)] == ["attention_norm* > intermediate"]


def test_layers_with_the_same_weights_have_the_same_factors() -> None:
    (normed,) = normed_of(GRAPHS["shared layers"]())
    assert len(normed.channels) < LAYERS


@pytest.mark.parametrize("form", GRAPHS)
def test_no_bit_of_a_float_program_changes(form: str) -> None:
    made = with_dense_head() if form == "second norms" else GRAPHS[form]()
    other = with_random_factors(made)
    exact = Interpreter(made), Interpreter(other)
    for text in texts():
        for one, two in zip(*(each.outputs(text.ids, text.segments) for each in exact), strict=True):
            assert np.abs(one - two).max(initial=0) < 1e-12
    before, after = (emulate_outputs(lower(each, RECIPES["fp32"]), texts()) for each in (made, other))
    for one, two in zip(before, after, strict=True):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))
    if normed_of(made):  # it is another program all the same
        changed = emulate_outputs(lower(other, RECIPES["w8a8"]), texts())
        bytes_of = [[row.tobytes() for row in one] for one in emulate_outputs(lower(made, RECIPES["w8a8"]), texts())]
        assert [[row.tobytes() for row in one] for one in changed] != bytes_of


@pytest.mark.parametrize("form", GENERATORS)
def test_nor_of_one_that_writes(form: str) -> None:
    made = GENERATORS[form]()
    ids, written = [[3, 1, 7], [5]], [[4, 9, 2], [1, 1]]
    both = (logits_of(lower(each, RECIPES["fp32"]), ids, written) for each in (made, with_random_factors(made)))
    for one, two in zip(*both, strict=True):
        assert one.tobytes() == two.tobytes()


def test_nothing_is_computed_twice_where_only_linears_read() -> None:
    ops = [sum(isinstance(op, g.Norm) for op, _ in g.ops_of(each)) for each in (pre("first"), post())]
    changed = [with_random_factors(each) for each in (pre("first"), post())]
    assert [sum(isinstance(op, g.Norm) for op, _ in g.ops_of(each)) for each in changed] == [ops[0], ops[1] + 3]
    assert changed[0].widths == pre("first").widths
    assert changed[1].widths == post().widths | {"hidden_smooth": WIDTH}


def test_norms_that_divide_nothing_share_what_they_make() -> None:
    """MobileBERT's: of bottlenecks, in front of several linears each, and between its feed-forward networks."""
    made = graph_of(folder("mobilebert/softmax"))
    assert {text_of(normed) for normed in normed_of(made)} == {
        "embedding_norm*, bottleneck_output_norm* > bottleneck_input, bottleneck_attention, value",
        "bottleneck_attention_norm > query, key",
        "attention_norm* > ffn_0_intermediate",
        "ffn_0_output_norm* > ffn_1_intermediate",
        "ffn_1_output_norm* > intermediate",
        "output_norm > bottleneck_output",
    }
    text = [Text(each.ids, each.segments) for each in read_recorded("mobilebert/softmax")]
    before, after = (emulate_texts(lower(each, RECIPES["fp32"]), text) for each in (made, with_random_factors(made)))
    assert before.tobytes() == after.tobytes()


def test_without_exponents_arrays_stay() -> None:
    made = pre("first")
    same = with_factors(made, normed_of(made), {})
    before, after = ([id(array) for of in g.parameters_of(each) for array in of.arrays] for each in (made, same))
    assert before == after
