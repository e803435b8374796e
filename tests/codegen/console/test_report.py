# SPDX-License-Identifier: Apache-2.0
"""What generate and inspect print: right numbers, and safe for a terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hostile import HOSTILE
from recorded.outputs import folder as recorded
from tiny_checkpoint import bert_shapes, write_json, write_tiny_checkpoint

from codegen import pipeline
from codegen.console.inspect import Question, inspect
from codegen.evaluate import Rows, Score
from codegen.files.table_file import Row
from codegen.ir.program import S8Matrix
from codegen.ir.task import Measure
from codegen.quantize import RECIPES
from codegen.quantize.channels import quantize_rows
from codegen.report import checkpoint_report, evaluation_report, generation_report, quantization_error
from codegen.tokenizer import UNICODE_TABLE_BYTES, compile_tokenizer


def report(folder: Path, recipe: str = "w8a8", target: str = "host") -> list[str]:
    checkpoint = pipeline.load(folder)
    graph = pipeline.to_graph(checkpoint, None)
    return generation_report(checkpoint, graph, pipeline.make_model("tiny", checkpoint, graph, RECIPES[recipe], target))


def line(lines: list[str], key: str) -> str:
    (found,) = [text for text in lines if text.startswith(key)]
    return found


def test_what_was_found(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, layers=2)
    shapes = bert_shapes(hidden=10, layers=2, intermediate=37, labels=3, max_positions=32, type_vocab=2, vocab_size=45)
    parameters = sum(int(np.prod(shape)) for shape in shapes.values())
    lines = report(tmp_path)
    assert line(lines, "model") == f"model        bert, 2 layers, hidden 10, 2 heads, {parameters:,} parameters"
    assert "3 labels: label 0, label 1, label 2" in line(lines, "task")
    assert "up to 32 tokens" in line(lines, "inputs")
    assert "45 entries, uncased" in line(lines, "vocabulary")
    assert pipeline.load(tmp_path).digest in line(lines, "checkpoint")


@pytest.mark.parametrize(
    "variant", ["t5/mean", "gemma3_text/mean", "mobilebert/softmax", "electra/projected", "gru/no_bias"]
)
def test_hidden_is_the_width_of_rows(variant: str) -> None:
    """Not that of all heads of an attention, nor of an embedding."""
    checkpoint = pipeline.load(recorded(variant))
    config = checkpoint.config.values
    hidden = config.get("d_model", config.get("hidden_size"))
    assert f", hidden {hidden}, " in checkpoint_report(checkpoint, pipeline.to_graph(checkpoint, None))[0]


def test_memory_lines_are_the_plans(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    checkpoint = pipeline.load(tmp_path)
    graph = pipeline.to_graph(checkpoint, None)
    model = pipeline.make_model("tiny", checkpoint, graph, RECIPES["w8a8"], "m-profile")
    lines = generation_report(checkpoint, graph, model)
    plan = model.plan
    assert f"{plan.arena_bytes:,} bytes (lower bound {plan.lower_bound:,}, gap " in line(lines, "arena")
    assert f"blocks of {plan.row_block} rows" in line(lines, "arena")
    tables = sum(-(-table.bytes // 16) * 16 for table in model.tables)
    assert line(lines, "tables").startswith(f"tables       {tables:,} bytes: weights ")
    assert "m-profile (rows packing)" in line(lines, "recipe")


def test_bytes_of_tokenizer_per_piece(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    own = compile_tokenizer(pipeline.load(tmp_path).tokenizer).constants["table_bytes"]
    assert line(report(tmp_path), "  tokenizer") == (
        f"  tokenizer  {own / 45:.2f} bytes a piece; with the {UNICODE_TABLE_BYTES:,} bytes of Unicode tables in "
        f"libetch.a {(own + UNICODE_TABLE_BYTES) / 45:.2f}"
    )


def test_evaluation_beside_what_the_model_was_made_from() -> None:
    rows = Rows(tuple(Row(i, "0", ("text",)) for i in range(4)), np.zeros(4, int), 10, Measure("accuracy", True))
    accuracy = Measure("accuracy", percent=True)
    scores = [Score(accuracy, 75.0, np.array([0, 0, 0, 1]), 2.0), Score(accuracy, 100.0, np.zeros(4, int), 2.0)]
    assert evaluation_report(rows, scores[0], {"nearest": scores[0], "unpruned": scores[1]}) == [
        "evaluation   accuracy 75.00 % on 4 of 10 rows, evenly spaced (emulated, 2 rows/s)",
        "  nearest    accuracy 75.00 %; 0 rows answered otherwise",
        "  unpruned   accuracy 100.00 %; 1 rows answered otherwise",
    ]
    assert evaluation_report(replace(rows, total=4), scores[1], {}) == [
        "evaluation   accuracy 100.00 % on all 4 rows (emulated, 2 rows/s)"
    ]


def test_a_line_for_each_8_bit_tensor(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, layers=2)
    lines = report(tmp_path)
    shapes = bert_shapes(hidden=10, layers=2, intermediate=37, labels=3, max_positions=32, type_vocab=2, vocab_size=45)
    expected = {name for name, shape in shapes.items() if len(shape) == 2 and name != "classifier.weight"}
    printed = [text.split()[0] for text in lines if text.startswith("  bert")]
    assert sorted(printed) == sorted(expected)
    assert report(tmp_path, "fp32")[-1].split() == ["tensors", "kept", "as", "float32"]


def test_quantization_error_by_hand() -> None:
    original = np.array([[1.0, 0.5, -0.25], [0.0, 0.0, 0.0]], np.float32)
    matrix = S8Matrix(np.array([[127, 64, -32], [0, 0, 0]], np.int8), np.array([1 / 127, 0], np.float32))
    exact = matrix.q * matrix.scales[:, None].astype(np.float64) - original
    largest, relative = quantization_error(matrix, original)
    assert largest == pytest.approx(np.abs(exact).max(), rel=1e-12)
    assert relative == pytest.approx(np.linalg.norm(exact) / np.linalg.norm(original.astype(np.float64)), rel=1e-12)
    assert quantization_error(S8Matrix(matrix.q * 0, matrix.scales * 0), original * 0) == (0.0, 0.0)


def test_quantization_error_is_at_most_half_a_step() -> None:
    original = np.random.default_rng(5).standard_normal((5000, 7)).astype(np.float32)
    matrix = quantize_rows(original)
    assert 0 < quantization_error(matrix, original)[0] <= 0.5001 * matrix.scales.max()


def test_hostile_labels_are_harmless_on_a_terminal(tmp_path: Path) -> None:
    labels = [label for label in dict.fromkeys(HOSTILE) if label != "\ud800"]
    write_tiny_checkpoint(tmp_path, labels=len(labels))
    config = json.loads((tmp_path / "config.json").read_text())
    for begin in range(0, len(labels), 12):  # only the first twelve are shown
        shown = labels[begin:] + labels[:begin]
        config["id2label"] = {str(index): label for index, label in enumerate(shown)}
        config["label2id"] = {label: index for index, label in enumerate(shown)}
        write_json(tmp_path / "config.json", config)
        checkpoint = pipeline.load(tmp_path)
        for text in checkpoint_report(checkpoint, pipeline.to_graph(checkpoint, None)):
            assert text.isprintable()
            assert len(text) < 1000


def test_inspect_forecasts_what_generate_makes(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "model", hidden=36, heads=3, layers=2)
    before = sorted(tmp_path.rglob("*"))
    lines: list[str] = []
    inspect(Question(tmp_path / "model"), lines.append)
    assert sorted(tmp_path.rglob("*")) == before
    forecasts = [text.split() for text in lines if text.startswith("forecast")]
    assert len(forecasts) == 8
    for words in forecasts:
        made = report(tmp_path / "model", words[1], words[2])
        assert line(made, "tables").split()[1] == words[4]
        assert line(made, "arena").split()[1] == words[7]
