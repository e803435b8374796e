# SPDX-License-Identifier: Apache-2.0
"""The AG News models in every recipe over the 7,600 test rows: accuracy, bits, closeness to `transformers`."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT
from generator_program import etch
from model_build import build_program
from numpy.typing import NDArray
from public_data import data_folder, models_folder
from sampling import sampled

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.ir.text import Text

pytestmark = [pytest.mark.sweep, pytest.mark.minutes(9)]

ROWS = 7600
LEAST_ACCURACY = {"agnews": 91.0, "agnews_small": 90.0}  # per cent, w8a8
MOST_LOST = {"w8a8": 0.3, "w7a8": 0.3, "w4a8": 1.0}  # points, from fp32
MOST_FP32_ERROR = 1e-4  # logits, against transformers on PyTorch fp32
NEAR_TIE = 2e-4  # logits; below this fp32 may choose the other label
EMULATED_ROWS = sampled(range(0, ROWS, 40), 40, "emulated rows")
BATCH = 64
PATIENCE = 1800  # seconds; for every row on a machine that does other things too


@pytest.fixture(scope="module")
def rows() -> tuple[list[str], NDArray[np.int64]]:
    """Texts (title, a space, description) and labels from 0."""
    path = data_folder() / "ag_news" / "test.csv"
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    assert len(table) == ROWS
    texts = [f"{title} {description}" for _, title, description in table]
    assert not any("\n" in text for text in texts)
    return texts, np.array([int(label) - 1 for label, _, _ in table])


@pytest.fixture(scope="module")
def texts_file(rows: tuple[list[str], NDArray[np.int64]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "texts.txt"
    path.write_text("\n".join(rows[0]) + "\n", encoding="utf-8")
    return path


class Built:
    """A checkpoint generated and built in every recipe, and the logits of every row."""

    def __init__(self, name: str, checkpoint: Path, folder: Path, texts: Path) -> None:
        self.name = name
        self.checkpoint = checkpoint
        self.logits: dict[str, NDArray[np.float32]] = {}
        for recipe in (*MOST_LOST, "fp32"):
            out = folder / f"model_{recipe}"
            done = etch("generate", checkpoint, "--out", out, "--recipe", recipe)
            assert done.code == 0, done.err
            answers = build_program(out).well("--json", "--file", texts, timeout=PATIENCE).objects
            self.logits[recipe] = np.array([answer["logits"] for answer in answers], np.float32)
            assert self.logits[recipe].shape == (ROWS, 4)

    def accuracy(self, recipe: str, labels: NDArray[np.int64]) -> float:
        return 100.0 * float((self.logits[recipe].argmax(axis=1) == labels).mean())


@pytest.fixture(
    scope="module",
    params=[
        *sampled([*LEAST_ACCURACY], 1, "models of rows"),
        pytest.param("minilm_l6_agnews", marks=pytest.mark.long_case("minilm's rows")),
    ],
)
def built(request: pytest.FixtureRequest, texts_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    if request.param in LEAST_ACCURACY:
        checkpoint = ROOT / "tools" / "train" / request.param / "checkpoint"
    else:
        checkpoint = models_folder() / request.param
    return Built(request.param, checkpoint, tmp_path_factory.mktemp(request.param), texts_file)


@pytest.mark.parametrize("recipe", MOST_LOST)
def test_integers_keep_the_accuracy_of_fp32(
    built: Built, rows: tuple[list[str], NDArray[np.int64]], recipe: str
) -> None:
    integers, fp32 = (built.accuracy(each, rows[1]) for each in (recipe, "fp32"))
    changed = int((built.logits[recipe].argmax(axis=1) != built.logits["fp32"].argmax(axis=1)).sum())
    print(f"{built.name}: {recipe} {integers:.2f} %, fp32 {fp32:.2f} %, {changed} labels changed")
    assert abs(fp32 - integers) <= MOST_LOST[recipe]


def test_own_models_are_accurate(built: Built, rows: tuple[list[str], NDArray[np.int64]]) -> None:
    if built.name not in LEAST_ACCURACY:
        pytest.skip("the bars are for this project's own models")
    assert built.accuracy("w8a8", rows[1]) >= LEAST_ACCURACY[built.name]


@pytest.mark.parametrize("recipe", MOST_LOST)
def test_integers_have_the_bits_of_the_emulator(
    built: Built, rows: tuple[list[str], NDArray[np.int64]], recipe: str
) -> None:
    from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

    checkpoint = pipeline.load(built.checkpoint)
    program = pipeline.lower(checkpoint, recipe, None)
    tokenizer = text_tokenizer(checkpoint.tokenizer, program.max_tokens)
    for row in EMULATED_ROWS:
        encoding = tokenizer.encode(rows[0][row])
        emulated = emulate_texts(program, [Text(encoding.ids, encoding.type_ids)])[0]
        assert emulated.tobytes() == built.logits[recipe][row].tobytes(), f"row {row}"


def test_fp32_equals_transformers(built: Built, rows: tuple[list[str], NDArray[np.int64]]) -> None:
    meant = transformers_logits(built.checkpoint, rows[0])
    difference = np.abs(built.logits["fp32"] - meant)
    print(f"{built.name}: fp32 against transformers: max {difference.max():.2e}, mean {difference.mean():.2e}")
    assert difference.max() <= MOST_FP32_ERROR
    second, first = np.sort(meant, axis=1)[:, -2:].T
    clear = first - second > NEAR_TIE
    assert (built.logits["fp32"].argmax(axis=1) == meant.argmax(axis=1))[clear].all()


def transformers_logits(checkpoint: Path, texts: list[str]) -> NDArray[np.float32]:
    """Logits of `transformers` on PyTorch fp32, eager attention, texts cut as the generated model cuts them."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    loaded = pipeline.load(checkpoint)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        checkpoint, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    logits = np.empty((len(texts), model.config.num_labels), np.float32)
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    with torch.inference_mode():
        for begin in range(0, len(order), BATCH):
            part = order[begin : begin + BATCH]
            inputs = tokenizer(
                [texts[index] for index in part],
                truncation=True,
                max_length=loaded.default_max_tokens,
                padding=True,
                return_tensors="pt",
            )
            logits[part] = model(**inputs).logits.numpy()
    return logits
