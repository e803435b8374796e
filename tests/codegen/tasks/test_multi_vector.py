# SPDX-License-Identifier: Apache-2.0
"""Recorded models that give a vector for each token: their graphs mean what the library computed, in float64, of token
ids and of texts as queries and as documents; programs compute it; what texts.json says of scores is MaxSim."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from recorded.outputs import folder, read_recorded, variants
from recorded_outputs import assert_gpus_refuse, reported_task
from rounded_weights import RoundedWeights

from codegen import pipeline
from codegen.budget import Limits
from codegen.emulate import emulate_texts
from codegen.errors import EtchError
from codegen.evaluate import encoded, read_rows, score
from codegen.files.table_file import Columns
from codegen.head_folders import HeadFolder
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.interpret import Interpreter
from codegen.quantize import choose_recipe
from codegen.request import Evaluate, Prune
from codegen.sqlite.extension import make_extension
from codegen.tasks.multi_vector import MultiVector, max_sim
from codegen.web.site import make_site
from codegen.wheel.wheel import make_wheel

VECTORS = variants("vectors")
SIDES = ("query", "document")


def texts_of(variant: str) -> dict[str, Any]:
    return json.loads((folder(variant) / "texts.json").read_text(encoding="utf-8"))


def cases(variant: str) -> Iterator[tuple[Text, NDArray[np.bool_], NDArray]]:
    """Of each text of both sides what the model reads, which tokens have a vector, and the library's vectors."""
    checkpoint = pipeline.load(folder(variant))
    graph = pipeline.to_graph(checkpoint, None)
    for name in SIDES:
        side = getattr(graph.task, name)
        tokenizer = text_tokenizer(checkpoint.tokenizer, side.longest(graph.max_tokens))
        for text, vectors in texts_of(variant)[name]:
            read = side.filled(tokenizer.encode(side.prompt + text).ids)
            yield read, side.kept(read.ids), np.array(vectors)


@pytest.mark.parametrize("variant", VECTORS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    graph = pipeline.to_graph(pipeline.load(folder(variant)), None)
    assert isinstance(graph.task, MultiVector)
    interpreter = Interpreter(graph)
    for text in read_recorded(variant):
        found = interpreter.output(text.ids, text.segments)[graph.task.document.kept(text.ids)]
        assert found.shape == text.float64.shape
        assert np.abs(found - text.float64).max() < 1e-12
    for read, kept, vectors in cases(variant):
        found = interpreter.output(read.ids, read.segments, read.keys)[kept]
        assert found.shape == vectors.shape
        assert np.abs(found - vectors).max() < 1e-12 * max(1, np.abs(vectors).max())


@pytest.mark.parametrize("recipe", ["fp32", "w8a8", "w4a8"])
@pytest.mark.parametrize("variant", VECTORS)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    program = pipeline.lower(pipeline.load(folder(variant)), recipe, None)
    texts, kept, vectors = zip(*cases(variant), strict=True)
    outputs = emulate_texts(program, texts)
    alone = [emulate_texts(program, [text])[0] for text in texts]
    assert [rows.tobytes() for rows in outputs] == [rows.tobytes() for rows in alone]
    found = [rows[which] for rows, which in zip(outputs, kept, strict=True)]
    if recipe != "fp32":
        oracle = RoundedWeights(pipeline.to_graph(pipeline.load(folder(variant)), None), choose_recipe(recipe, 8, None))
        meant = [oracle.output(t.ids, t.segments, t.keys)[which] for t, which in zip(texts, kept, strict=True)]
        assert max(np.abs(f - m).max() for f, m in zip(found, meant, strict=True)) < RoundedWeights.bound(meant)
    if recipe != "w4a8":
        bound = 1e-4 if recipe == "fp32" else max(np.abs(rows).max() for rows in vectors) / 2
        assert max(np.abs(f - v).max() for f, v in zip(found, vectors, strict=True)) < bound


@pytest.mark.parametrize("variant", VECTORS)
def test_scores_are_max_sim(variant: str) -> None:
    said = texts_of(variant)
    queries, documents = ([np.array(rows) for _, rows in said[side]] for side in SIDES)
    for query, scores in zip(queries, said["scores"], strict=True):
        for document, expected in zip(documents, scores, strict=True):
            assert abs(max_sim(query, document) - expected) < 1e-12 * max(1, abs(expected))
    assert max_sim(queries[0], documents[0][:0]) == -1e9


def test_a_table_is_judged_by_max_sim(tmp_path: Path) -> None:
    variant = "vectors/bert"
    checkpoint = pipeline.load(folder(variant))
    program = pipeline.lower(checkpoint, "fp32", None)
    said = texts_of(variant)
    pairs = [(i, j) for i in range(len(said["query"])) for j in range(len(said["document"]))]
    path = tmp_path / "rows.tsv"
    path.write_text(
        "".join(f"{said['scores'][i][j]!r}\t{said['query'][i][0]}\t{said['document'][j][0]}\n" for i, j in pairs)
    )
    rows = read_rows(path, Columns(), program.task, 100)
    found = score(program, checkpoint.tokenizer, rows)
    assert len(encoded(program, checkpoint.tokenizer, rows)) == 2 * len(pairs)
    assert np.abs(found.answers[:, 0] - [said["scores"][i][j] for i, j in pairs]).max() < 1e-4
    assert found.value > 0.99


def test_reports() -> None:
    assert reported_task("vectors/bert") == (
        "vectors of 6 values for each token, normalized, 2 tokens left out of documents, queries filled up to 9 tokens "
        "that are not attended to"
    )
    assert reported_task("vectors/roberta") == (
        "vectors of 6 values for each token, normalized, 0 tokens left out of documents"
    )


def test_queries_have_room(tmp_path: Path) -> None:
    assert pipeline.to_graph(pipeline.load(folder("vectors/bert")), 9).max_tokens == 9
    with pytest.raises(EtchError, match="queries are filled up to 9 tokens, texts have at most 8") as caught:
        pipeline.to_graph(pipeline.load(folder("vectors/bert")), 8)
    assert caught.value.code == "max-tokens-out-of-range"


def test_what_is_not_there(tmp_path: Path) -> None:
    assert_gpus_refuse("vectors/bert", tmp_path)
    (tmp_path / "rows.tsv").write_text("1\ta\tb\n2\tb\ta\n")
    (tmp_path / "corpus.txt").write_text("the cat\n" * 9)
    evaluated = Evaluate(tmp_path / "rows.tsv")
    same = folder("vectors/bert")
    for options, code in (
        ({"evaluate": evaluated, "limits": Limits(flash=1 << 30)}, "budget-not-supported"),
        ({"prune": Prune(tmp_path / "corpus.txt", 1)}, "vocabulary-tied"),
        ({"heads": (HeadFolder("first", same), HeadFolder("second", same))}, "head-not-supported"),
        ({"task": "zero-shot"}, "option-conflict"),
    ):
        with pytest.raises(EtchError) as caught:
            pipeline.generate(pipeline.Request(same, tmp_path / "out", **options), lambda _: None)
        assert caught.value.code == code
        assert not (tmp_path / "out").exists()


def test_packages_refuse_it_by_name(tmp_path: Path) -> None:
    pipeline.generate(pipeline.Request(folder("vectors/bert"), tmp_path / "model"), lambda _: None)
    for make in (make_wheel, make_extension, make_site):
        with pytest.raises(EtchError, match="this model's task is embed_each") as caught:
            make(tmp_path / "model", tmp_path / "out", lambda _: None)
        assert caught.value.code == "task-not-supported"
