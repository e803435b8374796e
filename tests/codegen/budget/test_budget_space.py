# SPDX-License-Identifier: Apache-2.0
"""The forms that a budget is searched among: sizes as generated, tables as lowered, bits as emulated."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tiny_checkpoint import DEFAULT_VOCAB, write_tiny_checkpoint

from codegen import evaluate, pipeline
from codegen.budget.judge import Judge
from codegen.budget.limits import ALLOWANCES, Allowance, Limits, Size
from codegen.budget.space import Form, Space
from codegen.files.table_file import Columns
from codegen.pack.tables import table_bytes
from codegen.quantize import choose_recipe
from codegen.sizes import parse_size, size_text
from codegen.targets import TARGETS
from codegen.vocabulary import pruning as vocabulary
from codegen.vocabulary.prunable import RARE_WORDS
from codegen.vocabulary.pruning import Bound

ALLOWED = Allowance(code=1000, static=100)
TEXTS = ["the cat sat"] * 6 + ["a dog ran on the mat"] * 3 + ["good workable plays", "unable works, worked! Café"] * 2


def space_of(folder: Path, target: str = "m-profile", max_tokens: int | None = None, **how: object) -> Space:
    write_tiny_checkpoint(folder, **({"hidden": 34, "layers": 2, "intermediate": 70} | how))  # type: ignore[arg-type]
    checkpoint = pipeline.load(folder)
    return Space(checkpoint, pipeline.to_graph(checkpoint, max_tokens), TARGETS[target], ALLOWED, TEXTS)


def some_forms(space: Space) -> list[Form]:
    first, *_, last = space.linears
    return [
        space.whole,
        Form(32, None, 4, frozenset()),
        Form(32, None, 8, frozenset(space.linears)),
        Form(9, Bound(4), 8, frozenset([first])),
        Form(20, Bound(3, "unknown"), 4, frozenset([last, space.linears[3]])),
        Form(32, Bound(2, "unknown"), 4, frozenset(space.linears[::2])),
    ]


@pytest.mark.parametrize("target", ["host", "m-profile"])
def test_sizes_and_tables_are_those_of_the_generated_model(tmp_path: Path, target: str) -> None:
    space = space_of(tmp_path, target)
    for form in some_forms(space):
        checkpoint = pipeline.load(tmp_path)
        graph = pipeline.to_graph(checkpoint, form.tokens)
        if form.bound is not None:
            kept = vocabulary.prune(checkpoint.tokenizer, TEXTS, form.bound).kept
            checkpoint, graph = vocabulary.keep_ids(checkpoint, kept), vocabulary.keep_rows(graph, kept)
        recipe = choose_recipe("w8a8", form.embedding_bits, space.bits(form))
        model = pipeline.make_model("tiny", checkpoint, graph, recipe, target)
        tables, stack = table_bytes(model.tables, model.target), model.stack_budget
        assert space.size(form) == Size(tables + 1000, model.plan.arena_bytes + stack + 100, stack), form
        lowered = pipeline.make_tables(space.program(form), model.target, space.vocabulary(form.bound).tables)
        assert [(t.name, t.extent, t.crc()) for t in lowered] == [(t.name, t.extent, t.crc()) for t in model.tables]
        assert space.program(form).vocabulary == graph.vocabulary
        assert space.program(form).max_tokens == graph.max_tokens


def test_judged_programs_have_the_same_bits(tmp_path: Path) -> None:
    space = space_of(tmp_path)
    for form in some_forms(space):
        spec = space.vocabulary(form.bound).checkpoint.tokenizer
        texts = evaluate.encode(spec, form.tokens, sorted(set(TEXTS)))
        expected = evaluate.emulated(space.program(form), texts)
        assert evaluate.emulated(space.judged_program(form), texts).tobytes() == expected.tobytes()


def test_bits_name_each_place(tmp_path: Path) -> None:
    space = space_of(tmp_path)
    assert len(space.linears) == 2 * 6 + 1
    names = {name: space.bits(Form(32, None, 8, frozenset([name]))) for name in space.linears}
    assert names["bert.encoder.layer.1.intermediate.dense.weight"] == {"1.intermediate": 4}
    assert names["bert.pooler.dense.weight"] == {"pooler": 4}


@pytest.mark.parametrize("rare_words", RARE_WORDS)
def test_bounds_keep_fewer_and_fewer_pieces(tmp_path: Path, rare_words: vocabulary.RareWords) -> None:
    words = tuple(f"w{i}" for i in range(200))
    texts = [" ".join(words[: 200 - i]) for i in range(200)]
    write_tiny_checkpoint(tmp_path, vocab=(*DEFAULT_VOCAB, *words))
    checkpoint = pipeline.load(tmp_path)
    space = Space(checkpoint, pipeline.to_graph(checkpoint, None), TARGETS["host"], ALLOWED, texts)
    bounds = list(space.bounds(rare_words))
    sizes = [len(space.vocabulary(bound).rows) for bound in bounds]
    assert {bound.rare_words for bound in bounds} == {rare_words}
    assert sizes == sorted(set(sizes), reverse=True)
    assert len(sizes) >= 10
    assert all(b >= 0.8 * a for a, b in pairwise(sizes))


def test_errors_are_of_evenly_spaced_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = space_of(tmp_path / "tiny")
    table = tmp_path / "rows.csv"
    table.write_text("".join(f'{1 + i % 3},"{text}"\n' for i, text in enumerate(TEXTS * 10)))
    rows = evaluate.read_rows(table, Columns(), space.program(space.whole).task, 1000)
    monkeypatch.setattr("codegen.budget.judge._MOST_ROWS", 40)
    judge = Judge(space, rows)
    assert judge.rows == 40
    four = Form(32, None, 4, frozenset(space.linears))
    one = Form(32, None, 8, frozenset(space.linears[:1]))
    assert judge.error(space.whole) == 0 < judge.error(one) < judge.error(four)
    spec = space.vocabulary(None).checkpoint.tokenizer
    assert str(judge.score(four)) == str(evaluate.score(space.program(four), spec, rows))


def test_sizes_are_written_with_k_and_m() -> None:
    assert [parse_size(text) for text in ("512K", "1M", "7", "0012K")] == [512 << 10, 1 << 20, 7, 12 << 10]
    for text in ("", "0", "0K", "-1", "1k", "1G", "1.5K", "1 K", "K", "٣", "9" * 13):
        with pytest.raises(ValueError, match=r".*"):
            parse_size(text)
    for size in (1, 1024, 1025, 512 << 10):
        assert parse_size(size_text(size)) >= size > parse_size(size_text(size)) - 1024


def test_limits_hold_up_to_their_last_byte() -> None:
    size = Size(1000, 200, 30)
    assert Limits().hold(size)
    assert Limits(1000, 200, 30).hold(size)
    for less in (Limits(flash=999), Limits(ram=199), Limits(stack=29)):
        assert not less.hold(size)
    assert Limits(500, 100).excess(size) == 2


def test_every_target_has_its_allowance() -> None:
    """What it is is compared with linked programs, of both in end_to_end."""
    assert ALLOWANCES.keys() == TARGETS.keys()


@pytest.mark.parametrize(
    ("counts", "bounds"),
    [
        # Of 100 pieces that texts have the 100, 90, 81, 72 and 65 most frequent; the next would be 59 of them.
        ([*range(1, 101), *[0] * 10], [1, 11, 20, 29, 36]),
        ([5] * 100, [5]),
        ([7] * 64, [7]),
        # What a corpus of few pieces leaves out is left out all the same.
        ([7] * 63, [7]),
        ([0] * 9, []),
    ],
)
def test_a_tenth_fewer_pieces_each_time_down_to_64(counts: list[int], bounds: list[int]) -> None:
    corpus = SimpleNamespace(prunable_counts=lambda kind: np.array(counts))
    found = list(Space.bounds(SimpleNamespace(_corpus=corpus), "unknown"))  # type: ignore[arg-type]
    assert found == [Bound(count, "unknown") for count in bounds]
