# SPDX-License-Identifier: Apache-2.0
"""Regression, multi-label and one-label classifiers and embeddings in fp32 against `transformers`, over 7,600 texts.

Outputs are compared with the model's, scores with those of the text-classification pipeline, embeddings with the
arithmetic of sentence-transformers' Pooling and Normalize on BertModel.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import Program
from model_build import build_program
from numpy.typing import NDArray
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

TEXTS = 7600
MOST_ERROR = 1e-4
BATCH = 200
SHAPE: dict[str, Any] = {"hidden": 48, "heads": 4, "layers": 2, "intermediate": 96, "max_positions": 40}
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "three_values": {"labels": 3, "problem_type": "regression"},
    "one_value": {"labels": 1, "problem_type": "regression", "hidden_act": "relu"},
    "multi_label": {"labels": 7, "problem_type": "multi_label_classification", "hidden_act": "gelu_new"},
    "one_label": {"labels": 1, "lowercase": False},
}
EMBEDDINGS: dict[str, dict[str, Any]] = {
    "mean": {"pooling": "mean"},
    "cls": {"pooling": "cls", "normalize": False},
    "max": {"pooling": "max", "lowercase": False},
    "mean_sqrt": {"pooling": "mean_sqrt", "pooler": False},
}


def make_texts() -> list[str]:
    source = random.Random(7)
    words = ["the", "cat", "sat", "on", "mat", "good", "unable", "works", "playing", "café", "Berlin", "xyx", "121"]
    words += ["中国", "ß", ".", ",", "!", "?", "zzz"]
    return [" ".join(source.choices(words, k=source.randrange(45))) for _ in range(TEXTS)]


@dataclass(frozen=True)
class Built:
    """Checkpoints by name, and what the programs print for every text."""

    checkpoints: Path
    answers: dict[str, list[dict[str, Any]]]
    texts: list[str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("tasks")
    texts = make_texts()
    (folder / "texts").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    programs: dict[str, Program] = {}
    for seed, (name, values) in enumerate((CLASSIFIERS | EMBEDDINGS).items()):
        write = write_tiny_sentence_model if name in EMBEDDINGS else write_tiny_checkpoint
        write(folder / "checkpoints" / name, seed=seed, **(SHAPE | values))
        pipeline.generate(pipeline.Request(folder / "checkpoints" / name, folder / name, recipe="fp32"), lambda _: None)
        programs[name] = build_program(folder / name)

    def answers(program: Program) -> list[dict[str, Any]]:
        return program.well("--json", "--file", folder / "texts", timeout=600).objects

    return Built(folder / "checkpoints", {name: answers(program) for name, program in programs.items()}, texts)


def batches(texts: list[str]) -> list[range]:
    return [range(begin, min(begin + BATCH, len(texts))) for begin in range(0, len(texts), BATCH)]


def encode(folder: Path, texts: list[str]) -> Any:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer(texts, truncation=True, max_length=SHAPE["max_positions"], padding=True, return_tensors="pt")


def model_of(kind: str, folder: Path) -> Any:
    load = getattr(transformers, kind).from_pretrained
    return load(folder, dtype=torch.float32, attn_implementation="eager").eval()


def printed(answers: list[dict[str, Any]], key: str) -> NDArray[np.float32]:
    return np.array([answer[key] for answer in answers], np.float32)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_outputs_equal_transformers(name: str, built: Built) -> None:
    key = "values" if CLASSIFIERS[name].get("problem_type") == "regression" else "logits"
    ours = printed(built.answers[name], key)
    model = model_of("AutoModelForSequenceClassification", built.checkpoints / name)
    with torch.inference_mode():
        meant = [
            model(**encode(built.checkpoints / name, [built.texts[i] for i in batch])).logits.numpy()
            for batch in batches(built.texts)
        ]
    difference = np.abs(ours - np.concatenate(meant)).max()
    print(f"{name}: {len(ours)} texts, largest difference {difference:.2e}")
    assert difference <= MOST_ERROR
    assert ours.std(axis=0).min() > 100 * difference  # the texts do differ


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_scores_equal_the_pipelines(name: str, built: Built) -> None:
    folder = built.checkpoints / name
    run = transformers.pipeline(
        "text-classification",
        model=model_of("AutoModelForSequenceClassification", folder),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
        device="cpu",
    )
    labels = [f"label {i}" for i in range(CLASSIFIERS[name]["labels"])]
    key = "values" if CLASSIFIERS[name].get("problem_type") == "regression" else "probabilities"
    chosen = range(0, TEXTS, 76)
    found = run([built.texts[i] for i in chosen], top_k=None, truncation=True, max_length=SHAPE["max_positions"])
    for i, scores in zip(chosen, found, strict=True):
        meant = {score["label"]: score["score"] for score in scores}
        ours = built.answers[name][i][key]
        assert np.abs(np.array(ours) - [meant[label] for label in labels]).max() <= MOST_ERROR


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embeddings_equal_transformers(name: str, built: Built) -> None:
    ours = printed(built.answers[name], "embedding")
    folder = built.checkpoints / name
    model = model_of("AutoModel", folder)
    meant = []
    with torch.inference_mode():
        for batch in batches(built.texts):
            inputs = encode(folder, [built.texts[i] for i in batch])
            tokens = model(**inputs).last_hidden_state
            meant.append(pooled(name, tokens, inputs["attention_mask"]).numpy())
    difference = np.abs(ours - np.concatenate(meant)).max()
    print(f"{name}: {len(ours)} texts, largest difference {difference:.2e}")
    assert difference <= MOST_ERROR


def pooled(name: str, tokens: Any, mask: Any) -> Any:
    """As sentence_transformers.models.Pooling and Normalize compute it."""
    spread = mask.unsqueeze(-1).expand(tokens.size()).to(tokens.dtype)
    sums, count = torch.sum(tokens * spread, 1), torch.clamp(spread.sum(1), min=1e-9)
    pooling = EMBEDDINGS[name]["pooling"]
    if pooling == "cls":
        result = tokens[:, 0]
    elif pooling == "max":
        result = torch.max(tokens.masked_fill(spread == 0, -1e9), 1)[0]
    else:
        result = sums / (count if pooling == "mean" else torch.sqrt(count))
    normalized = EMBEDDINGS[name].get("normalize", True)
    return torch.nn.functional.normalize(result, p=2, dim=1) if normalized else result
