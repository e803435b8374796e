# SPDX-License-Identifier: Apache-2.0
"""BLEU and chrF of the programs of generative models, against what sacreBLEU computed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT

CLI = ROOT / "tools" / "cli"
RECORDED: list[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "codegen" / "generation" / "sacrebleu.json").read_text(encoding="utf-8")
)


def test_scores(tmp_path: Path) -> None:
    sources = (
        ROOT / "tests" / "end_to_end" / "writing" / "translation_scores.cpp",
        *(CLI / name for name in ("scores/translation_scores.cpp", "text/utf8.cpp", "text/format.cpp")),
        *(
            ROOT / "runtime/src/tokenizer/unicode" / name
            for name in ("characters.cpp", "unicode_tables.cpp", "utf8.cpp")
        ),
    )
    program = tmp_path / "scores"
    include = f"-I{ROOT / 'runtime' / 'include'}"
    subprocess.run(["c++", "-std=c++17", "-O0", include, *sources, "-o", program], check=True)
    files = []
    for i, corpus in enumerate(RECORDED):
        files.append(tmp_path / f"{i}")
        files[-1].write_bytes(b"".join(text.encode() + b"\0" for row in corpus["rows"] for text in row))
    lines = subprocess.run([program, *files], check=True, capture_output=True, text=True).stdout.splitlines()
    for line, corpus in zip(lines, RECORDED, strict=True):
        bleu, chrf, same = line.split()
        assert float(bleu) == pytest.approx(corpus["bleu"], abs=1e-4), corpus["rows"]
        assert float(chrf) == pytest.approx(corpus["chrf"], abs=1e-4), corpus["rows"]
        assert int(same) == sum(text == reference for text, reference in corpus["rows"])
