# SPDX-License-Identifier: Apache-2.0
"""Random checkpoints of many shapes and every task, generated, built and run: on every kernel the emulator's bits.

The quick set covers each property once; the sweep adds combinations.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from cpu import cpu_flags
from model_build import build_program
from rounded_weights import RoundedWeights
from shape_models import (
    MODELS,
    QUICK,
    QUICK_SET,
    RECIPES,
    SHAPES,
    TABLES,
    TESTED,
    Case,
    Model,
    case_of,
    each,
    generated,
    twin_key,
)
from tiny_sentence import POOLINGS

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.emulate.polynomials import sigmoid
from codegen.frontends.shared.parts import ACTIVATIONS
from codegen.ir.task import Task
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.bert import Reference
from codegen.oracle.interpret import Interpreter
from codegen.quantize import choose_recipe
from codegen.quantize.bits import parse_bits
from codegen.targets import TARGETS
from codegen.tasks import verbs
from codegen.tasks.classification import Classification

pytestmark = pytest.mark.minutes(5)

# Of the fp32 recipe, as `verify` demands of real models.
LARGEST_DIFFERENCE = 1e-4


# --- models, built when they are first asked for ---------------------------------------------------------------------


Find = Callable[[Model], tuple[Program, Case]]


@pytest.fixture(scope="session")
def find(shared: Path) -> Find:
    """Program and case of a model."""
    return lambda model: (build_program(generated(model, shared)), case_of(model, shared))


# --- oracles ---------------------------------------------------------------------------------------------------------


def inputs(case: Case) -> list[tuple[list[int], list[int], bool]]:
    """Ids, segments and whether something was cut, by the `tokenizers` wheel: of the texts, then of the pairs."""
    tokenizer = text_tokenizer(pipeline.load(case.checkpoint).tokenizer, case.max_tokens)
    encodings = [tokenizer.encode(text.decode()) for text in case.texts]
    encodings += [tokenizer.encode(*pair) for pair in case.pairs]
    return [(list(e.ids), list(e.type_ids), bool(e.overflowing)) for e in encodings]


def answers(program: Program, case: Case, tmp_path: Path, *options: str) -> list[dict[str, Any]]:
    """What the program prints for the texts and the pairs."""
    (tmp_path / "texts").write_bytes(b"".join(text + b"\n" for text in case.texts))
    (tmp_path / "pairs").write_bytes(b"".join(f"{a}\t{b}\n".encode() for a, b in case.pairs))
    printed = program.well("--json", *options, "--file", tmp_path / "texts").objects
    if case.pairs:
        printed += program.well("--json", *options, "--pairs", "--file", tmp_path / "pairs").objects
    return printed


def output(answer: dict[str, Any]) -> np.ndarray:
    """What the program prints of the model's outputs; 9 digits name one float32."""
    (key,) = {"logits", "values", "embedding"} & set(answer)
    return np.array(answer[key], np.float32)


def kernels(program: Program) -> list[str]:
    return program.well("--kernel", "list").lines


# --- tests -----------------------------------------------------------------------------------------------------------


@each(TESTED)
def test_every_kernel_gives_the_emulators_bits(model: Model, find: Find, tmp_path: Path) -> None:
    program, case = find(model)
    expected = emulate_texts(case.program, [Text(ids, segments) for ids, segments, _ in inputs(case)])
    assert np.isfinite(expected).all()
    assert len(np.unique(expected, axis=0)) > len(expected) // 3  # the texts do get different answers
    usable = kernels(program)
    assert "scalar" in usable
    for kernel in usable:
        printed = answers(program, case, tmp_path, "--kernel", kernel)
        for answer, meant, (ids, _, cut) in zip(printed, expected, inputs(case), strict=True):
            got = output(answer)
            assert got.tobytes() == meant.tobytes(), (kernel, len(ids), got[:5], meant[:5])
            assert (answer["tokens"], answer["truncated"]) == (len(ids), cut)
            check_labels(case.program.task, answer, meant)
        # Lines go in batches, which threads share out; of a pair they share the ops.
        assert answers(program, case, tmp_path, "--kernel", kernel, "--threads", "3") == printed


def check_labels(task: Task, answer: dict[str, Any], logits: np.ndarray) -> None:
    if not isinstance(task, Classification):
        assert "label" not in answer
        return
    assert answer["label"] == task.labels[int(np.argmax(logits))]
    if task.activation == "sigmoid":
        probabilities = sigmoid(logits)
        assert np.array(answer["probabilities"], np.float32).tobytes() == probabilities.tobytes()
        assert answer["labels"] == [name for name, p in zip(task.labels, probabilities, strict=True) if p >= 0.5]


@each(TESTED)
def test_self_test(model: Model, find: Find) -> None:
    program, _ = find(model)
    for kernel in kernels(program):
        assert program.well("--self-test", "--kernel", kernel).lines == ["ok"]


@each([model for model in TESTED if model.recipe == "fp32"])
def test_fp32_is_close_to_the_checkpoints_meaning(model: Model, find: Find, tmp_path: Path) -> None:
    program, case = find(model)
    assert distance(program, case, meaning(case, case.oracle), tmp_path) <= LARGEST_DIFFERENCE


@each([model for model in TESTED if model.recipe != "fp32"])
def test_integers_are_close_to_what_their_weights_mean(model: Model, find: Find, tmp_path: Path) -> None:
    program, case = find(model)
    graph = pipeline.to_graph(pipeline.load(case.checkpoint), None)
    bits = parse_bits(model.bits) if model.bits else {}
    meant = meaning(case, RoundedWeights(graph, choose_recipe(model.recipe, model.embedding_bits, bits)))
    assert distance(program, case, meant, tmp_path) <= RoundedWeights.bound(meant)


def meaning(case: Case, oracle: Reference | Interpreter) -> list[np.ndarray]:
    """What an oracle says of the texts, then of the pairs."""
    return [oracle.output(ids, segments) for ids, segments, _ in inputs(case)]


def distance(program: Program, case: Case, meant: list[np.ndarray], tmp_path: Path) -> float:
    """Largest difference of what is printed from what is meant."""
    printed = answers(program, case, tmp_path)
    return max(float(np.abs(output(a) - m).max()) for a, m in zip(printed, meant, strict=True))


def twins() -> list[tuple[Model, Model]]:
    """Models that differ in packing or table form only: their answers must be the same text."""
    found: dict[tuple[object, ...], list[Model]] = {}
    for model in TESTED:
        found.setdefault(twin_key(model), []).append(model)
    return [(group[0], other) for group in found.values() for other in group[1:]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(a, b, id=f"{a.name}-{b.name}", marks=() if {a, b} <= QUICK_SET else pytest.mark.sweep)
        for a, b in twins()
    ],
)
def test_packing_and_table_form_do_not_matter(one: Model, other: Model, find: Find, tmp_path: Path) -> None:
    both = [answers(*find(model), tmp_path) for model in (one, other)]
    assert json.dumps(both[0]) == json.dumps(both[1])


def test_the_matrix_covers_what_it_should(find: Find) -> None:
    """Several row blocks, several attention tiles, the vector kernels of this machine, each activation function."""
    program, case = find(Model("blocks"))
    assert case.row_block < case.max_tokens
    assert case.max_tokens > TARGETS["host"].attention_tile_rows
    assert case.max_tokens % case.row_block not in (0, case.row_block)
    _, small = find(Model("ten", target="m-profile"))
    assert small.row_block < small.max_tokens
    for name in ("avx2", "avx512_vnni"):
        if name in cpu_flags():
            assert name in kernels(program)
    # test_VERB_programs.py of each
    elsewhere = {
        "tagging",
        "fill_mask",
        "sparse_embedding",
        "multi_vector",
        "answering",
        "next_sentence",
        "multiple_choice",
        "zero_shot",
        "translation",
        "summarization",
        "generation",
        "several",  # test_several_heads.py
    }
    assert {case.program.task.name for case in (find(model)[1] for model in QUICK)} == set(verbs()) - elsewhere
    assert {SHAPES[model.shape].get("pooling") for model in QUICK if model.shape in SHAPES} == {None, *POOLINGS}
    assert {SHAPES[model.shape].get("hidden_act", "gelu") for model in MODELS if model.shape in SHAPES} == set(
        ACTIVATIONS
    )
    assert {(model.recipe, model.target, model.tables) for model in MODELS} == {
        (recipe, target, tables) for recipe in RECIPES for target in TARGETS for tables in TABLES
    }
