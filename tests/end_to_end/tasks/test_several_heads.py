# SPDX-License-Identifier: Apache-2.0
"""Programs of models with several heads on one encoder: in floats what each head's own folder means, in every recipe
and on every kernel the bits that a model of this head alone has; every call finds the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classify_program import ROOT, Program
from evaluation_report import evaluated
from model_build import build_program
from recorded_tasks import compare_calls

sys.path.insert(1, str(ROOT / "tests" / "codegen"))

from tiny_heads import write_encoder, write_gru, write_head

from codegen import pipeline
from codegen.emulate import emulate_texts
from codegen.head_folders import HeadFolder
from codegen.ir.text import Text
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.interpret import Interpreter
from codegen.verification.verify import verify

TEXTS = (
    "the cat sat on the [MASK]",
    "[MASK] dog ran",
    "Berlin unable [MASK] [MASK] .",
    "",
    "the cat " * 30,
    "[MASK] " * 1000,
)
ONE_TEXT = ("single", "multi", "values", "tags", "masks", "gru")  # tags are of one text
TWO_TEXTS = ("single", "values", "next", "masks")
KEYS = {"single": "logits", "multi": "logits", "values": "values", "next": "logits", "gru": "logits"}


def folders(kinds: tuple[str, ...], place: Path) -> tuple[HeadFolder, ...]:
    """A head of each of these kinds on the encoder that write_encoder() writes."""
    written = (write_gru(place / kind) if kind == "gru" else write_head(place / kind, kind) for kind in kinds)
    return tuple(HeadFolder(f"of_{kind}", folder) for kind, folder in zip(kinds, written, strict=True))


def outputs(kind: str, answer: dict[str, Any]) -> np.ndarray:
    """What a head's part of the JSON says, as the emulator has it."""
    if kind == "tags":
        return np.array(answer["probabilities"], np.float32)
    if kind == "masks":
        rows = [[each[key] for key in ("id", "probability") for each in mask] for mask in answer["masks"]]
        return np.array(rows, np.float32).reshape(len(rows), 32)
    return np.array(answer[KEYS[kind]], np.float32)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By recipe the generated folder of all heads, and the heads' folders."""
    place = tmp_path_factory.mktemp("heads")
    encoder = write_encoder(place / "encoder")
    heads = folders(ONE_TEXT, place)
    made: dict[str, Any] = {"heads": heads, "encoder": encoder}
    for recipe in ("w8a8", "fp32"):
        out = place / f"heads_{recipe}"
        pipeline.generate(pipeline.Request(encoder, out, recipe=recipe, heads=heads), lambda _: None)
        made[recipe] = out
    return made


@pytest.mark.parametrize("recipe", ["w8a8", "fp32"])
def test_every_head_has_the_bits_that_it_has_alone(models: dict[str, Any], recipe: str) -> None:
    built = build_program(models[recipe])
    options = ("--json", "--probabilities", "--top", "16")
    kernels = built.well("--kernel", "list").lines
    answers = {
        kernel: built.well(*options, "--kernel", kernel, stdin="".join(f"{text}\n" for text in TEXTS).encode()).objects
        for kernel in kernels
    }
    for head in models["heads"]:
        kind = head.name.removeprefix("of_")
        alone = pipeline.load(head.folder)
        program = pipeline.lower(alone, recipe, None)
        encodings = text_tokenizer(alone.tokenizer, program.max_tokens).encode_batch(list(TEXTS))
        meant = emulate_texts(program, [Text(e.ids, e.type_ids) for e in encodings])
        interpreter = Interpreter(pipeline.to_graph(alone, None))
        for kernel, of_kernel in answers.items():
            for answer, encoding, expected in zip(of_kernel, encodings, meant, strict=True):
                found = outputs(kind, answer["heads"][head.name])
                assert found.tobytes() == np.asarray(expected, np.float32).tobytes(), (kind, kernel)
                assert answer["tokens"] == len(encoding.ids)
                if recipe == "fp32" and kind in KEYS:
                    assert np.abs(found - interpreter.output(encoding.ids, encoding.type_ids)).max() < 1e-4


@pytest.mark.parametrize("kinds", [ONE_TEXT, TWO_TEXTS], ids=["one text", "pairs"])
def test_every_call_finds_the_same(kinds: tuple[str, ...], models: dict[str, Any], tmp_path: Path) -> None:
    out = models["w8a8"]
    if kinds != ONE_TEXT:
        encoder, out = write_encoder(tmp_path / "encoder"), tmp_path / "pairs_w8a8"
        request = pipeline.Request(encoder, out, target="m-profile", heads=folders(kinds, tmp_path))
        pipeline.generate(request, lambda _: None)
    compare_calls(out, "analyze_calls.cpp", TEXTS, tmp_path)


def test_a_pre_training_checkpoint_gives_both_heads(tmp_path: Path) -> None:
    out = tmp_path / "both_w8a8"
    folder = write_head(tmp_path / "both", "both")
    pipeline.generate(pipeline.Request(folder, out), lambda _: None)
    manifest = json.loads((out / "etch.json").read_text())
    assert (manifest["task"], manifest["heads"]) == (
        "several",
        {"fill_mask": "fill_mask", "is_next": "next_sentence"},
    )
    built = build_program(out)
    built.well("--self-test")
    (answer,) = built.well("--json", "--pair", "the [MASK] sat", "on the mat").objects
    assert len(answer["heads"]["fill_mask"]["masks"]) == 1
    assert 0 < answer["heads"]["is_next"]["probability"] < 1
    (mask, following) = built.well("--pair", "the [MASK] sat", "on the mat").lines
    assert mask.startswith("fill_mask\t") and following.startswith("is_next\t0.")
    assert verify(out, folder, None, lambda _: None, find_program=lambda *_: built.path) == 0
    table = tmp_path / "rows.tsv"
    said = "next" if answer["heads"]["is_next"]["probability"] > 0.5 else "random"
    table.write_text(f"{said}\tthe [MASK] sat\ton the mat\n")
    judged, _ = evaluated(built, table, "--head", "is_next")
    assert judged.out.startswith(b"accuracy: 100.00 %\nrows: 1, ")
    one_column = ("--evaluate", table, "--head", "is_next", "--text-columns", "2")
    assert "--evaluate needs two text columns, there are 1" in built.refused(2, *one_column)
    assert "--pairs needs two text columns, there are 1" in built.refused(2, *one_column, "--pairs")
    assert "--head: there is no head 'x'" in built.refused(2, "--evaluate", table, "--head", "x")


def test_the_program_shows_a_line_a_head_and_refuses_what_needs_one(models: dict[str, Any]) -> None:
    built: Program = build_program(models["w8a8"])
    lines = built.well("[MASK] cat [MASK]").lines
    names = [line.split("\t")[0] for line in lines]
    assert names == ["of_single", "of_multi", "of_values", "of_tags", "of_masks", "of_masks", "of_gru"]
    help_lines = built.well("--help").lines
    assert any("heads: of_single" in line for line in help_lines)
    assert max(map(len, help_lines)) <= 120
    for options, words in (
        (("--probabilities", "a"), "--probabilities only goes with --json"),
        (("--pair", "a", "b"), "--pair: model "),
        (("--evaluate", "x.csv"), "choose it by --head of_single, of_multi, of_values, of_tags, of_masks, of_gru"),
        (("--evaluate", "x.csv", "--head", "tags"), "there is no head 'tags', the model has of_single"),
        (("--evaluate", "x.csv", "--head", "of_tags"), "expected a file named .conll, .bio or .iob, got 'x.csv'"),
        (("--evaluate", "x.conll", "--head", "of_single"), "expected a file named .csv, .tsv or .jsonl, got 'x.conll'"),
        (
            ("--evaluate", "x.csv", "--head", "of_values", "--confusion"),
            "--confusion does not go with --evaluate of head",
        ),
        (("--evaluate", "x.bio", "--head", "of_tags", "--label-column", "2"), "--label-column does not go with"),
        (("--evaluate", "x.csv", "--head", "of_masks", "--labels", "0"), "which fills masks"),
        (("--evaluate", "x.csv", "--head", "of_gru", "--pairs"), "takes single texts only"),
    ):
        assert words in built.refused(2, *options), options


# By kind what a table of it is: its name, content, and options.
TABLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "single": ("rows.csv", "0,the cat\n2,a dog ran\n1,Berlin\n0,unable\n", ("--labels", "0")),
    "tags": ("rows.conll", "the O\ncat B-animal\n\nBerlin B-place\nunable I-animal\n", ()),
    "multi": ("rows.csv", "0;3,the cat\n,a dog ran\n1,Berlin\n", ("--labels", "0")),
    "values": ("rows.csv", "1.5;2,the cat\n0;1,a dog ran\n-1;3,Berlin\n", ()),
    "masks": ("rows.tsv", "cat\tthe [MASK] sat\nthe;dog\t[MASK] [MASK] ran\n", ()),
}


@pytest.mark.parametrize(
    "kind", [*list(TABLES)[:2], *(pytest.param(kind, marks=pytest.mark.sweep) for kind in list(TABLES)[2:])]
)
def test_a_head_is_judged_as_by_its_own_program(kind: str, models: dict[str, Any], tmp_path: Path) -> None:
    head = next(head for head in models["heads"] if head.name == f"of_{kind}")
    out = tmp_path / "alone"
    pipeline.generate(pipeline.Request(head.folder, out), lambda _: None)
    name, content, options = TABLES[kind]
    (tmp_path / name).write_text(content)
    asked = ("--evaluate", tmp_path / name, *options)
    several, alone = build_program(models["w8a8"]), build_program(out)
    judged = alone.well(*asked).out
    assert judged.count(b"\n") >= 3
    assert several.well(*asked, "--head", head.name, "--threads", "2").out == judged
    if kind == "single":
        for more in (("--confusion",), ("--confusion", "--json"), ("--limit", "2")):
            assert several.well(*asked, *more, "--head", head.name).out == alone.well(*asked, *more).out


def test_verify_compares_every_head(models: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    built = build_program(models["w8a8"])
    lines: list[str] = []
    asked = models["w8a8"], models["encoder"], None, lines.append
    assert verify(*asked, find_program=lambda *_: built.path, heads=models["heads"]) == 0
    assert [line for line in lines if line.startswith("head ")] == [f"head         {h.name}" for h in models["heads"]]
