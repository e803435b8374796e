# SPDX-License-Identifier: Apache-2.0
"""`--pooling`: an encoder alone is what it would be with the files of sentence-transformers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from tiny_sentence import write_tiny_sentence_model

from codegen import cli, pipeline
from codegen.asked import POOLINGS
from codegen.ir import graph as g
from codegen.load.sentence import Pooling
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    write_tiny_sentence_model(tmp_path / "encoder")
    (tmp_path / "encoder/modules.json").unlink()
    return tmp_path / "encoder"


def generated(folder: Path, out: Path, *options: str) -> dict[str, bytes]:
    """The files of a model that is called the same whatever the folder is, without the checkpoint's hash."""
    assert cli.main(["generate", str(folder), "--out", str(out), "--name", "same", *options]) == 0
    return {
        path.name: re.sub(rb'"[0-9a-f]{64}"', b'""', path.read_bytes())
        for path in out.iterdir()
        if path.name != "etch.json"
    }


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_the_same_code_as_with_modules(pooling: str, encoder: Path, tmp_path: Path) -> None:
    write_tiny_sentence_model(tmp_path / "modules", pooling=pooling, normalize=False)
    asked = generated(encoder, tmp_path / "asked", "--pooling", pooling)
    said = generated(tmp_path / "modules", tmp_path / "said")
    assert asked == said
    assert json.loads((tmp_path / "asked/etch.json").read_text())["pooling"] == pooling
    assert "pooling" not in json.loads((tmp_path / "said/etch.json").read_text())


def test_the_last_row(encoder: Path) -> None:
    """Of texts of several lengths, beside the largest of all rows, which is at least as large."""
    ids = [2, 7, 9, 8, 3]
    graphs = {
        pooling: pipeline.to_graph(pipeline.load(encoder, Reading(pooling=pooling)), None) for pooling in POOLINGS
    }
    [pool] = [node for node in graphs["last"].body if isinstance(node, g.Pool)]
    assert pool.kind == "last"
    for count in (2, 4, 5):
        rows = {name: Interpreter(graph).output(ids[:count], [0] * count) for name, graph in graphs.items()}
        assert np.all(rows["max"] >= np.maximum(rows["last"], rows["cls"]))
        assert not np.array_equal(rows["last"], rows["cls"])
        if count == 2:
            assert np.allclose((rows["last"] + rows["cls"]) / 2, rows["mean"])


def test_refused(encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(encoder)]) == 1
    assert "or say it with --pooling mean" in capsys.readouterr().err
    assert cli.main(["inspect", str(encoder), "--pooling", "last"]) == 0
    assert "pooling last, not normalized" in capsys.readouterr().out
    write_tiny_sentence_model(tmp_path / "modules")
    assert cli.main(["generate", str(tmp_path / "modules"), "--out", str(tmp_path / "out"), "--pooling", "max"]) == 2
    words = "modules.json says pooling mean: leave --pooling out"
    assert f"error[option-conflict] arguments: {words}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    with pytest.raises(SystemExit):
        cli.main(["inspect", str(encoder), "--pooling", "mean_sqrt"])


def test_what_may_be_asked_for_is_what_a_folder_may_say() -> None:
    assert set(POOLINGS) < set(get_args(Pooling))
