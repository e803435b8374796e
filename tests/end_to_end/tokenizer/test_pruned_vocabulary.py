# SPDX-License-Identifier: Apache-2.0
"""A pruned vocabulary in C++: the wheel's tokenizer over what was kept; a generated model verifies; --evaluate of the
generator says what the program's says."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from classify_program import ROOT, built
from generator_program import etch, one_line
from model_build import build_program
from public_data import data_folder
from recorded.outputs import folder
from test_unigram_folder import TEXTS as UNIGRAM_TEXTS
from test_unigram_folder import model_folder
from tokenizer_harness import Runtime, Wheel, assert_same, differences
from tokenizers import Tokenizer

from codegen import evaluate, pipeline
from codegen.files.table_file import Columns
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.vocabulary import pruning as vocabulary

sys.path.insert(0, str(ROOT / "tests" / "codegen" / "generation"))
from record_translations import MODELS, write_folder
from record_translations import TEXTS as TRANSLATED

CHECKPOINT = ROOT / "tools" / "train" / "agnews" / "checkpoint"
TEXTS = ROOT / "tests" / "golden" / "texts.txt"


def pruned(corpus: Path, bound: vocabulary.Bound) -> TokenizerSpec:
    checkpoint = pipeline.load(CHECKPOINT)
    texts = vocabulary.read_corpus(corpus, Columns())
    return vocabulary.keep_ids(checkpoint, vocabulary.prune(checkpoint.tokenizer, texts, bound).kept).tokenizer


@pytest.mark.parametrize(("min_count", "rare_words"), [(1, "spelled"), (3, "spelled"), (2, "unknown")])
def test_texts_become_what_the_wheel_makes_of_them(min_count: int, rare_words: vocabulary.RareWords) -> None:
    spec = pruned(TEXTS, vocabulary.Bound(min_count, rare_words))
    assert len(spec.model.pieces) < 3000
    texts = TEXTS.read_bytes().split(b"\n")
    results = assert_same(spec, [*texts, b"[SEP] [MASK] x1y2z3", b"unaffordability, antidisestablishmentarianism"])
    assert any(spec.model.unknown_id not in result.ids for result in results)
    # The vocabulary alone, as a tokenizer.json of the checkpoint's own form.
    described = json.loads((CHECKPOINT / "tokenizer.json").read_bytes())
    ids = {piece: i for i, piece in enumerate(spec.model.pieces)}
    described["model"]["vocab"] = ids
    for token in described["added_tokens"]:
        token["id"] = ids[token["content"]]
    for token in described["post_processor"]["special_tokens"].values():
        token["ids"] = [ids[name] for name in token["tokens"]]
    tokenizer = Tokenizer.from_str(json.dumps(described))
    for text, result in zip(texts, results, strict=False):
        assert tokenizer.encode(text.decode()).ids == result.ids.tolist()


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("albert/inner_twice", "AlbertTokenizer"),
        ("deberta-v2/v3", "DebertaV2Tokenizer"),
        ("xlm-roberta/multi_label", "XLMRobertaTokenizer"),
    ],
)
def test_texts_of_a_unigram_model(recorded: str, name: str, tmp_path: Path) -> None:
    """Its own files, special tokens among the pieces and behind them."""
    checkpoint = shutil.copytree(folder(recorded), tmp_path / "checkpoint")
    for file in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (checkpoint / file).unlink(missing_ok=True)
    model_folder(checkpoint, name)
    whole = pipeline.load(checkpoint)
    pruning = vocabulary.prune(whole.tokenizer, UNIGRAM_TEXTS[:1], vocabulary.Bound(1))
    assert len(pruning.kept) < pruning.entries
    smaller = vocabulary.keep_ids(whole, pruning.kept)
    assert_same(smaller.tokenizer, [text.encode() for text in UNIGRAM_TEXTS])
    assert pipeline.lower(smaller, "w8a8", None).vocabulary == len(pruning.kept)


@pytest.mark.sweep
def test_all_lines_of_a_corpus(tmp_path: Path) -> None:
    with (data_folder() / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        texts = [f"{title} {body}".encode() for _, title, body in csv.reader(file)]
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(b"\n".join(texts[::4]))
    spec = pruned(corpus, vocabulary.Bound(10))
    assert not differences(texts, Runtime(spec).encode(texts), Wheel(spec).encode(texts))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Texts of our own, a quarter of them with another label than the program's."""
    classify = built("classify")
    lines = TEXTS.read_text(encoding="utf-8").split("\n")[:40]
    answers = [answer["label"] for answer in classify.well("--json", "--file", TEXTS).objects]
    path = tmp_path / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [
            (answer if i % 4 else "World", line) for i, (answer, line) in enumerate(zip(answers, lines, strict=False))
        ]
        csv.writer(file).writerows(rows)
    return path


def test_the_programs_accuracy(table: Path) -> None:
    checkpoint = pipeline.load(CHECKPOINT)
    program = pipeline.lower(checkpoint, "w8a8", None)
    rows = evaluate.read_rows(table, Columns(), program.task, 1000)
    ours = evaluate.score(program, checkpoint.tokenizer, rows)
    theirs = built("classify").well("--evaluate", table).out.decode()
    found = re.search(r"accuracy: ([0-9.]+) %", theirs)
    assert found, theirs
    assert str(ours) == f"{found[1]} %"


@pytest.mark.sweep
def test_a_model_with_a_pruned_vocabulary(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "pruned"
    options = ["--prune-vocabulary", TEXTS, "--min-count", "2", "--evaluate", table, "--evaluate-rows", "20"]
    generated = etch("generate", CHECKPOINT, "--out", out, *options)
    assert generated.code == 0, generated.err
    printed = generated.out.decode()
    assert re.search(r"pruned +[\d,]+ of 9,000 pieces kept", printed)
    assert re.search(r"evaluation +accuracy [\d.]+ % on 20 of 40 rows, evenly spaced", printed)
    assert build_program(out).well("--self-test").code == 0
    verified = etch("verify", out, "--checkpoint", CHECKPOINT, "--texts", TEXTS)
    assert verified.code == 0, verified.out.decode() + verified.err
    assert "ids          0 other than" in verified.out.decode()
    assert "contract     0 with logits other" in verified.out.decode()


@pytest.mark.sweep
def test_a_translator_with_a_pruned_vocabulary(tmp_path: Path) -> None:
    """Its own ids and texts are the contract's."""
    checkpoint, out, pairs = tmp_path / "checkpoint", tmp_path / "pruned", tmp_path / "pairs.tsv"
    checkpoint.mkdir()
    write_folder(MODELS[0], checkpoint)
    pairs.write_text("the dog in the street.\tder hund und ein mann\n" * 2, encoding="utf-8")
    options = ["--prune-vocabulary", pairs, "--min-count", "2", "--label-column", "2", "--beams", "4"]
    generated = etch("generate", checkpoint, "--out", out, *options)
    assert generated.code == 0, generated.err
    assert build_program(out).well("--self-test").code == 0
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(text for text in TRANSLATED if text.strip()), encoding="utf-8")
    verified = etch("verify", out, "--checkpoint", checkpoint, "--texts", texts)
    assert verified.code == 0, verified.out.decode() + verified.err
    assert re.search(r"ids +0 other than the tokenizers wheel's", verified.out.decode())
    assert re.search(r"contract +0 with a text, score or end", verified.out.decode())


def test_refusals(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for options, code, words in (
        (
            ["--prune-vocabulary", tmp_path / "none.txt", "--min-count", "2"],
            1,
            "error[corpus-unreadable] prune: none.txt",
        ),
        (["--prune-vocabulary", TEXTS, "--min-count", "100000"], 1, "error[vocabulary-empty] prune: no piece occurs"),
        (["--prune-vocabulary", TEXTS], 2, "error[option-incomplete] arguments: --prune-vocabulary needs --min-count"),
        (["--evaluate", TEXTS], 2, "error[table-kind] arguments: expected a file named .csv, .tsv or .jsonl"),
    ):
        assert one_line(etch("generate", CHECKPOINT, "--out", out, *options), code).startswith(f"etch: {words}")
        assert not out.exists()
