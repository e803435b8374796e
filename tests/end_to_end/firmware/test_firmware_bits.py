# SPDX-License-Identifier: Apache-2.0
"""Texts over the board's UART: every logit has the bits that the host's program gives."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boards import ROOT, Firmware, parse_answer
from classify_program import built
from public_data import data_folder

pytestmark = pytest.mark.sweep

ROWS = 7600
EVERY = 63  # of them: 121 rows
LONGEST = 1024  # LineReader::kLineBytes
LEAST_INSTRUCTIONS = 100_000  # a text of 14 tokens and more than 3 million products
NEAR = 0.0501  # per cent: one decimal is shown


def host_answers(texts: list[bytes], folder: Path) -> list[dict[str, Any]]:
    """What the same model says on this machine."""
    path = folder / "texts.txt"
    path.write_bytes(b"".join(text + b"\n" for text in texts))
    return built("classify-agnews_small").well("--json", "--file", path).objects


def assert_same_bits(firmware: Firmware, texts: list[bytes], folder: Path) -> None:
    wanted = host_answers(texts, folder)
    assert len(wanted) == len(texts)
    different = []
    with firmware.start() as emulator:
        assert emulator.ask(b"!logits on") == "logits on"
        for text, host in zip(texts, wanted, strict=True):
            line = emulator.ask(text)
            answer = parse_answer(line)
            logits = tuple(np.array(host["logits"], np.float32).view(np.uint32).tolist())
            same = answer.logits == logits and (answer.label, answer.tokens, answer.truncated) == (
                host["label"],
                host["tokens"],
                host["truncated"],
            )
            if not same or abs(answer.per_cent - 100 * host["probability"]) > NEAR:
                different.append((text, line, host))
        assert emulator.exit() == 0
    assert not different, f"{len(different)} of {len(texts)}: {different[:3]}"


def test_golden_texts(firmware: Firmware, tmp_path: Path) -> None:
    texts = (ROOT / "tests" / "golden" / "texts.txt").read_bytes().split(b"\n")[:-1]
    assert len(texts) == 200
    sent = [text for text in texts if 0 < len(text) <= LONGEST and not text.startswith(b"!") and b"\r" not in text]
    assert len(sent) >= 190
    assert_same_bits(firmware, sent, tmp_path)


def test_rows_of_ag_news(firmware: Firmware, tmp_path: Path) -> None:
    with (data_folder() / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    assert len(table) == ROWS
    texts = [f"{title} {description}".encode() for _, title, description in table[::EVERY]]
    texts = [text for text in texts if len(text) <= LONGEST]
    assert len(texts) >= 100
    assert_same_bits(firmware, texts, tmp_path)


def test_it_is_the_host_s_model(firmware: Firmware) -> None:
    """Otherwise the comparison says nothing."""
    manifest = firmware.elf.parents[1] / "firmware-demo" / "etch_models" / "agnews_small" / "etch.json"
    version = built("classify-agnews_small").well("--version").out.decode()
    checkpoint = next(line for line in version.splitlines() if line.startswith("checkpoint: "))
    assert checkpoint.split()[1] in manifest.read_text()
    assert '"m-profile"' in manifest.read_text()


def test_the_same_count_of_instructions_in_every_run(firmware: Firmware) -> None:
    counts = set()
    for before in ([], [b"!self", b"A long text before it " * 40]):
        with firmware.start() as emulator:
            for line in before:
                emulator.ask(line)
            emulator.ask(b"Oil prices climb as storms close refineries in the gulf")
            counts.add(emulator.ask(b"!ticks"))
    assert len(counts) == 1, counts
    told = re.search(r" (\d+) instructions \(not cycles\)$", counts.pop())
    assert told and int(told[1]) > LEAST_INSTRUCTIONS
