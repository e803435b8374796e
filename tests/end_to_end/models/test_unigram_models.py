# SPDX-License-Identifier: Apache-2.0
"""Generated models with SentencePiece's tokenizer: golden texts on every kernel, ids, the stack within its budget."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from model_build import build_program
from recorded.outputs import folder
from test_unigram_folder import EXPECTED, TEXTS, model_folder

from codegen.cli import main

MODELS = [
    ("albert/inner_twice", "AlbertTokenizer", "host"),
    ("deberta-v2/v3", "DebertaV2Tokenizer", "host"),
    ("xlm-roberta/multi_label", "XLMRobertaTokenizer", "host"),
    ("xlm-roberta/multi_label", "XLMRobertaTokenizer", "m-profile"),
]


@pytest.mark.parametrize(("recorded", "name", "target"), MODELS)
def test_texts_go_all_the_way(recorded: str, name: str, target: str, tmp_path: Path) -> None:
    checkpoint = shutil.copytree(folder(recorded), tmp_path / "checkpoint")
    for file in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (checkpoint / file).unlink(missing_ok=True)
    model_folder(checkpoint, name)
    assert main(["generate", str(checkpoint), "--out", str(tmp_path / "pieces"), "--target", target]) == 0
    program = build_program(tmp_path / "pieces")
    for kernel in program.well("--kernel", "list").lines:
        assert program.well("--self-test", "--kernel", kernel).lines == ["ok"]
    for line, ids in zip(program.well("--tokens", *TEXTS).objects, EXPECTED[name][: len(TEXTS)], strict=True):
        kept = len(line["ids"]) - 1  # before the last special token
        assert line["truncated"] == (kept + 1 < len(ids))  # a model of few positions
        assert line["ids"] == [*ids[:kept], ids[-1]]
    shutil.rmtree(tmp_path)
