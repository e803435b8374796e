# SPDX-License-Identifier: Apache-2.0
"""Models that tag, embed, fill masks, answer questions, or classify by a GRU, on boards, at once and in steps: self
test, and the bits of the emulated arithmetic for texts that the board tokenizes; the same entities, pieces and answers
as the host's program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import Firmware, chosen_boards, firmware_of
from model_build import build_program
from recorded.outputs import folder
from recorded_tasks import recorded_cases

from codegen import pipeline
from codegen.emulate import emulate
from codegen.golden import SHORT_TEXTS
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("tasks on boards")]

BOARDS = chosen_boards()
TEXTS = [text for text in SHORT_TEXTS if text]


def bits_of(field: str) -> list[int]:
    return [int(one, 16) for one in field.split()]


def of_host(checkpoint: Path, place: Path, texts: list[str] = TEXTS, *options: str) -> list[dict[str, Any]]:
    """What the host's program prints."""
    out = place / "host"
    pipeline.generate(pipeline.Request(checkpoint, out), lambda _: None)
    return build_program(out).well("--json", *options, stdin="".join(f"{text}\n" for text in texts).encode()).objects


def bits(value: float) -> list[np.uint32]:
    return [np.float32(value).view(np.uint32)]


def same_entities(lines: list[str], answers: list[dict[str, Any]]) -> None:
    """Each entity with its label, bytes and bits."""
    for line, answer in zip(lines, answers, strict=True):
        count, tokens, cut, *fields = line.split("\t")
        entities = answer["entities"]
        assert (count, tokens) == (f"{len(entities)} entities", f"{answer['tokens']} tokens")
        assert cut == ("truncated" if answer["truncated"] else "whole")
        for entity, (label, share, place_of, score) in zip(
            entities, zip(*[iter(fields)] * 4, strict=True), strict=True
        ):
            assert (label, place_of) == (entity["label"], f"{entity['start']}-{entity['end']}")
            assert share.endswith(" %") and bits_of(score) == bits(entity["score"])


def check_tags(lines: list[str], checkpoint: Path, place: Path) -> None:
    """Those of the host."""
    same_entities(lines, of_host(checkpoint, place))


def check_bits(lines: list[str], checkpoint: Path, place: Path) -> None:
    """The last field has the bits of the outputs."""
    loaded = pipeline.load(checkpoint)
    program = pipeline.lower(loaded, "w8a8", None)
    tokenizer = text_tokenizer(loaded.tokenizer, program.max_tokens)
    for line, text in zip(lines, TEXTS, strict=True):
        encoding = tokenizer.encode(text)
        wanted = emulate(program, encoding.ids, encoding.type_ids).astype(np.float32)
        assert np.array(bits_of(line.split("\t")[-1]), np.uint32).tobytes() == wanted.tobytes(), text


CASES: list[tuple[str, str, Callable[[list[str], Path, Path], None]]] = [
    ("tags/bert", "scores", check_tags),
    ("gru/one_layer", "logits", check_bits),
    ("roberta/mean", "values", check_bits),
    ("static_embedding/mean", "values", check_bits),
]


ON_BOARDS = [(BOARDS[i % len(BOARDS)], CASES[i % len(CASES)]) for i in range(max(len(BOARDS), len(CASES)))]


@pytest.mark.parametrize(("board", "case"), ON_BOARDS, ids=[f"{board}-{case[0]}" for board, case in ON_BOARDS])
@pytest.mark.parametrize("variant", ["", "-steps"], ids=["at once", "in steps"])
def test_answers_are_those_of_the_host(board: str, case: tuple[str, str, Any], variant: str, tmp_path: Path) -> None:
    model, shown, check = case
    with firmware_of(board, folder(model), tmp_path, variant).start() as emulator:
        if not variant:
            assert emulator.ask(b"!self") == "self test passed"
        assert emulator.ask(f"!{shown} on".encode()) == f"{shown} on"
        lines = [emulator.ask(text.encode()) for text in TEXTS]
        assert emulator.ask(b"!other on").startswith("error unknown-command")
        assert emulator.exit() == 0
    check(lines, folder(model), tmp_path)


def test_tags_by_every_aggregation(tmp_path: Path) -> None:
    """Chosen by a line, as the host's program has it as an option; a name that is none changes nothing."""
    checkpoint = folder("tags/ernie")  # whose entities differ by all five
    texts = list(dict.fromkeys(case["text"] for case in recorded_cases("tags/ernie")))
    texts = [text for text in texts if text and "\n" not in text]
    out = tmp_path / "host"
    pipeline.generate(pipeline.Request(checkpoint, out), lambda _: None)
    program, lines = build_program(out), "".join(f"{text}\n" for text in texts).encode()
    found = {}
    with firmware_of(BOARDS[0], checkpoint, tmp_path).start() as emulator:
        assert emulator.ask(b"!scores on") == "scores on"
        for kind in ("none", "first", "average", "max", "simple"):
            assert emulator.ask(f"!aggregation {kind}".encode()) == f"aggregation {kind}"
            assert emulator.ask(b"!aggregation word").startswith("error aggregation")
            found[kind] = [emulator.ask(text.encode()) for text in texts]
            same_entities(found[kind], program.well("--json", "--aggregation", kind, stdin=lines).objects)
        assert "!aggregation NAME" in emulator.ask(b"!help")
        assert emulator.exit() == 0
    assert len(set(map(tuple, found.values()))) == 5


MASKED = ["[MASK]", "[MASK] cat [MASK]", "the [MASK] sat", "no cats", "[MASK] a " * 9, "caf\u00e9 [MASK"]
QUESTIONS = [
    "what cats\tthe cat sat on the mat, unable to play",
    "the dog?\t" + "the cat sat on a mat " * 15,  # several windows
    "\tthe cat",
    "what cats\t",
    "what cats " * 9 + "\tthe cat sat on the mat",  # cut
    "cats\tPlaying cats: Caf\u00e9 \\ zzz",
]


def asked(linked: Firmware, texts: list[str], *others: tuple[bytes, str]) -> list[list[str]]:
    """The fields of the lines that come back, with bits; a line sends one, whatever it is."""
    with linked.start() as emulator:
        assert emulator.ask(b"!scores on") == "scores on"
        lines = [emulator.ask(text.encode()).split("\t") for text in texts]
        for line, words in others:
            assert emulator.ask(line).startswith(words)
        assert emulator.ask(b"!self") == "self test passed"
        assert emulator.exit() == 0
    return lines


def test_pieces_for_masks_are_those_of_the_host(tmp_path: Path) -> None:
    checkpoint = folder("masks/bert")
    lines = asked(firmware_of(BOARDS[-1], checkpoint, tmp_path), MASKED)
    for (count, tokens, cut, *fields), answer in zip(lines, of_host(checkpoint, tmp_path, MASKED), strict=True):
        assert (count, tokens) == (f"{len(answer['masks'])} masks", f"{answer['tokens']} tokens")
        assert cut == ("truncated" if answer["truncated"] else "whole")
        best = [candidate for mask in answer["masks"][:16] for candidate in mask[:3]]
        for candidate, (piece, share, score) in zip(best, zip(*[iter(fields)] * 3, strict=True), strict=True):
            assert (piece, share[-2:]) == (candidate["token"], " %")
            assert bits_of(score) == bits(candidate["probability"])


def test_answers_to_questions_are_those_of_the_host(tmp_path: Path) -> None:
    """Of contexts of several windows; what has no place on a line is escaped, and a context may have TABs."""
    checkpoint = folder("answers/bert")
    linked = firmware_of(BOARDS[0], checkpoint, tmp_path)
    lines = asked(linked, QUESTIONS, (b"what cats", "error no-context"), (b"cats\tthe\tcat", "1 windows"))
    windows = 0
    for line, question, answer in zip(
        lines, QUESTIONS, of_host(checkpoint, tmp_path, QUESTIONS, "--pairs"), strict=True
    ):
        assert line[:2] == [f"{answer['windows']} windows", f"{answer['tokens']} tokens"]
        assert line[2] == ("truncated" if answer["truncated"] else "whole")
        found = [[a["text"], f"{a['start']}-{a['end']}", bits(a["score"])] for a in answer["answers"]]
        fields = zip(*[iter(line[3:])] * 4, strict=True)
        unescaped = [[text.replace("\\\\", "\\"), at, bits_of(score)] for text, _, at, score in fields]
        assert unescaped == found, question
        windows += answer["windows"]
    assert windows > len(QUESTIONS) + 3
