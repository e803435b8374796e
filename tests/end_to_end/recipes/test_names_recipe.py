# SPDX-License-Identifier: Apache-2.0
"""tools/train/tokens/names.py: sentences of passages, names by their capitals, and what it refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from classify_program import ROOT

RECIPE = ROOT / "tools" / "train" / "tokens" / "names.py"
PASSAGES = (
    "Mary Ann went to Paris. The river was high there. The river I saw was the Seine, I think!",
    "Rivers such as the Seine are in France. Short one.",
)


def recipe(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """One run."""
    return subprocess.run([sys.executable, RECIPE, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    """Two passages, one of them with two questions."""
    path = tmp_path / "rows.jsonl.gz"
    lines = [json.dumps({"context": PASSAGES[i], "question": "?"}) for i in (0, 0, 1)]
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return path


def test_names_are_tagged_by_their_capitals(passages: Path, tmp_path: Path) -> None:
    done = recipe(passages, "--out", tmp_path / "rows.conll", "--texts", tmp_path / "texts.txt")
    assert (done.returncode, done.stdout) == (0, "4 sentences, 32 words, 5 names\n"), done.stderr
    rows = [row.split("\n") for row in (tmp_path / "rows.conll").read_text().strip("\n").split("\n\n")]
    names = [[line for line in row if not line.endswith("\tO")] for row in rows]
    # Mary begins a sentence, and is nowhere else; Rivers, too: neither is known to be a name.
    assert names == [
        ["ann\tB-name", "paris\tB-name"], [], ["seine\tB-name"], ["seine\tB-name", "france\tB-name"]
    ]  # fmt: skip
    assert (tmp_path / "texts.txt").read_text().splitlines()[1] == "the river was high there ."


def test_some_of_the_sentences(passages: Path, tmp_path: Path) -> None:
    assert recipe(passages, "--every", "3", "--out", tmp_path / "rows.conll").stdout.startswith("2 sentences")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.jsonl", None, "rows.jsonl: No such file or directory"),
        ("rows.jsonl", b"{", "rows.jsonl: line 1 is not JSON"),
        ("rows.jsonl", b'{"context": "a"}\n' + b"[" * 100_000, "rows.jsonl: line 2 is not JSON"),
        ("rows.jsonl", b'{"text": "a"}', "rows.jsonl: line 1 is no object with a text as its context"),
        ("rows.jsonl", b'{"context": 1}', "rows.jsonl: line 1 is no object with a text as its context"),
        ("rows.jsonl", b"[1]", "rows.jsonl: line 1 is no object with a text as its context"),
        ("rows.jsonl", b'{"context": "\xff"}', "rows.jsonl: behind line 0 it is not UTF-8"),
        ("rows.jsonl", b"", "rows.jsonl: no sentences"),
        ("rows.jsonl.gz", b"{}", "rows.jsonl.gz is not what gzip writes, or not all of it"),
        (
            "rows.jsonl.gz",
            gzip.compress(b"{}", mtime=0)[:-9],
            "rows.jsonl.gz is not what gzip writes, or not all of it",
        ),
    ],
)
def test_files_refused(name: str, content: bytes | None, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = recipe(tmp_path / name, "--out", tmp_path / "rows.conll")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"names: {words}\n")
    assert not (tmp_path / "rows.conll").exists()


def test_wrong_use(tmp_path: Path) -> None:
    assert recipe(tmp_path / "a", "--out", tmp_path / "b", "--every", "0").returncode == 2


def test_a_dictionary_finds_names_that_it_has_seen(tmp_path: Path) -> None:
    (tmp_path / "train.conll").write_text("the\tO\nseine\tB-name\n\nthe\tO\nriver\tO\n")
    (tmp_path / "test.conll").write_text("the\tO\nseine\tB-name\nriver\tO\nloire\tB-name\nvalley\tI-name\n,\tO\n")
    files = (tmp_path / "train.conll", tmp_path / "test.conll")
    command = [sys.executable, RECIPE.with_name("dictionary.py"), *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "3 words, 0 KB: entity F1 100.00 %\n"), done.stderr
    missing = subprocess.run([*command[:-1], tmp_path / "no.conll"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1 and missing.stderr.startswith("dictionary: error[")
