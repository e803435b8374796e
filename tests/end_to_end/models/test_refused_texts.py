# SPDX-License-Identifier: Apache-2.0
"""Models whose tokenizer adds no tokens: every call refuses a text without any. And lists of texts that lie where a
call works."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from classify_program import ROOT
from model_build import build_program, build_test
from once import once
from recorded_tasks import kernels_of

from codegen import pipeline
from codegen.calibration.calibrate import calibrate
from codegen.errors import EtchError
from codegen.evaluate import read_rows, score
from codegen.files.table_file import Columns
from codegen.golden import SHORT_TEXTS, make_golden

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
MODELS = {
    "classify": ("recorded/roberta/softmax", BYTE_LEVEL, None),
    "answer": ("recorded/answers/roberta", BYTE_LEVEL, None),
    "fill_mask": ("recorded/masks/roberta", BYTE_LEVEL, None),
    "translate": ("generation/t5/texts", None, 3),
    "translate greedily": ("generation/t5/texts", None, 1),
}


def checkpoint(form: str, folder: Path) -> Path:
    """A recorded one whose tokenizer adds nothing."""
    source, processor, _ = MODELS[form]
    shutil.copytree(ROOT / "tests" / "codegen" / source, folder)
    edits = {"tokenizer.json": {"post_processor": processor}}
    if processor is not None:  # else the class would say another one
        edits["tokenizer_config.json"] = {"tokenizer_class": "PreTrainedTokenizerFast"}
    for name, changed in edits.items():
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changed), encoding="utf-8")
    return folder


def generated(form: str, shared: Path) -> Path:
    out = shared / "quiet" / form.replace(" ", "_") / "quiet"

    def make() -> None:
        folder = out.parent / "checkpoint"
        shutil.rmtree(folder, ignore_errors=True)
        asked = pipeline.Request(checkpoint(form, folder), out, beams=MODELS[form][2])
        pipeline.generate(asked, lambda _: None)

    once(out.parent / "made", form, make)
    return out


@pytest.mark.parametrize("form", MODELS)
def test_every_call_refuses_them(form: str, shared: Path, tmp_path: Path) -> None:
    out = generated(form, shared)
    macros = (
        f"-DOF_{form.partition(' ')[0].upper()}",
        '-DETCH_MODEL_C_HEADER="quiet.h"',
        "-DETCH_C(suffix)=etch_quiet_##suffix",
    )
    program = build_test(out, ROOT / "tests/end_to_end/models/refused_texts.cpp", tmp_path / "calls", *macros)
    for kernel in kernels_of(program):
        done = subprocess.run([program, kernel], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (kernel, done.stderr)


@pytest.mark.parametrize("form", ["classify", "translate"])
def test_no_golden_text_is_one(form: str, tmp_path: Path) -> None:
    loaded = pipeline.load(checkpoint(form, tmp_path / "checkpoint"))
    program = pipeline.lower(loaded, "fp32", None)
    goldens = make_golden(program, loaded.tokenizer, loaded.target)
    assert [golden.text.decode() for golden in goldens[:2]] == [SHORT_TEXTS[0], SHORT_TEXTS[2]]
    assert all(golden.ids for golden in goldens)


def test_a_program_names_the_reason(shared: Path) -> None:
    """And what it says of the lines before is there."""
    program = build_program(generated("classify", shared))
    assert "there are no tokens" in program.refused(1, stdin=b"a cat\n\na dog\n")


def test_files_of_texts_are_refused(tmp_path: Path) -> None:
    """To evaluate with and to calibrate with."""
    loaded = pipeline.load(checkpoint("classify", tmp_path / "checkpoint"))
    program = pipeline.lower(loaded, "w4a8", None)
    rows = tmp_path / "rows.csv"
    rows.write_text('0,a cat\n1,""\n', encoding="utf-8")
    texts = tmp_path / "texts.txt"
    texts.write_text("a cat\n\na dog\n", encoding="utf-8")
    with pytest.raises(EtchError, match="tokens of text 2") as of_rows:
        score(program, loaded.tokenizer, read_rows(rows, Columns(), program.task, 2, lambda _: None, None))
    assert (of_rows.value.code, of_rows.value.stage) == ("text-without-tokens", "evaluate")
    with pytest.raises(EtchError, match="tokens of text 2") as of_texts:
        calibrate(program, pipeline.to_graph(loaded, None), loaded.tokenizer, texts)
    assert (of_texts.value.code, of_texts.value.stage) == ("text-without-tokens", "calibrate")
