# SPDX-License-Identifier: Apache-2.0
"""tools/train/pretrain: its masks by counting, a step's loss by hand, and a run on tiny texts whose folder the
generator reads. Skipped without PyTorch."""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT
from tiny_checkpoint import DEFAULT_VOCAB

from codegen import evaluate, pipeline
from codegen.files.table_file import Columns

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

TRAIN = ROOT / "tools" / "train"
CLS, SEP, MASK = 2, 3, 4


@pytest.fixture
def masking(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TRAIN))
    monkeypatch.syspath_prepend(str(TRAIN / "pretrain"))
    import masking

    return masking


def test_fifteen_per_cent_are_asked_for_and_shown_in_three_ways(masking: Any) -> None:
    torch.manual_seed(3)
    ids = torch.randint(5, 1005, (1000, 400))
    ids[:, 0], ids[:, -1] = CLS, SEP
    words = (ids != CLS) & (ids != SEP)
    shown, targets = masking.hide(ids, words, MASK, range(5, 1005))
    asked = targets != masking.NOT_ASKED
    assert not (asked & ~words).any()
    assert (targets[asked] == ids[asked]).all() and (shown[~asked] == ids[~asked]).all()
    count = int(asked.sum())
    assert count / int(words.sum()) == pytest.approx(0.15, abs=0.003)
    as_mask, as_it_was = shown[asked] == MASK, shown[asked] == ids[asked]
    other = shown[asked][~as_mask & ~as_it_was]
    assert int(as_mask.sum()) / count == pytest.approx(0.8, abs=0.01)
    assert int(as_it_was.sum()) / count == pytest.approx(0.1, abs=0.01)
    assert len(other) / count == pytest.approx(0.1, abs=0.01)
    assert other.min() == 5 and other.max() == 1004  # any piece but the special ones
    assert len(other.unique()) > 990


def test_loss_of_a_step_by_hand(masking: Any) -> None:
    """With tables of zeros a logit is its bias, whatever the text: 1, 2 and 3 for the last pieces, 0 for the others."""
    config = transformers.BertConfig(
        vocab_size=10, hidden_size=4, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4
    )
    model = transformers.BertForPreTraining(config).eval()
    with torch.no_grad():
        for weights in (model.bert.embeddings.word_embeddings.weight, model.cls.seq_relationship.weight):
            weights.zero_()
        model.cls.predictions.bias.copy_(torch.tensor([0.0] * 7 + [1.0, 2.0, 3.0]))
        model.cls.seq_relationship.bias.copy_(torch.tensor([1.0, 0.0]))
    none = masking.NOT_ASKED
    step = masking.Step(
        ids=torch.tensor([[CLS, 7, MASK, SEP], [CLS, MASK, SEP, 0]]),
        mask=torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
        segments=torch.zeros(2, 4, dtype=torch.int64),
        targets=torch.tensor([[none, 7, 9, none], [none, 5, none, none]]),
    )
    every = math.log(7 + math.e + math.e**2 + math.e**3)
    words = ((every - 1) + (every - 3) + (every - 0)) / 3
    assert float(masking.loss_of(model, step).detach()) == pytest.approx(words, abs=1e-5)
    in_order = math.log(1 + math.exp(-1))  # of the first text, and 1 more of the second one
    both = masking.Step(step.ids, step.mask, step.segments, step.targets, torch.tensor([0, 1]))
    assert float(masking.loss_of(model, both).detach()) == pytest.approx(words + in_order + 0.5, abs=1e-5)


def test_pairs_are_two_halves_of_a_text_or_of_two(masking: Any) -> None:
    import lesson
    from common import vocabulary
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(vocabulary.uncased(DEFAULT_VOCAB)))
    tokenizer.enable_truncation(9)
    made = lesson.Lesson(tokenizer, ["the cat sat on", "a dog ran work play play good bad"], pairs=True)
    torch.manual_seed(0)
    seen = set()
    for _ in range(60):
        step = made.step([0])
        ids = torch.where(step.targets == masking.NOT_ASKED, step.ids, step.targets)[0].tolist()
        words = [tokenizer.id_to_token(i) for i in ids]
        assert words[:4] == ["[CLS]", "the", "cat", "[SEP]"] and words[-1] == "[SEP]"
        assert step.segments[0].tolist() == [0] * 4 + [1] * (len(words) - 4)
        seen.add((" ".join(words[4:-1]), int(step.random[0])))
    # The other text is cut at 9 tokens, of which 7 are words; a text that is drawn for itself counts as random.
    assert seen == {("sat on", 0), ("sat on", 1), ("work play play good", 1)}


def test_what_is_trained_fills_masks(tmp_path: Path) -> None:
    rng = random.Random(1)
    kinds = (("cat", "sat"), ("dog", "ran"))
    texts = [f"the {a} {b} on the {a} mat {b} ." for a, b in (rng.choice(kinds) for _ in range(400))]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    (tmp_path / "vocab.txt").write_text("\n".join(DEFAULT_VOCAB) + "\n")
    out = tmp_path / "out"
    command = [sys.executable, TRAIN / "pretrain" / "pretrain.py", "--out", out, "--threads", "1"]
    files = ["--texts", tmp_path / "texts.txt", "--vocabulary", tmp_path / "vocab.txt"]
    settings = "--pieces 60 --layers 1 --width 64 --steps 300 --rate 0.005 --batch 16 --hold-every 8"
    done = subprocess.run(
        [*command, *files, *settings.split()],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, after = map(float, re.findall(r"([0-9.]+) %", done.stdout))
    assert before < 50 and after > 80  # the other places of a text say which words it has

    checkpoint = pipeline.load(out)
    program = pipeline.lower(checkpoint, "fp32", None)
    rows = evaluate.read_rows(out / "held_out.tsv", Columns(), program.task, 1000)
    score = evaluate.score(program, checkpoint.tokenizer, rows)
    first = [masks[0][0] for row in score.answers for masks in row]
    truths = [piece for row in rows.truths for piece in row]
    assert 100 * sum(map(str.__eq__, first, truths)) / len(truths) == pytest.approx(after, abs=0.01)
