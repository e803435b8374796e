# SPDX-License-Identifier: Apache-2.0
"""The programs of models that go on with a text, GPT-2's, Qwen2's and Llama's shape, in float32: what the library
wrote behind the same prompts, an empty one and one that is too long among them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT, Program
from model_build import build_program, build_test
from once import once
from tokenizers import Tokenizer

from codegen import evaluate, pipeline
from codegen.emulate.generation import Generation
from codegen.files.table_file import Columns
from codegen.library_tokenizer.spelled import Speller
from codegen.load.checkpoint import Checkpoint
from codegen.request import Reading
from codegen.verification.verify import verify

RECORDED = ROOT / "tests" / "codegen" / "generation"
FAMILIES = [
    "gpt2",
    "llama",
    *(
        pytest.param(name, marks=pytest.mark.sweep)
        for name in ("biogpt", "lfm2", "openai-gpt", "qwen2", "qwen3", "xglm")
    ),
]
ENDS = {
    "biogpt": {2},
    "gpt2": {281},
    "lfm2": {282, 283},
    "llama": {282, 283},
    "openai-gpt": {93},
    "qwen2": {281},
    "qwen3": {281},
    "xglm": {2},
}
EMPTY = {"openai-gpt": 93}  # what an empty prompt reads as
SILENT = {"xglm"}  # all that it wrote is special tokens, which texts leave out
LONGEST = {"xglm": 25}  # characters of a prompt that is not cut


def recorded(family: str) -> list[dict[str, Any]]:
    return json.loads((RECORDED / family / "texts" / "texts.json").read_text(encoding="utf-8"))


def folder_of(family: str, recipe: str, shared: Path) -> Path:
    out = shared / f"{family}_{recipe}" / "story"
    request = pipeline.Request(RECORDED / family / "texts", out, recipe=recipe)
    once(out.parent / "made", recipe, lambda: pipeline.generate(request, lambda _: None))
    return out


def program_of(family: str, shared: Path) -> Program:
    return build_program(folder_of(family, "fp32", shared))


@pytest.mark.parametrize("family", FAMILIES)
def test_prompts(family: str, shared: Path) -> None:
    texts = recorded(family)
    assert all(text["margin"] > 1e-4 for text in texts)
    program = program_of(family, shared)
    assert program.path.name == "generate-story"
    lines = "".join(f"{text['prompt']}\n" for text in texts).encode()
    answers = program.well("--json", stdin=lines).objects
    assert [answer["text"] for answer in answers] == [text["text"] for text in texts]
    assert [answer["tokens"] for answer in answers] == [max(1, len(text["ids"])) for text in texts]
    assert [answer["truncated"] for answer in answers] == [
        len(text["prompt"]) > LONGEST.get(family, 80) for text in texts
    ]
    ended = ["end" if text["written"][-1] in ENDS[family] else "length" for text in texts]
    assert [answer["reason"] for answer in answers] == ended
    assert set(ended) == {"end", "length"}
    drawn = program.well("--temperature", "1.5", "--seed", "5", stdin=lines).out
    assert drawn == program.well("--temperature", "1.5", "--seed", "5", "--stream", stdin=lines).out
    assert drawn == program.well("--temperature", "1.5", "--seed", "5", "--threads", "3", stdin=lines).out
    assert drawn != program.well("--temperature", "1.5", "--seed", "6", stdin=lines).out
    assert program.well("--top-k", "1", stdin=lines).out == program.well(stdin=lines).out
    assert program.well("--seed", "1", "--temperature", "0", stdin=lines).out == program.well(stdin=lines).out
    for refused in (("--temperature", "-1"), ("--temperature", "1e-9"), ("--top-p", "0"), ("--top-p", "nan")):
        program.refused(2, *refused, "a")
    assert program.well("--stream", stdin=lines).out == program.well(stdin=lines).out
    tokens = program.well("--tokens", stdin=lines).objects
    assert [one["ids"] for one in tokens] == [text["ids"] for text in texts]
    assert program.well("--self-test").lines
    assert "up to 17 are written" in program.well("--help").out.decode()


@pytest.mark.parametrize("family", FAMILIES)
def test_fewer_tokens(family: str, shared: Path) -> None:
    """The first ones of what the library wrote, and that their length ended them."""
    texts, program, most = recorded(family), program_of(family, shared), 5
    lines = "".join(f"{text['prompt']}\n" for text in texts).encode()
    loaded = pipeline.load(RECORDED / family / "texts")
    whole = [answer["text"] for answer in program.well("--json", stdin=lines).objects]
    answers = program.well("--json", "--max-length", str(most), stdin=lines).objects
    meant = [text_behind(loaded, text["ids"] or [EMPTY.get(family, 281)], text["written"][:most]) for text in texts]
    assert [answer["text"] for answer in answers] == meant
    assert (meant != whole) == (family not in SILENT)
    ended = [text["written"][:most][-1] in ENDS[family] for text in texts]
    assert [answer["reason"] for answer in answers] == ["end" if by_itself else "length" for by_itself in ended]
    assert [answer["text"] for answer in program.well("--json", "--max-length", "17", stdin=lines).objects] == whole
    streamed = program.well("--stream", "--max-length", str(most), stdin=lines).out
    assert streamed == program.well("--max-length", str(most), stdin=lines).out
    for refused in ("0", "18", "all"):
        program.refused(2, "--max-length", refused, "a")


def latencies(program: Program, *options: str) -> list[list[float]]:
    """The rows of --latency, of whose columns the names are checked."""
    _, columns, *rows = program.well("--latency", *options).lines
    assert columns.split() == [
        *("tokens", "runs", "median", "ms", "p95", "ms"),
        *("written", "first", "ms", "ms/token", "texts/s"),
    ]
    return [[float(field) for field in row.split()] for row in rows]


def test_latency(shared: Path) -> None:
    """When the first token is there, and how long each behind it takes: together the call."""
    rows = latencies(program_of("gpt2", shared), "--max-length", "9", "--threads", "2")
    assert [row[0] for row in rows] == [8, 16, 25]
    for _, runs, median, p95, written, first, of_token, rate in rows:
        assert runs >= 5 and 1 <= written <= 9
        assert 0 < first <= median <= p95
        assert rate == pytest.approx(1e3 / median, rel=0.1)
        if written > 1:
            assert first < median and 0 < of_token < median


@pytest.mark.parametrize("family", FAMILIES)
def test_room_and_budgets(family: str, shared: Path, tmp_path: Path) -> None:
    """In 8 bits, by the C functions: the emulator's tokens, decoded behind the prompt, as much of them as fits."""
    folder = folder_of(family, "w8a8", shared)
    flags = {
        "ETCH_C_HEADER": '"story.h"',
        "ETCH_MODEL_WORKSPACE": "etch_story_workspace",
        "ETCH_MODEL_RESULT": "etch_story_result",
        "ETCH_C(suffix)": "etch_story##suffix",
        "ETCH_C_WRITE": "etch_story_generate",
        "ETCH_C_BATCH": "etch_story_generate_batch",
    }
    source = ROOT / "tests" / "end_to_end" / "writing" / "target_of_texts.cpp"
    test = build_test(folder, source, tmp_path / "test", *(f"-D{name}={value}" for name, value in flags.items()))
    loaded = pipeline.load(RECORDED / family / "texts")
    program = pipeline.lower(loaded, "w8a8", None)
    asked, whole = [], []
    for text in recorded(family):
        ids = text["ids"] or [EMPTY.get(family, 281)]
        written = Generation(program, ids, [0] * len(ids)).greedy()[0]
        spelled = text_behind(loaded, ids, written).encode()
        if b"\n" not in spelled:  # the program's lines
            ended = 0 if written[-1] in ENDS[family] else 1
            asked += [(room, text["prompt"]) for room in (0, 5, 400)]
            whole += [(ended, spelled)] * 3
    assert len(whole) >= 9
    lines = "".join(f"{room} {prompt}\n" for room, prompt in asked).encode()
    outputs = []
    for way in (("0",), ("1",), (str(1 << 40),), ("1", "by token")):
        done = subprocess.run([test, *way], input=lines, capture_output=True, check=True)
        outputs.append(done.stdout)
        answers = [(int(line[:1]), line[2:]) for line in done.stdout.removesuffix(b"\n").split(b"\n")]
        for (room, _), (ended, spelled), (reason, given) in zip(asked, whole, answers, strict=True):
            assert spelled.startswith(given) and len(given) <= room
            assert (reason, given == spelled) == ((ended, True) if len(spelled) <= room else (2, False))
            given.decode()  # whole characters
    assert len(set(outputs)) == 1
    done = subprocess.run([test, "batch"], input=lines, capture_output=True, check=True)
    roomy = outputs[0].split(b"\n")[2::3]
    assert done.stdout.split(b"\n") == [line for line in roomy for _ in range(3)] + [b""]


@pytest.mark.parametrize("family", FAMILIES)
def test_verify(family: str, shared: Path, tmp_path: Path) -> None:
    """Every prompt of the recorded ones: the contract's texts and scores, and float64's."""
    texts = tmp_path / "prompts.txt"
    texts.write_text("".join(f"{text['prompt']}\n" for text in recorded(family)), encoding="utf-8")
    program, lines = program_of(family, shared), []
    folder = folder_of(family, "fp32", shared)
    assert verify(folder, RECORDED / family / "texts", texts, lines.append, lambda *_: program.path) == 0, lines
    assert f"texts        0 of {len(recorded(family))} other than the reference's" in lines


def test_a_table_of_a_model_that_draws(shared: Path, tmp_path: Path) -> None:
    """Rows are drawn for as lines are, by seed and number; the best tokens are what the generator judges."""
    checkpoint, out = tmp_path / "checkpoint", shared / "gpt2_draws" / "story"
    shutil.copytree(RECORDED / "gpt2" / "texts", checkpoint)
    settings = json.loads((checkpoint / "generation_config.json").read_text())
    drawing = settings | {"do_sample": True, "temperature": 1.5}
    (checkpoint / "generation_config.json").write_text(json.dumps(drawing))
    once(
        out.parent / "made", "fp32", lambda: pipeline.generate(pipeline.Request(checkpoint, out, recipe="fp32"), print)
    )
    program = build_program(out)
    prompts = [text["prompt"] for text in recorded("gpt2") if 0 < len(text["prompt"]) <= 80]
    lines = "".join(f"{prompt}\n" for prompt in prompts).encode()

    def written(*options: str) -> list[str]:
        return [answer["text"] for answer in program.well("--json", *options, stdin=lines).objects]

    def exact(*options: str) -> int:
        (found,) = program.well("--evaluate", table, "--label-column", "label", "--json", *options).objects
        assert found["rows"] == len(prompts)
        return found["exact"]

    drawn, best = written(), written("--temperature", "0")
    assert drawn == written("--temperature", "1.5", "--seed", "0", "--threads", "2") != best
    assert best == [text["text"] for text in recorded("gpt2") if text["prompt"] in prompts]
    table = tmp_path / "rows.jsonl"
    rows = [{"label": label, "text": prompt} for label, prompt in zip(drawn, prompts, strict=True)]
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert exact() == exact("--threads", "3") == exact("--seed", "0") == len(prompts)
    other = written("--seed", "1")
    assert exact("--seed", "1") == sum(map(str.__eq__, drawn, other)) < len(prompts)
    loaded = pipeline.load(checkpoint)
    lowered = pipeline.lower(loaded, "fp32", None)
    read = evaluate.read_rows(table, Columns("label"), lowered.task, 100)
    score = evaluate.score(lowered, loaded.tokenizer, read, loaded.target)
    assert score.answers.tolist() == best
    same = exact("--temperature", "0")
    assert same == sum(map(str.__eq__, drawn, best))
    assert score.value == pytest.approx(100 * same / len(prompts))


def text_behind(loaded: Checkpoint, ids: list[int], written: list[int]) -> str:
    """By the library that joins its pieces."""
    assert loaded.target is not None
    if loaded.target.decoder.moses is not None:
        return Speller(loaded.target).text(written, ids)
    tokenizer = Tokenizer.from_str(loaded.tokenizer.json)
    before, both = (tokenizer.decode(of, skip_special_tokens=True) for of in (ids, ids + written))
    return both[len(before) :]


def test_beams_behind_a_prompt(shared: Path) -> None:
    """The texts of every sequence that the emulator finds, decoded behind the prompt."""
    folder, beams = RECORDED / "gpt2" / "texts", 3
    out = shared / "gpt2_beams" / "tale"
    request = pipeline.Request(folder, out, recipe="fp32", beams=beams)
    once(out.parent / "made", "fp32", lambda: pipeline.generate(request, lambda _: None))
    program = build_program(out)
    loaded = pipeline.load(folder, Reading(beams=beams))
    lowered = pipeline.lower(loaded, "fp32", None)
    for text in recorded("gpt2"):
        if len(text["prompt"]) > 80:
            continue
        ids = text["ids"] or [281]
        (answer,) = program.well("--json", "--nbest", str(beams), "--", text["prompt"]).objects
        found = Generation(lowered, ids, [0] * len(ids)).beams()
        spelled = [text_behind(loaded, ids, list(one.tokens)) for one in found]
        assert [one["text"] for one in answer["nbest"]] == spelled
        assert [one["score"] for one in answer["nbest"]] == pytest.approx([float(one.score) for one in found], abs=1e-5)
    for _, _, median, _, written, first, of_token, _ in latencies(program):
        assert first == pytest.approx(median, rel=0.5) and of_token == pytest.approx(median / written, rel=0.5)
    assert all(row[5] < row[2] for row in latencies(program, "--beams", "1") if row[4] > 1)
