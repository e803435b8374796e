# SPDX-License-Identifier: Apache-2.0
"""Generative models, on boards: words spelled as phonemes, prompts continued and texts summarized, sent as they come,
with the bits of the host's program."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_build import ROOT
from boards import Firmware, chosen_boards, firmware_of, memory_of
from emulator import Emulator
from model_build import build_program
from once import once

from codegen import pipeline

pytestmark = [pytest.mark.sweep, pytest.mark.long_case("generative models on boards")]

WORDS, LEAST_EXACT = 504, 0.65
MOST_INSTRUCTIONS = 2_000_000  # of a character that is written by bart_g2p_us
FLASH, RAM = 1 << 20, 128 << 10
PATIENCE = 1_562_500  # instructions that the watchdog waits
TALES = ROOT / "tests" / "codegen" / "generation" / "gpt2" / "texts"
ARTICLES = TALES.parents[1] / "bart" / "texts"
CAPTIONS = ROOT / "tools" / "train" / "captions" / "checkpoint"
PROMPTS = ("The cat sat on", "x", '\\ and "quotes"', "0 1 2 3 4 5 6 7 8 9", "Caf\u00e9")


@dataclass(frozen=True)
class Answer:
    text: str
    tokens: int
    truncated: bool
    reason: str
    score: int  # bits


def parse_answer(line: str) -> Answer:
    """The line that a text gets back, with the score."""
    found = re.fullmatch(r"([^\t]*)\t\d+ written\t(\d+) tokens\t(whole|truncated)\t(\w+)\t([0-9A-F]{8})", line)
    assert found, line
    return Answer(unescaped(found[1]), int(found[2]), found[3] == "truncated", found[4], int(found[5], 16))


def unescaped(text: str) -> str:
    names = {"n": "\n", "t": "\t", "\\": "\\"}
    return re.sub(r"\\(n|t|\\|x([0-9A-F]{2}))", lambda one: names.get(one[1]) or chr(int(one[2], 16)), text)


def of_host(answer: dict[str, Any]) -> Answer:
    score = int(np.float32(answer["score"]).view(np.uint32))
    return Answer(answer["text"], answer["tokens"], answer["truncated"], answer["reason"], score)


def asked_on_host(checkpoint: Path, shared: Path, texts: list[str], task: str | None = None) -> list[Answer]:
    out = shared / "written_by_host" / checkpoint.parent.name / "writer"
    request = pipeline.Request(checkpoint, out, task=task)
    once(out.parent / "made", "w8a8", lambda: pipeline.generate(request, lambda _: None))
    lines = "".join(f"{text}\n" for text in texts).encode()
    return [of_host(answer) for answer in build_program(out).well("--json", stdin=lines).objects]


def instructions(emulator: Emulator) -> int:
    told = re.search(r" (\d+) instructions \(not cycles\)$", emulator.ask(b"!ticks"))
    assert told
    return int(told[1])


def hold_checks(linked: Firmware, model: Path, painted: int) -> None:
    """What tools/report says of the linked file: no heap, nothing before main, a plan without a gap, and a stack that
    holds the deepest call and interrupts."""
    pytest.importorskip("elftools", reason="pyelftools is not installed: tools/report installs it")
    command = [ROOT / "tools" / "report", linked.elf, "--model", model, "--json", "--painted", str(painted)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    content = json.loads(done.stdout)
    assert all(check["passed"] for check in content["checks"])
    assert content["stacks"][0]["whole_program"] is True


def test_words_as_phonemes(shared: Path, tmp_path: Path) -> None:
    """A trained model on 1 MB of flash and 128 KB of RAM: as many words right as on the host."""
    models = os.environ.get("ETCH_MODELS")
    if models is None:
        pytest.skip("ETCH_MODELS is not set")
    checkpoint = Path(models) / "bart_g2p_us"
    lexicon = json.loads(gzip.decompress((checkpoint / "us_gold.json.gz").read_bytes()))
    words = [word for word in sorted(lexicon) if isinstance(lexicon[word], str)]
    words = words[:: len(words) // WORDS][:WORDS]
    linked = firmware_of("netduinoplus2", checkpoint, tmp_path)
    loaded = [section for section in linked.sections if section.loaded]
    begin, length = linked.regions["RAM"]
    flash = sum(section.size for section in loaded if section.in_file)
    ram = sum(section.size for section in loaded if begin <= section.address < begin + length)
    assert (flash <= FLASH, ram <= RAM) == (True, True)
    written, spent = [], 0
    with linked.start() as emulator:
        assert emulator.ask(b"!score on") == "score on"
        for word in words:
            *pieces, last = emulator.pieces(word.encode())
            written.append(parse_answer("".join([*pieces, last])))
            spent += instructions(emulator)
        assert emulator.ask(b"!self") == "self test passed"
        memory = memory_of(emulator)
        assert emulator.exit() == 0
    assert 512 < memory["stack_painted"] <= memory["stack_budget"] < memory["stack"]
    hold_checks(linked, tmp_path / "board", memory["stack_painted"])
    assert written == asked_on_host(checkpoint, shared, words)
    exact = np.mean([answer.text == lexicon[word] for answer, word in zip(written, words, strict=True)])
    of_character = spent / sum(len(answer.text) for answer in written)
    print(f"{flash} bytes of flash, {ram} of RAM, {of_character:.0f} instructions a character, {exact:.4f} of words")
    assert exact >= LEAST_EXACT
    assert of_character <= MOST_INSTRUCTIONS


@pytest.mark.parametrize("checkpoint", [TALES, CAPTIONS], ids=["GPT-2", "Llama"])
@pytest.mark.parametrize("board", chosen_boards()[-1:])
def test_prompts_in_steps(board: str, checkpoint: Path, shared: Path, tmp_path: Path) -> None:
    """Of a decoder alone: what has no place on a line is escaped, and a watchdog is fed in between."""
    linked = firmware_of(board, checkpoint, tmp_path, "-steps")
    expected = asked_on_host(checkpoint, shared, list(PROMPTS))
    with linked.start() as emulator:
        assert emulator.ask(b"!score on") == "score on"
        for budget in (1, 30_000):
            assert emulator.ask(f"!budget {budget}".encode()) == f"budget {budget}"
            assert [parse_answer(emulator.ask(prompt.encode())) for prompt in PROMPTS] == expected
            steps = re.search(r"emulated (\d+) instructions", emulator.ask(b"!steps"))
            assert steps and int(steps[1]) < PATIENCE
        assert emulator.ask(b"!logits on") == "error unknown-command: !logits on"
        assert emulator.ask(b"!self") == "error self-test: one call, longer than the watchdog waits"
        assert emulator.exit() == 0


@pytest.mark.parametrize("board", chosen_boards()[-1:])
def test_summaries(board: str, shared: Path, tmp_path: Path) -> None:
    """With the beams and restrictions that BART's folder asks for, in steps."""
    linked = firmware_of(board, ARTICLES, tmp_path, "-steps", task="summarize")
    expected = asked_on_host(ARTICLES, shared, list(PROMPTS), "summarize")
    assert len({answer.text for answer in expected}) > 1
    with linked.start() as emulator:
        assert emulator.ask(b"!score on") == "score on"
        for budget in (1, 30_000):
            assert emulator.ask(f"!budget {budget}".encode()) == f"budget {budget}"
            assert [parse_answer(emulator.ask(prompt.encode())) for prompt in PROMPTS] == expected
        assert emulator.exit() == 0
