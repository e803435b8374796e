# SPDX-License-Identifier: Apache-2.0
"""Programs of the recorded SparseEncoder folders: in floats the weights of the library, in every recipe and on
every kernel the emulator's bits; batches, steps, workers, token ids and the C functions give what single texts give."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from correlations import pearson, spearman
from evaluation_report import evaluated
from model_build import build_program
from recorded.outputs import folder
from recorded_tasks import check_bits_on_every_kernel, compare_calls, generated, models_of, recorded_cases, variants_of

from codegen.ir.task import Task
from codegen.verification.verify import verify

QUICK = {
    "sparse/bert": ("fp32", "w8a8"),
    "sparse/roberta": ("fp32", "w4a8"),
    "sparse/routed": ("w8a8",),
}


def texts_of(variant: str) -> list[str]:
    return [case["text"] for case in recorded_cases(variant)]


def weights(program: Program, text: str, *options: str) -> list[dict[str, Any]]:
    return program.well("--json", *options, "--", text).objects[0]["weights"]


@pytest.mark.parametrize("variant", variants_of("sparse", QUICK))
def test_weights_are_those_of_the_library(variant: str, shared: Path) -> None:
    program = build_program(generated(variant, "fp32", shared))
    for case in recorded_cases(variant):
        check_weights(weights(program, case["text"]), case["weights"])
        if "query" in case:
            check_weights(weights(program, case["text"], "--query"), case["query"])


def check_weights(weighed: list[dict[str, Any]], recorded: list[tuple[int, float]]) -> None:
    found, meant = {entry["id"]: entry["weight"] for entry in weighed}, dict(recorded)
    for i in found.keys() | meant.keys():
        assert abs(found.get(i, 0.0) - meant.get(i, 0.0)) < 1e-5 * max(1, *meant.values())


@pytest.mark.parametrize(("variant", "recipe"), models_of("sparse", QUICK))
def test_bits_on_every_kernel(variant: str, recipe: str, shared: Path) -> None:
    def answer(program: Program, task: Task, text: str, *options: str) -> dict[str, Any]:
        return {"weights": weights(program, text, *options)}

    check_bits_on_every_kernel(variant, recipe, shared, texts_of(variant), answer)


@pytest.mark.parametrize(("variant", "recipe", "target"), [
    ("sparse/bert", "w8a8", "host"),
    ("sparse/routed", "w8a8", "host"),
    pytest.param("sparse/routed_top", "w4a8", "m-profile", marks=pytest.mark.sweep),
    pytest.param("sparse/roberta", "w4a8", "m-profile", marks=pytest.mark.sweep),
    pytest.param("sparse/distilbert", "fp32", "host", marks=pytest.mark.sweep),
])  # fmt: skip
def test_every_call_finds_the_same(variant: str, recipe: str, target: str, shared: Path, tmp_path: Path) -> None:
    compare_calls(generated(variant, recipe, shared, target), "sparse_calls.cpp", texts_of(variant), tmp_path)


@pytest.fixture(scope="module")
def program(shared: Path) -> Program:
    return build_program(generated("sparse/bert", "w8a8", shared))


def test_the_program_of_its_name(program: Program) -> None:
    assert program.path.name == "embed-sparse-bert_w8a8_host"
    text = program.well("--help").out.decode()
    assert text.endswith(", 20 tokens at most, weights of 64 entries of its vocabulary\n")


def test_lines_threads_and_batches(program: Program, tmp_path: Path) -> None:
    texts = texts_of("sparse/bert")
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    alone = [program.well("--json", "--", text).objects[0] for text in texts]
    assert [list(answer) for answer in alone] == [["weights", "tokens", "truncated"]] * len(texts)
    for options in ((), ("--threads", "2")):
        assert program.well("--json", "--file", path, *options).objects == alone
    for text, answer in zip(texts, alone, strict=True):
        for options, shown in (((), 5), (("--top", "2"), 2), (("--top", "1000"), len(answer["weights"]))):
            (line,) = program.well(*options, "--", text).lines
            first = answer["weights"][:shown]
            assert line.split("\t") == [field for w in first for field in (w["token"], f"{w['weight']:.4f}")]
        assert weights(program, text, "--top", "3") == answer["weights"][:3]
    assert program.well("--json", "--pair", "the cat", "sat").objects[0]["tokens"] == 6


def product(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> float:
    """In float64."""
    other = {entry["id"]: entry["weight"] for entry in second}
    return sum(entry["weight"] * other.get(entry["id"], 0.0) for entry in first)


@pytest.mark.parametrize("variant", ["sparse/bert", "sparse/routed"])
def test_similarity_and_evaluation(variant: str, shared: Path, tmp_path: Path) -> None:
    """Of a query and a document, which one of the models reads otherwise."""
    program = build_program(generated(variant, "w8a8", shared))
    texts = [text.strip() for text in texts_of(variant) if text]
    pairs = list(itertools.combinations(texts, 2))
    products = [product(weights(program, first, "--query"), weights(program, second)) for first, second in pairs]
    (said,) = program.well("--json", "--similarity", *pairs[1]).objects
    assert said["similarity"] == pytest.approx(products[1], rel=1e-6)
    scores = [float(index * index % 7) for index in range(len(pairs))]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{s}\t{a}\t{b}\n" for s, (a, b) in zip(scores, pairs, strict=True)), encoding="utf-8")
    out = evaluated(program, path)[0].out.decode()
    assert f"Spearman: {spearman(np.array(scores), np.array(products)):.6g}\n" in out
    assert f"Pearson: {pearson(np.array(scores), np.array(products)):.6g}\n" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--top", "0", "a"), "--top: expected a number from 1"),
        (("--score", "a"), "which embeds texts sparsely"),
        (("--labels", "names", "a"), "--labels does not go with model"),
        (("--pairs", "--evaluate", "a.tsv"), "--pairs does not go with --evaluate here"),
        (("--query", "--pair", "a", "b"), "--query and --pair cannot be used together"),
    ],
)
def test_wrong_use(program: Program, arguments: tuple[str, ...], words: str) -> None:
    assert words in program.refused(2, *arguments)


def test_queries_of_a_table(shared: Path, tmp_path: Path) -> None:
    """In lines, on threads and one by one; specials that a query spells are tokens of it, those around it are not."""
    program = build_program(generated("sparse/routed", "w8a8", shared))
    texts = [*texts_of("sparse/routed"), "cat cat the cat", "[SEP] cat", "cat [MASK]"]
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    alone = [program.well("--json", "--query", "--", text).objects[0] for text in texts]
    for options in ((), ("--threads", "2")):
        assert program.well("--json", "--query", "--file", path, *options).objects == alone
    assert [answer["truncated"] for answer in alone[:4]] == [False, False, True, True]
    assert all(answer["tokens"] <= 9 for answer in alone)
    assert alone[1]["weights"] == []
    repeated = {entry["token"]: entry["weight"] for entry in alone[4]["weights"]}
    assert repeated == {entry["token"]: entry["weight"] for entry in weights(program, "the cat", "--query")}
    assert alone[2] != program.well("--json", "--", texts[2]).objects[0]


def test_a_query_of_a_model_without_a_table_is_a_text(program: Program) -> None:
    for text in texts_of("sparse/bert"):
        assert weights(program, text, "--query") == weights(program, text)


def test_hostile_texts(program: Program) -> None:
    for text in ("[MASK]" * 1000, "cat " * 300_000, "\u0301" * 50_000, "[CLS] cat [SEP]"):
        found = [w["weight"] for w in program.well("--json", stdin=text.encode() + b"\n").objects[0]["weights"]]
        assert sorted(found, reverse=True) == found
        assert min(found) > 0
    program.well("--json", stdin=b"\xc3 cat \xff\n")


def test_a_plain_masked_language_model(shared: Path) -> None:
    """With `--task sparse` as with a folder that says the usual pooling."""
    program = build_program(generated("masks/electra", "fp32", shared, task="sparse"))
    assert program.path.name.startswith("embed-sparse-")
    assert weights(program, "the cat sat")


def test_verify_and_the_self_test(shared: Path) -> None:
    out = generated("sparse/bert", "w8a8", shared)
    program = build_program(out)
    said: list[str] = []
    assert verify(out, folder("sparse/bert"), None, said.append, find_program=lambda *_: program.path) == 0, said
    assert any(line.startswith("contract     0 with weights other") for line in said), said
    program.well("--self-test")
