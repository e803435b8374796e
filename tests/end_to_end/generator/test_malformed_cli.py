# SPDX-License-Identifier: Apache-2.0
"""The corpus of malformed checkpoint folders through `generate`: each is refused by name, and nothing is written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from folder_content import content
from generator_program import etch, one_line
from sampling import sampled
from tiny_checkpoint import write_tiny_checkpoint

sys.path.insert(0, str(Path(__file__).parents[2] / "codegen" / "load"))
from corpus import KINDS
from malformed import Case
from test_load_safetensors import LEGAL

# Everything that a hostile folder may hold, as the project promises to refuse it. "all-zero channel" is legal.
PROMISED = {
    "header shorter than 8 bytes", "length beyond the file", "header over 100 MB", "first byte not {", "bad UTF-8",
    "truncated JSON", "deeply nested JSON", "duplicate keys", "NaN and Infinity literals", "huge integers",
    "offsets reversed", "overlapping tensors", "holes", "trailing bytes", "shape and dtype do not match",
    "shape times dtype overflows", "negative dimension", "float dimension", "unknown dtype", "NaN and Inf weights",
    "fp16 and bf16 overflow", "missing tensors", "extra tensors", "wrongly shaped tensors", "hidden % heads",
    "10^9 layers", "label gaps", "token id beyond the vocabulary", "duplicate vocabulary entries", "missing [UNK]",
    "unknown normalizer", "unknown model type", "pickle", "remote code", "../ in an index",
    "absolute path in an index", "symlink escapes",
}  # fmt: skip
CORPUS = {name: case for cases in KINDS.values() for name, case in cases}
# Of the cases one of nine runs always: tests/codegen/load sends all of them through the loader.
QUICK = list(CORPUS)[::9]
SWEPT = sampled([name for name in CORPUS if name not in QUICK], 25, "malformed checkpoints")


def test_the_corpus_has_every_kind() -> None:
    assert {kind for kind, cases in KINDS.items() if cases} >= PROMISED
    assert len(CORPUS) == sum(map(len, KINDS.values())) >= 60  # no case stands for two


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes | None]:
    """What a folder holds that was generated before."""
    folder = tmp_path_factory.mktemp("generated")
    write_tiny_checkpoint(folder / "model")
    outcome = etch("generate", folder / "model", "--out", folder / "older")
    assert outcome.code == 0, outcome.err
    return content(folder / "older")


@pytest.mark.parametrize(
    ("case", "out"),
    [
        pytest.param(CORPUS[name], ("fresh", "older")[i % 2], id=name, marks=[] if name in QUICK else pytest.mark.sweep)
        for i, name in enumerate([*QUICK, *SWEPT])
    ],
)
def test_refused(case: Case, out: str, tmp_path: Path, generated: dict[str, bytes | None]) -> None:
    """Neither a new output folder nor an older one is touched; half of the cases meet each."""
    write_tiny_checkpoint(tmp_path / "model")
    (tmp_path / "older").mkdir()
    for name, data in generated.items():
        (tmp_path / "older" / name).write_bytes(data or b"")
    case.change(tmp_path / "model")
    before = content(tmp_path)
    message = one_line(etch("generate", tmp_path / "model", "--out", tmp_path / out), 1)
    assert message.startswith(f"etch: {case.message}"), message
    assert case.words in message
    assert (str(tmp_path) in message) == (
        case.code in ("pickle-refused", "adapter-not-supported")
    )  # a command for the shell
    assert content(tmp_path) == before


@pytest.mark.parametrize("name", ["front-end: model type", "safetensors: extra"])
def test_inspect_refuses_too(name: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "model")
    CORPUS[name].change(tmp_path / "model")
    before = content(tmp_path)
    assert one_line(etch("inspect", tmp_path / "model"), 1).startswith(f"etch: {CORPUS[name].message}")
    assert content(tmp_path) == before


def test_a_channel_of_zeros_is_legal(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "model")
    LEGAL["all-zero channel"](tmp_path / "model")
    outcome = etch("generate", tmp_path / "model", "--out", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
