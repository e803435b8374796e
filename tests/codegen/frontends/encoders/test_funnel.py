# SPDX-License-Identifier: Apache-2.0
"""Funnel's front-end: which rows its blocks have, what becomes of the biases of its scores, and what is refused.
test_recorded_models.py and the tests of tasks have what its models compute."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.check_graph import check_graph
from codegen.ir.program_changes import with_max_tokens
from codegen.ir.row_pooling import RowPooling
from codegen.ir.walks import slots_of
from codegen.load.files import CheckpointFolder
from codegen.oracle.interpret import Interpreter
from codegen.pack.tables import slot_tables
from codegen.request import Reading
from codegen.targets import TARGETS

CLASSIFIER, REPEATS, TAGS, FIRST = "funnel/softmax", "funnel/repeats", "tags/funnel", "funnel/first"
ATTENTION = "funnel.encoder.blocks.0.0.attention."
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "what was trained first": (
        CLASSIFIER,
        configure(architectures=["FunnelForPreTraining"]),
        "architecture-not-supported",
        "FunnelForSequenceClassification",
    ),
    "rows of tokens alone": (CLASSIFIER, configure(architectures=["FunnelModel"]), "modules-missing", "FunnelModel"),
    "rows of blocks alone": (CLASSIFIER, configure(architectures=["FunnelBaseModel"]), "modules-missing", "BaseModel"),
    "another attention": (CLASSIFIER, configure(attention_type="plain"), "config-not-supported", "relative_shift"),
    "another pooling": (CLASSIFIER, configure(pooling_type="min"), "pooling-not-supported", "mean, max"),
    "no blocks": (CLASSIFIER, configure(block_sizes=[], block_repeats=None), "config-value", "0 block_sizes"),
    "many blocks": (CLASSIFIER, configure(block_sizes=[1] * 10, block_repeats=None), "config-value", "10 block_sizes"),
    "a block of nothing": (CLASSIFIER, configure(block_sizes=[2, 0, 2]), "config-out-of-range", "'block_sizes'"),
    "blocks that are no list": (CLASSIFIER, configure(block_sizes="2"), "config-type", "'block_sizes'"),
    "repeats of other blocks": (CLASSIFIER, configure(block_repeats=[1, 1]), "config-value", "2 block_repeats"),
    "repeats of nothing": (CLASSIFIER, configure(block_repeats=[1, 0, 1]), "config-out-of-range", "'block_repeats'"),
    "an odd width": (CLASSIFIER, configure(d_model=21), "config-value", "d_model 21"),
    "two widths": (CLASSIFIER, configure(hidden_size=24), "config-value", "hidden_size"),
    "other heads": (CLASSIFIER, configure(d_head=4), "wrong-shape", "attention"),
    "a block less": (CLASSIFIER, configure(block_sizes=[2, 1], block_repeats=None), "unused-tensor", "blocks.2"),
    "no such kernel": (CLASSIFIER, rename(f"{ATTENTION}r_kernel", "other"), "missing-tensor", "r_kernel"),
    "decoder layers": (TAGS, configure(num_decoder_layers=2), "missing-tensor", "decoder.layers.1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize("pooling", ["mean", "max", "last"])
def test_rows_of_several_tokens_are_no_embedding(pooling: str, tmp_path: Path) -> None:
    path = changed(FIRST, configure(), tmp_path)
    (path / "modules.json").unlink()
    with pytest.raises(Exception, match=r"pooling-not-supported.*its first row"):
        pipeline.to_graph(pipeline.load(path, Reading(pooling=pooling)), None)
    assert pipeline.to_graph(pipeline.load(path, Reading(pooling="cls")), None)


def layers_of(variant: str) -> list[tuple[str, int, int, bool]]:
    """Of each loop its name, the runs of its layers, its level and whether it pools."""
    loops = [node for node in graph_of(folder(variant)).body if isinstance(node, g.Layers)]
    levels = [next(op.pooled.level for op in loop.body if isinstance(op, g.Attention) and op.pooled) for loop in loops]
    pools = [any(isinstance(op, g.PoolRows) for op in loop.body) for loop in loops]
    return [(loop.name, loop.count, *of) for loop, *of in zip(loops, levels, pools, strict=True)]


def test_each_block_is_a_loop_over_its_runs() -> None:
    assert layers_of(CLASSIFIER) == [
        ("block_0_layer", 2, 0, False),
        ("block_1_layer", 1, 1, True),
        ("block_2_layer", 2, 2, True),
    ]
    assert [count for _, count, _, _ in layers_of(REPEATS)] == [2, 4, 1]


def test_rows_are_kept_after_as_many_runs_as_the_first_block_has_layers() -> None:
    assert layers_of(TAGS) == [
        ("block_0_layer", 3, 0, False),
        ("block_0_more_layer", 3, 0, False),
        ("block_1_layer", 1, 1, True),
        ("block_2_layer", 1, 2, True),
        ("decoder_layer", 1, 0, False),
    ]
    kinds = [type(node) for node in graph_of(folder(TAGS)).body if not isinstance(node, g.Layers)]
    assert kinds == [g.Embed, g.Norm, g.Copy, g.Upsample, g.Linear, g.Softmax]


def test_layers_that_run_twice_are_stored_once() -> None:
    loop = next(n for n in graph_of(folder(REPEATS)).body if isinstance(n, g.Layers) and n.name == "block_1_layer")
    for op in loop.body:
        if isinstance(op, g.Linear):
            assert (len(op.weight.arrays), op.weight.of_layer) == (2, (0, 0, 1, 1))


@pytest.mark.parametrize(
    ("pooling", "counts"),
    [
        (RowPooling("mean", apart=True, cut=True), [1, 2, 2, 2, 3, 3, 4]),
        (RowPooling("mean", apart=True, cut=False), [1, 2, 2, 3, 3, 4, 4]),
        (RowPooling("max", apart=False, cut=False), [1, 1, 2, 2, 3, 3, 4]),
    ],
)
def test_how_many_rows_are_left(pooling: RowPooling, counts: list[int]) -> None:
    assert [pooling.count(rows) for rows in range(1, 8)] == counts
    assert [len(pooling.firsts(rows)) for rows in range(1, 8)] == counts


def test_numbers_of_a_head_are_what_its_biases_differ_by() -> None:
    loop = next(node for node in graph_of(folder(CLASSIFIER)).body if isinstance(node, g.Layers))
    attention = next(op for op in loop.body if isinstance(op, g.Attention))
    assert attention.bias is not None and attention.relative_keys is not None and attention.segment_keys is not None
    checkpoint = pipeline.load(folder(CLASSIFIER))
    w, r, s = (
        checkpoint.tensors.take(f"{ATTENTION}r_{of}_bias", (3, 5)).values.astype(np.float64) for of in ("w", "r", "s")
    )
    distances, segments = (
        table.arrays[0].values.astype(np.float64).reshape(-1, 3, 5)
        for table in (attention.relative_keys, attention.segment_keys)
    )
    want = np.einsum("dhk,hk->hd", distances, r - w)[:, None] + np.einsum("shk,hk->hs", segments, s - w)[:, :, None]
    found = attention.bias.arrays[0].values.reshape(3, 2, -1)
    assert np.allclose(found, want / math.sqrt(5), rtol=0, atol=1e-12)


def test_both_ways_to_compute_attention_are_one(tmp_path: Path) -> None:
    path = changed(CLASSIFIER, configure(), tmp_path)
    before = Interpreter(graph_of(path)).output([2, 9, 8, 7, 3], [2, 0, 0, 0, 0])
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    (path / "config.json").write_text(json.dumps(config | {"attention_type": "factorized"}), encoding="utf-8")
    assert np.array_equal(before, Interpreter(graph_of(path)).output([2, 9, 8, 7, 3], [2, 0, 0, 0, 0]))


def test_without_being_asked_the_class_tells_of_no_segments(tmp_path: Path) -> None:
    path = changed(CLASSIFIER, configure(), tmp_path) / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    del settings["model_input_names"]
    path.write_text(json.dumps(settings), encoding="utf-8")
    template = pipeline.load(path.parent).tokenizer.template
    assert {part.segment for part in (*template.single, *template.pair)} == {0}


def test_the_first_token_is_of_a_segment_of_its_own() -> None:
    template = pipeline.load(folder(CLASSIFIER)).tokenizer.template
    assert [part.segment for part in template.single] == [2, 0, 0]
    assert [part.segment for part in template.pair] == [2, 0, 0, 1, 1]
    assert CheckpointFolder(folder(CLASSIFIER)).has("tokenizer.json")


def changed_ops(graph: g.Graph, kind: type, change: Callable[[Any], Any]) -> g.Graph:
    """The graph with every op of a kind changed, or left out."""

    def of(ops: Sequence[g.Op]) -> tuple[g.Op, ...]:
        found = (change(op) if isinstance(op, kind) else op for op in ops)
        return tuple(op for op in found if op is not None)

    body = [replace(n, body=of(n.body)) if isinstance(n, g.Layers) else n for n in graph.body]
    body = [new for n in body for new in ((n,) if isinstance(n, g.Layers) else of((n,)))]
    return replace(graph, body=tuple(body))


UNSOUND: dict[str, tuple[str, type, Callable[[Any], Any], str]] = {
    "rows that are not pooled": (CLASSIFIER, g.PoolRows, lambda op: None, "level of 'query': 0, expected 1"),
    "a mean of pooled rows": (CLASSIFIER, g.Pool, lambda op: replace(op, kind="mean"), "level of 'hidden': 2"),
    "rows of another level": (TAGS, g.Upsample, lambda op: replace(op, level=1), "level of 'hidden': 2, expected 1"),
    "a copy to itself": (TAGS, g.Copy, lambda op: replace(op, out="hidden"), "'hidden' is copied to itself"),
    "cut, but not apart": (
        CLASSIFIER,
        g.PoolRows,
        lambda op: replace(op, pooling=RowPooling("mean", apart=False, cut=True)),
        "to level 1",
    ),
    "a mask": (CLASSIFIER, g.Attention, lambda op: replace(op, mask="causal"), "and nothing else"),
    "no bias": (CLASSIFIER, g.Attention, lambda op: replace(op, bias=None), "and nothing else"),
    "plain attention": (
        CLASSIFIER,
        g.Attention,
        lambda op: replace(op, pooled=None, relative_keys=None, segment_keys=None, bias=None),
        "level of 'key': 0, expected 1",
    ),
    "fewer distances": (
        CLASSIFIER,
        g.Attention,
        lambda op: replace(op, pooled=replace(op.pooled, level=op.pooled.level + 1)),
        "level of 'query': 0, expected 1",
    ),
}


@pytest.mark.parametrize("case", UNSOUND)
def test_unsound(case: str) -> None:
    variant, kind, change, words = UNSOUND[case]
    with pytest.raises(EtchError) as caught:
        check_graph(changed_ops(graph_of(folder(variant)), kind, change))
    assert words in str(caught.value)


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
def test_a_program_for_shorter_texts_has_the_tables_of_one_made_for_them(recipe: str) -> None:
    checkpoint = pipeline.load(folder(REPEATS))
    shorter = with_max_tokens(pipeline.lower(checkpoint, recipe, None), 11)
    made = pipeline.lower(pipeline.load(folder(REPEATS)), recipe, 11)
    tables = [
        [table for slot, loop in slots_of(each) for table in slot_tables(slot, loop is not None, TARGETS["host"])]
        for each in (shorter, made)
    ]
    assert [(t.name, t.crc()) for t in tables[0]] == [(t.name, t.crc()) for t in tables[1]]
