# SPDX-License-Identifier: Apache-2.0
"""Models on boards that choose, take labels at run time, judge pairs, or have several heads: always in steps, and the
answers and bits of the host's program."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import ROOT, Firmware, chosen_boards, firmware_of
from model_build import build_program
from recorded.outputs import folder

sys.path.insert(1, str(ROOT / "tests" / "codegen"))

from tiny_heads import write_encoder, write_head

from codegen import pipeline
from codegen.head_folders import HeadFolder

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("choices on boards")]

BOARDS = chosen_boards()
CHOICES = [
    "the cat sat\twhat is the price\t\tunable to play zzz\tup",
    "\tup\tdown",  # no prompt
    "the cat " * 30 + "\tup\tthe cat\tCaf\u00e9 \\ 33",  # cut
    "dogs\tup",  # one choice
]
PAIRS = ["the cat sat\ton the mat", "\tup", "the cat\t", "the cat " * 30 + "\tup the " + "cat " * 20]
HEADS = ("single", "multi", "values", "tags", "masks")
TEXTS = ["the cat sat on the [MASK]", "Berlin unable [MASK] [MASK] .", "the cat " * 30]


def asked(
    linked: Firmware, shown: str, lines: list[str], *others: tuple[str, str], first: str = "!kernels"
) -> list[list[str]]:
    """The fields of the lines that come back, with bits, whatever a step's budget is; what a line is refused with;
    behind the line `first`."""
    answers = []
    with linked.start() as emulator:
        assert emulator.ask(b"!self") == "self test passed"
        assert emulator.ask(f"!{shown} on".encode()) == f"{shown} on"
        assert not emulator.ask(first.encode()).startswith("error")
        for line in lines:
            answer = emulator.ask(line.encode())
            assert emulator.ask(b"!budget 1") == "budget 1"
            assert emulator.ask(line.encode()) == answer
            steps = emulator.ask(b"!steps")
            assert int(re.findall(r"steps of the last text: (\d+),", steps)[0]) > 50, steps
            assert emulator.ask(b"!budget 30000") == "budget 30000"
            answers.append(answer.split("\t"))
        for line, words in others:
            assert emulator.ask(line.encode()).startswith(words), line
        assert emulator.exit() == 0
    return answers


def of_host(request: pipeline.Request, lines: list[str], *options: str) -> list[dict[str, Any]]:
    """What the host's program prints."""
    pipeline.generate(request, lambda _: None)
    texts = "".join(f"{line}\n" for line in lines).encode()
    return build_program(request.out).well("--json", *options, stdin=texts).objects


def bits_of(field: str) -> bytes:
    return np.array([int(one, 16) for one in field.split()], np.uint32).tobytes()


def same_bits(field: str, values: list[float]) -> bool:
    return bits_of(field) == np.array(values, np.float32).tobytes()


def per_cent(value: float) -> str:
    return f"{np.floor(np.float32(value) * np.float32(1000) + np.float32(0.5)) / 10:.1f} %"


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\")


def extent(answer: dict[str, Any]) -> list[str]:
    return [f"{answer['tokens']} tokens", "truncated" if answer["truncated"] else "whole"]


@pytest.mark.parametrize("board", BOARDS)
def test_choices_are_those_of_the_host(board: str, tmp_path: Path) -> None:
    checkpoint = folder("choices/electra")
    found = asked(
        firmware_of(board, checkpoint, tmp_path), "scores", CHOICES,
        ("no choice", "error no-choices"),
        ("a" + "\tb" * 65, "error too-many-choices: more than 64"),
        ("a" + "\tb" * 64, "b\t1.6 %"),
    )  # fmt: skip
    answers = of_host(pipeline.Request(checkpoint, tmp_path / "host"), CHOICES, "--pairs")
    for line, fields, answer in zip(CHOICES, found, answers, strict=True):
        choices = line.split("\t")[1:]
        shares = answer["probabilities"]
        best = answer["choice"]
        assert fields[:-1] == [
            escaped(choices[best]), per_cent(shares[best]), *extent(answer), *map(per_cent, shares)
        ]  # fmt: skip
        assert same_bits(fields[-1], shares)


def test_labels_are_those_of_the_host(tmp_path: Path) -> None:
    checkpoint = folder("zero/bert")
    lines = [line for line in CHOICES if not line.startswith("\t")]
    found = asked(firmware_of(BOARDS[0], checkpoint, tmp_path, task="zero-shot"), "scores", lines)
    built = tmp_path / "host"
    pipeline.generate(pipeline.Request(checkpoint, built, task="zero-shot"), lambda _: None)
    for line, fields in zip(lines, found, strict=True):
        text, *labels = line.split("\t")
        options = [part for label in labels for part in ("--label", label)]
        (answer,) = build_program(built).well("--json", *options, "--", text).objects
        shares = dict(zip(answer["labels"], answer["scores"], strict=True))
        assert fields[:2] == [escaped(answer["labels"][0]), per_cent(answer["scores"][0])]
        assert same_bits(fields[-1], [shares[label] for label in labels])


@pytest.mark.parametrize("board", BOARDS[-1:])
def test_pairs_are_those_of_the_host(board: str, tmp_path: Path) -> None:
    checkpoint = folder("next/bert")
    found = asked(firmware_of(board, checkpoint, tmp_path), "logits", PAIRS, ("one text", "error no-second-text"))
    answers = of_host(pipeline.Request(checkpoint, tmp_path / "host"), PAIRS, "--pairs")
    for fields, answer in zip(found, answers, strict=True):
        assert fields[:-1] == ["follows", per_cent(answer["probability"]), *extent(answer)]
        assert same_bits(fields[-1], answer["logits"])


def taken(fields: list[str], count: int) -> list[str]:
    """The next fields, which are gone then."""
    some, fields[:count] = fields[:count], []
    return some


def check_head(kind: str, fields: list[str], answer: dict[str, Any]) -> None:
    """Takes what the line says of a head."""
    if kind == "single":
        label, share, logits = taken(fields, 3)
        assert (label, share) == (answer["label"], per_cent(answer["probability"]))
        assert same_bits(logits, answer["logits"])
    elif kind == "multi":
        count = len(answer["logits"])
        assert taken(fields, 1) == [f"{count} labels"]
        shares = taken(fields, 2 * count)
        assert shares[1::2] == [per_cent(share) for share in answer["probabilities"]]
        assert set(answer["labels"]) <= set(shares[::2])
        assert same_bits(*taken(fields, 1), answer["logits"])
    elif kind == "values":
        assert taken(fields, 1) == [f"{len(answer['values'])} values"]
        assert same_bits(*taken(fields, 1), answer["values"])
    elif kind == "tags":
        assert taken(fields, 1) == [f"{len(answer['entities'])} entities"]
        for entity in answer["entities"]:
            label, share, place, score = taken(fields, 4)
            assert (label, place) == (entity["label"], f"{entity['start']}-{entity['end']}")
            assert share == per_cent(entity["score"]) and same_bits(score, [entity["score"]])
    else:
        assert taken(fields, 1) == [f"{len(answer['masks'])} masks"]
        for candidate in [each for mask in answer["masks"] for each in mask[:3]]:
            piece, share, score = taken(fields, 3)
            assert (piece, share) == (candidate["token"], per_cent(candidate["probability"]))
            assert same_bits(score, [candidate["probability"]])


@pytest.mark.parametrize("aggregation", ["simple", "none"])
def test_heads_are_those_of_the_host(aggregation: str, tmp_path: Path) -> None:
    encoder = write_encoder(tmp_path / "encoder")
    heads = tuple(HeadFolder(f"of_{kind}", write_head(tmp_path / kind, kind)) for kind in HEADS)
    linked = firmware_of(BOARDS[-1], encoder, tmp_path, heads=heads)
    found = asked(linked, "bits", TEXTS, first=f"!aggregation {aggregation}")
    answers = of_host(pipeline.Request(encoder, tmp_path / "host", heads=heads), TEXTS, "--aggregation", aggregation)
    for fields, answer in zip(found, answers, strict=True):
        assert taken(fields, 2) == extent(answer)
        for head in heads:
            assert taken(fields, 1) == [head.name]
            check_head(head.name.removeprefix("of_"), fields, answer["heads"][head.name])
        assert not fields


def test_two_texts_of_a_pre_training_checkpoint(tmp_path: Path) -> None:
    checkpoint = write_head(tmp_path / "both", "both")
    lines = ["the [MASK] sat\ton the mat"]
    (fields,) = asked(firmware_of(BOARDS[0], checkpoint, tmp_path), "bits", lines)
    (answer,) = of_host(pipeline.Request(checkpoint, tmp_path / "host"), lines, "--pairs")
    assert taken(fields, 2) == extent(answer)
    assert taken(fields, 1) == ["fill_mask"]
    check_head("masks", fields, answer["heads"]["fill_mask"])
    of_next = answer["heads"]["is_next"]
    assert taken(fields, 3) == ["is_next", "follows", per_cent(of_next["probability"])]
    assert same_bits(*taken(fields, 1), of_next["logits"])
