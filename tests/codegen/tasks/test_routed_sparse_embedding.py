# SPDX-License-Identifier: Apache-2.0
"""SparseEncoder folders with a Router whose queries are weighed by a table: what the recorded ones mean, where their
parts may lie, what is refused. What they have in common with those without is in test_sparse_embedding.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed
from recorded_outputs import reported_task
from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors

from codegen import evaluate, pipeline
from codegen.files.table_file import Columns
from codegen.ir.query_weights import QueryWeights
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.tasks.sparse_embedding import SparseEmbedding

ROUTED, TOP = "sparse/routed", "sparse/routed_top"
ROUTER, MODULES = "router_config.json", "modules.json"
TABLE, DOCUMENTS = "query_0_SparseStaticEmbedding", "document_0_Transformer"
POOLING = "document_1_SpladePooling"
NEW = "sentence_transformers.sparse_encoder.modules."


def cases(variant: str) -> list[dict[str, Any]]:
    return json.loads((folder(variant) / "pipeline.json").read_text(encoding="utf-8"))


def query_of(path: Path) -> QueryWeights:
    task = pipeline.to_graph(pipeline.load(path), None).task
    assert isinstance(task, SparseEmbedding)
    assert task.query is not None
    return task.query


def edit(file: str, change: Callable[[Any], object]) -> Change:
    """Changes the value of a JSON file in place."""

    def changing(path: Path) -> None:
        values = json.loads((path / file).read_text(encoding="utf-8"))
        change(values)
        write_json(path / file, values)

    return changing


def routes(**structure: list[str]) -> Change:
    return edit(ROUTER, lambda values: values.update(structure=structure))


def kind(path: str, name: str) -> Change:
    """Gives a module another class."""
    return edit(ROUTER, lambda values: values["types"].update({path: name}))


def table(change: Callable[[NDArray[np.float16]], NDArray]) -> Change:
    """Other weights of queries."""

    def changing(path: Path) -> None:
        file = path / TABLE / "model.safetensors"
        header, data = read_raw_safetensors(file)
        weights = change(np.frombuffer(data, np.float16).copy()).astype(np.float16)
        header["weight"] |= {"shape": list(weights.shape), "data_offsets": [0, weights.nbytes]}
        write_raw_safetensors(file, header, weights.tobytes())

    return changing


def negative(weights: NDArray) -> NDArray:
    weights[3] = -0.5
    return weights


def swap_pieces(values: Any) -> None:
    """Gives two pieces of a vocabulary each other's ids."""
    pieces = values["model"]["vocab"]
    pieces["cat"], pieces["the"] = pieces["the"], pieces["cat"]


# --- what a query weighs


@pytest.mark.parametrize("variant", [ROUTED, TOP])
def test_a_query_weighs_what_the_library_says(variant: str) -> None:
    query, checkpoint = query_of(folder(variant)), pipeline.load(folder(variant))
    tokenizer = text_tokenizer(checkpoint.tokenizer, query.longest(checkpoint.default_max_tokens))
    compared = [case for case in cases(variant) if "query" in case]
    assert len(compared) > 2
    for case in compared:
        row = query.row(tokenizer.encode(case["text"]).ids)
        meant = np.zeros_like(row)
        for entry, weight in case["query"]:
            meant[entry] = weight
        assert np.allclose(row, meant, rtol=1e-5, atol=0)
        assert np.count_nonzero(row)


def test_a_query_is_its_own_tokens_each_once() -> None:
    query = QueryWeights((0.0, 1.0, 2.0, 3.0, 4.0), before=1, behind=1)
    assert query.row([4, 2, 3, 2, 4]).tolist() == [0, 0, 2, 3, 0]
    assert query.row([4, 4, 4]).tolist() == [0, 0, 0, 0, 4]
    assert query.row([4, 4]).tolist() == [0] * 5
    assert [QueryWeights((), 1, 1, own).longest(12) for own in (None, 5, 10, 11)] == [12, 7, 12, 12]


def test_queries_are_cut_where_their_tokenizer_says() -> None:
    assert query_of(folder(ROUTED)).own_tokens == 7
    assert query_of(folder(ROUTED)).longest(20) == 9
    assert query_of(folder(TOP)).longest(16) == 16


def test_the_report() -> None:
    assert reported_task(ROUTED).endswith("max of log(1 + log(1 + relu)); of queries by a table of tokens")


def test_a_row_of_a_table_is_a_query_and_a_document(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder(ROUTED))
    program = pipeline.lower(checkpoint, "w8a8", None)
    pairs = [("the cat", "a cat"), ("the price of oil", "a cat"), ("dogs of the cat", "Berlin is up"), ("a", "what")]
    path = tmp_path / "rows.tsv"
    path.write_text("".join(f"{i}\t{first}\t{second}\n" for i, (first, second) in enumerate(pairs)))
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    texts = evaluate.encoded(program, checkpoint.tokenizer, rows)
    outputs = evaluate.emulated(program, texts)
    query = query_of(folder(ROUTED))
    tokenizer = text_tokenizer(checkpoint.tokenizer, 20)
    products = [
        float(query.row(tokenizer.encode(first).ids).astype(np.float64) @ document)
        for (first, _), document in zip(pairs, outputs[1::2], strict=True)
    ]
    assert program.task.answers(np.array(outputs), rows.rows, texts)[:, 0].tolist() == pytest.approx(products)
    assert max(products) > 0


# --- folders


def test_the_files_of_both_routes_count() -> None:
    read = pipeline.load(folder(ROUTED)).files
    assert {MODULES, ROUTER, f"{DOCUMENTS}/config.json", f"{DOCUMENTS}/model.safetensors"} <= read.keys()
    assert {f"{TABLE}/model.safetensors", f"{TABLE}/tokenizer.json", f"{POOLING}/config.json"} <= read.keys()
    assert {"config.json", "model.safetensors", ROUTER} <= pipeline.load(folder(TOP)).files.keys()


def test_other_weights_of_queries_are_another_model(tmp_path: Path) -> None:
    path = changed(ROUTED, table(lambda weights: weights + 1), tmp_path)
    assert pipeline.load(path).digest != pipeline.load(folder(ROUTED)).digest
    assert query_of(path).weights != query_of(folder(ROUTED)).weights


@pytest.mark.parametrize(
    "change",
    [
        edit(ROUTER, lambda values: values.pop("parameters")),
        edit(ROUTER, lambda values: values["parameters"].update(default_route="query", allow_empty_key=False)),
        edit(MODULES, lambda items: items[0].update(type="sentence_transformers.models.Asym")),
        edit(MODULES, lambda items: items[0].update(type="sentence_transformers.sparse_encoder.models.Router")),
        kind(TABLE, "sentence_transformers.sparse_encoder.models.SparseStaticEmbedding.SparseStaticEmbedding"),
        kind(DOCUMENTS, "sentence_transformers.sparse_encoder.models.MLMTransformer"),
        edit(f"{TABLE}/config.json", lambda values: values.update(frozen=False, path="elsewhere")),
    ],
)
def test_other_forms_of_a_folder(change: Change, tmp_path: Path) -> None:
    path = changed(ROUTED, change, tmp_path)
    assert query_of(path) == query_of(folder(ROUTED))


CHANGES: list[tuple[str, Change, str, str]] = [
    (ROUTED, lambda path: (path / ROUTER).unlink(), "sentence-file-missing", "Router"),
    (ROUTED, edit(MODULES, lambda items: items[0].update(path="0_Router")), "sentence-modules-order", "beside"),
    (ROUTED, edit(ROUTER, lambda values: values.update(more=1)), "sentence-setting", "'more' is not known"),
    (ROUTED, edit(ROUTER, lambda values: values.update(types=[])), "config-type", "'types'"),
    (
        ROUTED,
        edit(ROUTER, lambda values: values["parameters"].update(route_mappings={"('query', 'text')": "document"})),
        "sentence-setting",
        "'route_mappings'",
    ),
    (ROUTED, routes(query=[TABLE]), "sentence-route", "got 'query'"),
    (ROUTED, routes(query=[TABLE], document=[DOCUMENTS, POOLING], image=[TABLE]), "sentence-route", "'image'"),
    (ROUTED, routes(query=[TABLE], document=[TABLE]), "sentence-route", "got SparseStaticEmbedding, and"),
    (ROUTED, routes(query=[DOCUMENTS, POOLING], document=[DOCUMENTS, POOLING]), "sentence-route", "and Transformer"),
    (ROUTED, routes(query=[], document=[DOCUMENTS, POOLING]), "sentence-route", "route 'query'"),
    (ROUTED, routes(query=["absent"], document=[DOCUMENTS, POOLING]), "config-type", "no class of 'absent'"),
    (ROUTED, kind(TABLE, f"{NEW}SparseAutoEncoder"), "sentence-module-not-supported", "SparseAutoEncoder"),
    (ROUTED, kind(TABLE, "own.Table"), "remote-code", "'Table'"),
    (
        ROUTED,
        edit(
            ROUTER,
            lambda values: values.update(
                types=values["types"] | {"../table": f"{NEW}SparseStaticEmbedding"},
                structure=values["structure"] | {"query": ["../table"]},
            ),
        ),
        "sentence-path",
        "plain name",
    ),
    (ROUTED, edit(f"{TABLE}/config.json", lambda values: values.update(path="idf.json")), "sentence-setting", "'path'"),
    (ROUTED, edit(f"{TABLE}/config.json", lambda values: values.update(k=1)), "sentence-setting", "'k' is not known"),
    (ROUTED, lambda path: (path / TABLE / "model.safetensors").unlink(), "weights-missing", TABLE),
    (ROUTED, table(lambda weights: weights[:-1]), "wrong-shape", "expected [64], got [63]"),
    (ROUTED, table(negative), "sentence-table", "a weight of -0.5"),
    (
        ROUTED,
        edit(f"{TABLE}/tokenizer.json", swap_pieces),
        "sentence-conflict",
        "another tokenizer",
    ),
    (ROUTED, lambda path: (path / TABLE / "tokenizer.json").unlink(), "tokenizer-missing", TABLE),
    (ROUTED, lambda path: (path / DOCUMENTS / "config.json").unlink(), "config-file-missing", "config.json"),
    (ROUTED, edit(f"{DOCUMENTS}/config.json", lambda values: values.pop("vocab_size")), "config-missing", DOCUMENTS),
    (
        ROUTED,
        edit("config_sentence_transformers.json", lambda values: values.update(max_active_dims=9)),
        "sentence-setting",
        "'max_active_dims'",
    ),
    (
        ROUTED,
        edit("config_sentence_transformers.json", lambda values: values.pop("model_type")),
        "sentence-setting",
        "'model_type'",
    ),
    (
        TOP,
        edit(f"{POOLING}/config.json", lambda v: v.update(pooling_strategy="mean")),
        "sentence-pooling-not-supported",
        "mean",
    ),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), CHANGES)
def test_refusals(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)
