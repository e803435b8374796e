# SPDX-License-Identifier: Apache-2.0
"""A head that answers questions beside others on one encoder: it has calls of its own, which find on every kernel what
the program of a model of this head alone finds, bit for bit; the others find what they find without it."""

from __future__ import annotations

import hashlib
import html
import json
import sys
from pathlib import Path

import pytest
from classify_program import ROOT, Program
from generator_program import etch
from model_build import build_program
from recorded_tasks import compare_calls

sys.path.insert(1, str(ROOT / "tests" / "codegen"))

from tiny_heads import write_encoder, write_head

from codegen import pipeline
from codegen.head_folders import HeadFolder
from codegen.verification.verify import verify

KINDS = ("single", "answers", "tags", "masks")
CONTEXTS = (
    "the cat sat on the mat, unable to play",
    "Playing cats in Berlin: dogs of Caf\u00e9 zzz " * 8,
    "cat",
    "[SEP] the dog [MASK] ran",
)
ASKED = (
    ("--top", "3"),
    ("--window", "16", "--stride", "4", "--top", "5", "--no-answer"),
    ("--by-tokens", "--longest", "2"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of an encoder and its heads, by kind, and what is generated of them: `several`, `alone` and `others`."""
    place = tmp_path_factory.mktemp("questions")
    write_encoder(place / "encoder")
    heads = [HeadFolder(f"of_{kind}", write_head(place / kind, kind)) for kind in KINDS]
    others = tuple(head for head in heads if head.name != "of_answers")
    for name, chosen in (("several", tuple(heads)), ("others", others)):
        pipeline.generate(pipeline.Request(place / "encoder", place / name, heads=chosen), lambda _: None)
    pipeline.generate(pipeline.Request(place / "answers", place / "alone"), lambda _: None)
    return place


@pytest.fixture(scope="module")
def several(place: Path) -> Program:
    return build_program(place / "several")


@pytest.fixture(scope="module")
def alone(place: Path) -> Program:
    return build_program(place / "alone")


def test_the_head_answers_as_a_model_of_its_own(several: Program, alone: Program, tmp_path: Path) -> None:
    path = tmp_path / "context.txt"
    for kernel in several.well("--kernel", "list").lines:
        several.well("--self-test", "--kernel", kernel)
        for context in CONTEXTS:
            path.write_text(context)
            for options in ASKED:
                asked = ("--json", *options, "--question", "what cats", "--context-file", path, "--kernel", kernel)
                assert several.well("--head", "of_answers", *asked).out == alone.well(*asked).out
        logits = ("--json", "--logits", "--kernel", kernel)
        lines = "".join(f"{context}\n" for context in CONTEXTS).encode()
        found = several.well("--head", "of_answers", *logits, stdin=lines)
        assert found.out == alone.well(*logits, stdin=lines).out
        assert all(len(answer["logits"]) == answer["tokens"] for answer in found.objects)


def test_lines_tables_and_the_form_without_json(several: Program, alone: Program, tmp_path: Path) -> None:
    lines = "".join(f"what cats\t{context}\n" for context in CONTEXTS).encode()
    for options in (("--pairs",), ("--pairs", "--json", "--top", "2")):
        said = alone.well(*options, stdin=lines).out
        assert several.well("--head", "of_answers", *options, "--threads", "2", stdin=lines).out == said
    table = tmp_path / "rows.jsonl"
    rows = [{"question": "who?", "context": context, "answer": "the cat"} for context in CONTEXTS]
    table.write_text("\n".join(map(json.dumps, rows)))
    for options in ((), ("--window", "16", "--stride", "4"), ("--limit", "2")):
        judged = alone.well("--evaluate", table, *options).out
        assert b"questions: " in judged
        assert several.well("--evaluate", table, "--head", "of_answers", *options).out == judged


def test_other_heads_find_what_they_find_without_it(several: Program, place: Path) -> None:
    others = build_program(place / "others")
    for text in CONTEXTS:
        assert several.well("--json", text).out == others.well("--json", text).out
        for head in ("of_single", "of_tags", "of_masks"):
            lines = [line.partition("\t") for line in others.well(text).lines]
            expected = [line for name, _, line in lines if name == head]
            assert several.well("--head", head, text).lines == expected
    assert several.well("--help").out.count(b"--question") == 1


def test_every_call_finds_the_same(place: Path, tmp_path: Path) -> None:
    out, heads = tmp_path / "two", tuple(HeadFolder(f"of_{kind}", place / kind) for kind in ("answers", "single"))
    pipeline.generate(pipeline.Request(place / "encoder", out, target="m-profile", heads=heads), lambda _: None)
    compare_calls(out, "question_head_calls.cpp", CONTEXTS, tmp_path)


def test_verify_compares_it(several: Program, place: Path) -> None:
    lines: list[str] = []
    heads = tuple(HeadFolder(f"of_{kind}", place / kind) for kind in KINDS)
    asked = place / "several", place / "encoder", None, lines.append
    assert verify(*asked, find_program=lambda *_: several.path, heads=heads) == 0
    assert "head         of_answers" in lines


def test_certificate_and_evidence_know_the_heads(several: Program, place: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(f"{context}\n" for context in CONTEXTS))
    files = (place / "several", "--checkpoint", place / "encoder", "--texts", texts)
    heads = [word for kind in KINDS for word in ("--head", f"of_{kind}={place / kind}")]
    certificate, page = tmp_path / "certificate.json", tmp_path / "page.html"
    certified = ("verify", *files, "--tokenizer-certificate", certificate)
    shown = ("evidence", *files, "--out", page)
    for given in ((), heads[2:], [*heads[2:], *heads[:2]]):
        for command in (certified, shown):
            refused = etch(*command, *given)
            assert refused.code == 2 and not certificate.exists() and not page.exists()
            assert "error[other-heads] verify: the model has the heads of_single, of_answers, of_tags" in refused.err
    assert etch(*certified, *heads).code == 0
    told = json.loads(certificate.read_text())
    assert (told["texts"], told["differences"]) == (len(CONTEXTS), 0)
    assert etch(*shown, *heads).code == 0
    text = html.unescape(page.read_text())
    named = " ".join(f"--head of_{kind}=OF_{kind.upper()}" for kind in KINDS)
    assert text.count(f"--checkpoint CHECKPOINT --texts texts.txt {named}") == 2 and text.count(named) == 4
    assert hashlib.sha256((place / "tags/model.safetensors").read_bytes()).hexdigest() in text
    assert "OF_TAGS/model.safetensors" in text and str(place) not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--question", "a", "--context", "b"), "choose it by --head of_single, of_tags, of_masks, of_answers"),
        (("--window", "9", "a"), "questions are for the head that answers them"),
        (("--head", "of_answers", "who?"), "a question needs its context"),
        (("--head", "of_answers", "--question", "a"), "--question needs --context or --context-file"),
        (("--head", "of_answers", "--logits", "a"), "--logits only goes with --json"),
        (("--head", "of_tags", "--logits", "--json", "a"), "--head 'of_tags' answers no questions"),
        (("--evaluate", "x.tsv", "--head", "of_answers"), "expected a file named .json or .jsonl, got 'x.tsv'"),
        (("--evaluate", "x.jsonl", "--head", "of_answers", "--confusion"), "--confusion does not go with --evaluate"),
        (("--evaluate", "x.jsonl", "--head", "of_single", "--stride", "9"), "--head 'of_single' answers no questions"),
    ],
)
def test_wrong_use(several: Program, options: tuple[str, ...], words: str) -> None:
    assert words in several.refused(2, *options)
