# SPDX-License-Identifier: Apache-2.0
"""The program and the C functions of bart_g2p_us, a trained model that turns spelling into phonemes: what the library
wrote, whatever the room and the budget of a step. And the programs of tiny models of
Marian, T5 and mBART."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from classify_program import ROOT, Program
from evaluation_report import evaluated
from model_build import build_program, build_test
from once import once

from codegen import pipeline
from codegen.verification.verify import verify

GENERATION = ROOT / "tests" / "codegen" / "generation"
sys.path.insert(0, str(GENERATION))
from record_translations import MODELS, TEXTS, write_folder  # noqa: E402 - of the folder beside

RECORDED, TRANSLATED = GENERATION / "bart_g2p_us.json", GENERATION / "marian_texts.json"
WORDS: list[tuple[str, list[int], list[int]]] = json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def checkpoint() -> Path:
    models = os.environ.get("ETCH_MODELS")
    if models is None:
        pytest.skip("ETCH_MODELS is not set")
    return Path(models) / "bart_g2p_us"


@pytest.fixture(scope="module")
def folder(checkpoint: Path, shared: Path) -> Path:
    """In float32, so that what is written is the library's."""
    out = shared / "speller" / "g2p"
    request = pipeline.Request(checkpoint, out, recipe="fp32")
    once(out.parent / "made", "g2p", lambda: pipeline.generate(request, lambda _: None))
    return out


@pytest.fixture(scope="module")
def program(folder: Path) -> Program:
    return build_program(folder)


@pytest.fixture(scope="module")
def spelled(checkpoint: Path) -> list[str]:
    """The text of what the library wrote, by a plain reading of the configuration."""
    characters = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))["phoneme_chars"]
    return ["".join(characters[i] for i in written if i > 3) for _, _, written in WORDS]


def test_words(program: Program, spelled: list[str]) -> None:
    lines = "".join(f"{word}\n" for word, _, _ in WORDS).encode()
    assert program.path.name == "translate-g2p"
    assert program.well(stdin=lines).lines == spelled
    answers = program.well("--json", stdin=lines).objects
    assert [answer["text"] for answer in answers] == spelled
    assert [answer["tokens"] for answer in answers] == [len(ids) for _, ids, _ in WORDS]
    assert {(answer["reason"], answer["truncated"]) for answer in answers} == {("end", False)}
    tokens = program.well("--tokens", stdin=lines).objects
    assert [one["ids"] for one in tokens] == [ids for _, ids, _ in WORDS]


def test_verify(checkpoint: Path, folder: Path, program: Program) -> None:
    lines: list[str] = []
    assert verify(folder, checkpoint, None, lines.append, lambda *_: program.path) == 0, lines
    assert "contract     0 with a text, score or end other than the contract's, bit for bit" in lines


def test_what_else_there_is(program: Program, spelled: list[str], tmp_path: Path) -> None:
    table = tmp_path / "words.tsv"
    rows = [
        f"{text if i else 'x'}\t{word}\n" for i, (text, (word, _, _)) in enumerate(zip(spelled, WORDS, strict=True))
    ]
    table.write_text("".join(rows[:10]), encoding="utf-8")
    judged, scores = evaluated(program, table)
    assert judged.lines[0].split() == ["exact", "match:", "90.00", "%"]
    assert (scores["rows"], scores["exact"]) == (10, 9)
    assert 50 < scores["chrf"] < 100
    assert 0 <= scores["bleu"] <= 100
    assert program.well("--self-test").lines
    assert "up to 63 are written" in program.well("--help").out.decode()
    (long,) = program.well("--json", "a" * 100).objects
    assert (long["tokens"], long["truncated"]) == (64, True)
    assert program.well("--json", "").objects[0]["tokens"] == 2


def test_room_and_budgets(folder: Path, spelled: list[str], tmp_path: Path) -> None:
    flags = {
        "ETCH_C_HEADER": '"g2p.h"',
        "ETCH_MODEL_WORKSPACE": "etch_g2p_workspace",
        "ETCH_MODEL_RESULT": "etch_g2p_result",
        "ETCH_C(suffix)": "etch_g2p##suffix",
        "ETCH_C_WRITE": "etch_g2p_translate",
        "ETCH_C_BATCH": "etch_g2p_translate_batch",
    }
    source = ROOT / "tests" / "end_to_end" / "writing" / "target_of_texts.cpp"
    test = build_test(folder, source, tmp_path / "test", *(f"-D{name}={value}" for name, value in flags.items()))
    words, texts = [word for word, _, _ in WORDS[:12]], spelled[:12]
    asked = [(room, word, text) for word, text in zip(words, texts, strict=True) for room in (0, 1, 5, 400)]
    expected = [f"{0 if len(text.encode()) <= room else 2} {beginning(text, room)}" for room, _, text in asked]
    lines = "".join(f"{room} {word}\n" for room, word, _ in asked)
    for budget in (0, 1000, 1 << 40):
        done = subprocess.run([test, str(budget)], input=lines, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == expected, budget
    done = subprocess.run([test, "batch"], input=lines, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"0 {text}" for _, _, text in asked]


def beginning(text: str, room: int) -> str:
    """As many characters as fit."""
    return text.encode()[:room].decode(errors="ignore")


# Neighbours that source.spm does not know, or vocab.json: the notes of the folder name them.
OTHERWISE = (
    "\u00df \u00e4\u00df \u00e4",
    "\u00f6\u00fc \u00f6 \u00fc\u00f6\u00fc",
    "xxy xyx",
    "\u65e5\u00df\u65e5 \u65e5",
)


def test_a_marian_folder(shared: Path, tmp_path: Path) -> None:
    """The library's tokens and texts, of two vocabularies that differ; a text that is too long is cut as there."""
    name = MODELS[0]
    expected = [row for row in json.loads(TRANSLATED.read_text(encoding="utf-8"))[name] if row[0] not in OTHERWISE]
    assert len(expected) == len(TEXTS) - len(OTHERWISE)
    checkpoint, out = tmp_path / "checkpoint", shared / "marian" / "tiny"
    checkpoint.mkdir()
    write_folder(name, checkpoint)
    request = pipeline.Request(checkpoint, out, recipe="fp32")
    once(out.parent / "made", "tiny", lambda: pipeline.generate(request, lambda _: None))
    program = build_program(out)
    lines = "".join(f"{text}\n" for text, *_ in expected).encode()
    assert [one["ids"] for one in program.well("--tokens", stdin=lines).objects] == [ids for _, ids, *_ in expected]
    assert program.well(stdin=lines).lines == [text for *_, text in expected]
    assert program.well("--self-test").lines


SWEPT = (
    *("bart/texts", "led/texts", "m2m_100/languages", "m2m_100/texts", "mbart/texts", "mt5/texts", "pegasus/texts"),
    *("blenderbot/texts", "blenderbot-small/texts", "encoder-decoder/texts", "plbart/texts", "t5gemma/texts"),
    *("fsmt/en-de", "fsmt/ru-en", "transformer/paper", "transformer/pre"),
)


@pytest.mark.parametrize(
    "variant",
    ["t5/texts", "t5/bytes", "transformer/course", *(pytest.param(v, marks=pytest.mark.sweep) for v in SWEPT)],
)
def test_a_folder_with_a_tokenizer(variant: str, shared: Path) -> None:
    """The library's tokens and texts, or those of the module; what they do not know, nothing, and more than is read
    among them."""
    checkpoint, out = GENERATION / variant, shared / variant.replace("/", "_") / "tiny"
    texts = json.loads((checkpoint / "texts.json").read_text(encoding="utf-8"))
    of_one = ("t5/texts", "t5/bytes", "t5gemma/texts", "mt5/texts", "pegasus/texts")
    end = {"encoder-decoder/texts": 3, **dict.fromkeys(of_one, 1)}
    assert all(text["margin"] > 1e-4 for text in texts)
    request = pipeline.Request(checkpoint, out, recipe="fp32", beams=1)
    once(out.parent / "made", "tiny", lambda: pipeline.generate(request, lambda _: None))
    program = build_program(out)
    lines = "".join(f"{text['prompt']}\n" for text in texts).encode()
    answers = program.well("--json", stdin=lines).objects
    assert [answer["text"] for answer in answers] == [text["text"] for text in texts]
    forced = (
        17 if variant in ("bart/texts", "fsmt/ru-en", "pegasus/texts") else None
    )  # tokens: an end that comes there is none that the model chose
    ends = [text["written"][-1] == end.get(variant, 2) and len(text["written"]) != forced for text in texts]
    assert [answer["reason"] for answer in answers] == [("length", "end")[ended] for ended in ends]
    assert {answer["truncated"] for answer in answers} == {False, True}
    tokens = program.well("--tokens", stdin=lines).objects
    assert [one["ids"] for one in tokens] == [text["ids"] for text in texts]
    assert program.well("--self-test").lines


def test_lines_that_share_passes(shared: Path) -> None:
    """Greedily, by a model that has slots for beams and room for several texts: each is what it is alone, and what the
    library wrote. Two do not fit beside another one; they are longer than what was recorded."""
    checkpoint, out = GENERATION / "t5/texts", shared / "t5_texts_roomy" / "tiny"
    recorded = json.loads((checkpoint / "texts.json").read_text(encoding="utf-8"))
    request = pipeline.Request(checkpoint, out, recipe="fp32", beams=3, max_tokens=70)
    once(out.parent / "made", "tiny", lambda: pipeline.generate(request, lambda _: None))
    program = build_program(out)
    short = {text["prompt"]: text["text"] for text in recorded if len(text["ids"]) < 20}
    texts = [*short, "the cat and the hat " * 3, *short, "a " * 100, *short]
    together = program.well("--json", "--beams", "1", stdin="".join(f"{text}\n" for text in texts).encode()).objects
    assert together == [program.well("--json", "--beams", "1", text).objects[0] for text in texts]
    assert all(one["text"] == short.get(text, one["text"]) for text, one in zip(texts, together, strict=True))
    assert [one["truncated"] for one in together].count(True) == 1
    assert max(one["tokens"] for one in together if not one["truncated"]) > 70 - 16
