# SPDX-License-Identifier: Apache-2.0
"""The programs and the calls of tiny models that are asked for summaries: what the library wrote, by the settings and
behind the prefix of that task."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT
from model_build import build_program, build_test
from once import once
from test_decoders import RECORDED, folder

from codegen import pipeline
from codegen.verification.certificate import certify
from codegen.verification.verify import verify

SUMMARIES: dict[str, Any] = json.loads((RECORDED / "summaries.json").read_text(encoding="utf-8"))
SWEPT = ("bart/texts", "mbart/texts", "pegasus/texts")


@dataclass(frozen=True)
class Summarizer:
    checkpoint: Path
    out: Path
    texts: list[tuple[str, list[int], list[int], str, float]]

    @property
    def lines(self) -> bytes:
        return "".join(f"{prompt}\n" for prompt, *_ in self.texts).encode()


@pytest.fixture(
    scope="module", params=[pytest.param(one, marks=[pytest.mark.sweep] * (one in SWEPT)) for one in SUMMARIES]
)
def summarizer(request: pytest.FixtureRequest, shared: Path) -> Summarizer:
    """In float32, so that what is written is the library's."""
    family, recorded = request.param.partition("/")[0], SUMMARIES[request.param]
    place = shared / "summaries" / family
    checkpoint, out = place / "checkpoint", place / "tiny"

    def make() -> None:
        folder(checkpoint, family, task_specific_params={"summarization": recorded["params"]})
        pipeline.generate(pipeline.Request(checkpoint, out, recipe="fp32", task="summarize"), lambda _: None)

    once(place / "made", request.param, make)
    return Summarizer(checkpoint, out, recorded["texts"])


def test_the_program(summarizer: Summarizer) -> None:
    program = build_program(summarizer.out)
    assert program.path.name == "summarize-tiny"
    assert [one["ids"] for one in program.well("--tokens", stdin=summarizer.lines).objects] == [
        ids for _, ids, *_ in summarizer.texts
    ]
    answers = program.well("--json", stdin=summarizer.lines).objects
    assert [answer["text"] for answer in answers] == [text for *_, text, _ in summarizer.texts]
    for answer, (_, ids, *_, score) in zip(answers, summarizer.texts, strict=True):
        assert answer["score"] == pytest.approx(score, abs=1e-4)
        assert answer["tokens"] == len(ids)
    assert {answer["truncated"] for answer in answers} == {False, True}
    assert program.well("--self-test").lines
    assert "summarize-tiny" in program.well("--help").out.decode()


def test_the_calls(summarizer: Summarizer, tmp_path: Path) -> None:
    """Of C: at once, in steps, token by token, in batches."""
    name = "etch_tiny"
    flags = {
        "ETCH_C_HEADER": '"tiny.h"',
        "ETCH_MODEL_WORKSPACE": f"{name}_workspace",
        "ETCH_MODEL_RESULT": f"{name}_result",
        "ETCH_C(suffix)": f"{name}##suffix",
        "ETCH_C_WRITE": f"{name}_summarize",
        "ETCH_C_BATCH": f"{name}_summarize_batch",
    }
    source = ROOT / "tests" / "end_to_end" / "writing" / "target_of_texts.cpp"
    flags_of = [f"-D{name}={value}" for name, value in flags.items()]
    test = build_test(summarizer.out, source, tmp_path / "test", *flags_of)
    asked = "".join(f"400 {prompt}\n" for prompt, *_ in summarizer.texts)
    expected = [text for *_, text, _ in summarizer.texts]
    for how in (("0",), ("1000",), ("1000", "next"), ("batch",)):
        done = subprocess.run([test, *how], input=asked, capture_output=True, text=True, check=True)
        assert [line.partition(" ")[2] for line in done.stdout.splitlines()] == expected, how


def test_what_is_compared(summarizer: Summarizer, tmp_path: Path) -> None:
    """With the folder's own tokenizer, which reads the prefix before each text."""
    program, lines = build_program(summarizer.out), []
    path = tmp_path / "texts.txt"
    path.write_bytes(summarizer.lines)
    assert verify(summarizer.out, summarizer.checkpoint, path, lines.append, lambda *_: program.path) == 0, lines
    count = len(summarizer.texts)
    assert any(line.startswith(f"tokenizer    0 of {count} with ids other than") for line in lines), lines
    certificate = tmp_path / "certificate.json"
    places = summarizer.out, summarizer.checkpoint, path, certificate
    assert certify(*places, lines.append, lambda *_: program.path) == 0, lines
    assert json.loads(certificate.read_text(encoding="utf-8"))["texts"] == count
