# SPDX-License-Identifier: Apache-2.0
"""tools/train/tokens on a tiny encoder: it learns, a run that was interrupted ends with the same weights, and what it
measures is what the generator's arithmetic gives. Skipped without PyTorch."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT
from finetune_recipe import TIMEOUT, WORDS
from tiny_checkpoint import write_tiny_checkpoint

from codegen import evaluate, pipeline
from codegen.files.table_file import Columns

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

RECIPE = ROOT / "tools" / "train" / "tokens" / "tokens.py"
FAST = ("--threads", "1", "--steps", "80", "--rate", "0.01", "--freeze", "nothing")


def recipe(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """One run."""
    return subprocess.run(
        [sys.executable, RECIPE, *arguments],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def texts(count: int, seed: int) -> list[list[str]]:
    """Eight words, one of them `good`."""
    rng = random.Random(seed)
    found = [[rng.choice(WORDS) for _ in range(8)] for _ in range(count)]
    for words in found:
        words[rng.randrange(8)] = "good"
    return found


def write_tags(path: Path, count: int, seed: int) -> Path:
    """`good` is an entity, with the `works` behind it where there is one: a word of two tokens."""
    lines = []
    for words in texts(count, seed):
        words[-1] = "works"
        tags = ["B-thing" if w == "good" else "I-thing" if w == "works" else "O" for w in words]
        lines += [f"{word}\t{tag}" for word, tag in zip(words, tags, strict=True)] + [""]
    path.write_text("\n".join(lines))
    return path


def write_questions(path: Path, count: int, seed: int) -> Path:
    """The answer is `good`; the contexts hold it once."""
    rows = [{"question": "the cat ?", "context": " ".join(words), "answer": "good"} for words in texts(count, seed)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize(
    ("task", "write", "ending", "figure", "arithmetic"),
    [
        ("tag", write_tags, "conll", "entity F1", ()),
        ("answer", write_questions, "jsonl", "F1", ()),
        ("answer", write_questions, "jsonl", "F1", ("--bfloat16",)),
    ],
)
def test_what_is_trained_is_what_the_generator_computes(
    tmp_path: Path, task: str, write: object, ending: str, figure: str, arithmetic: tuple[str, ...]
) -> None:
    write_tiny_checkpoint(tmp_path / "tiny", hidden=32, intermediate=64)
    train, test = (write(tmp_path / f"{seed}.{ending}", count, seed) for count, seed in ((200, 1), (40, 2)))  # type: ignore[operator]
    out = tmp_path / "out"
    done = recipe(task, tmp_path / "tiny", "--train", train, "--out", out, *FAST, *arithmetic, "--max-tokens", "18")
    assert done.returncode == 0, done.stderr
    measured = recipe(task, out, "--evaluate", test, "--threads", "1")
    assert measured.returncode == 0, measured.stderr
    told = float(re.search(rf"{figure} ([0-9.]+) %", measured.stdout)[1])  # type: ignore[index]
    assert told >= 90

    checkpoint = pipeline.load(out)
    assert checkpoint.default_max_tokens == 18
    program = pipeline.lower(checkpoint, "fp32", None)
    rows = evaluate.read_rows(test, Columns(), program.task, 100)
    assert evaluate.score(program, checkpoint.tokenizer, rows).value == pytest.approx(told, abs=0.01)


def test_an_interrupted_run_ends_with_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "train"))
    from common import loop

    monkeypatch.setattr(loop, "KEPT_SECONDS", 0.0)
    rows = torch.arange(40.0).reshape(20, 2) / 40
    steps = loop.Steps(count=9, batch=3, rate=0.1, seed=4)

    def weights(name: str, stops: int | None = None) -> list[float]:
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
        seen = 0

        def loss_of(batch: list[int]) -> torch.Tensor:
            nonlocal seen
            seen += 1
            if seen == stops:
                raise InterruptedError
            return model(rows[batch]).square().mean()

        loop.train(model, [2] * 20, loss_of, steps, tmp_path / name, {})
        return torch.cat([p.detach().flatten() for p in model.parameters()]).tolist()

    with pytest.raises(InterruptedError):
        weights("cut.state", stops=8)  # in the second epoch: an epoch has seven steps
    assert weights("cut.state") == weights("whole.state")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "tiny")
    (tmp_path / "none.jsonl").write_text('{"question": "the", "context": "a cat a cat", "answer": "cat"}')
    done = recipe("answer", tmp_path / "tiny", "--train", tmp_path / "none.jsonl", "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tokens: no question has an answer that its context holds once\n"
    done = recipe("tag", tmp_path / "tiny", "--train", tmp_path / "none.jsonl", "--out", tmp_path / "out")
    assert done.returncode == 1 and "expected a file named .conll" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The recipe's functions; a module of this name is in many recipes."""
    for part in ("", "finetune", "tokens"):
        monkeypatch.syspath_prepend(str(ROOT / "tools" / "train" / part))
    monkeypatch.delitem(sys.modules, "recipe", raising=False)
    import recipe

    monkeypatch.delitem(sys.modules, "recipe")
    return recipe


def test_a_head_of_the_same_shape_is_not_used(own: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
    saved = transformers.BertForTokenClassification(transformers.BertConfig(vocab_size=9, num_labels=3, **sizes))
    saved.save_pretrained(tmp_path / "saved")
    kind = transformers.AutoModelForTokenClassification
    torch.manual_seed(5)
    made = own._model(kind, tmp_path / "saved", ("O", "B-a", "I-a"))
    of_encoder = "encoder.layer.0.output.dense.weight"
    assert torch.equal(made.bert.get_parameter(of_encoder), saved.bert.get_parameter(of_encoder))
    assert not torch.isclose(made.classifier.weight, saved.classifier.weight).any()
    assert 0 < made.classifier.weight.detach().abs().max() < 0.2 and (made.classifier.bias == 0).all()
    assert made.config.id2label == {0: "O", 1: "B-a", 2: "I-a"}


def test_what_is_frozen_of_an_encoder_that_has_no_module_of_embeddings(own: Any) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.XLNetConfig(vocab_size=9, d_model=8, n_layer=1, n_head=1, d_inner=4)
    for what, live in (
        ("nothing", {"word_embedding", "layer", "head"}),
        ("embeddings", {"layer", "head"}),
        ("encoder", {"head"}),
    ):
        model = transformers.XLNetForTokenClassification(config)
        own.freeze(model, what)
        found = {
            "head" if not name.startswith("transformer.") else name.split(".")[1]
            for name, p in model.named_parameters()
            if p.requires_grad
        }
        assert found - {"mask_emb"} == live, what
