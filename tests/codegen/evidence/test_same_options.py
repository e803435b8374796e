# SPDX-License-Identifier: Apache-2.0
"""The options that etch.json stands for: with them the same checkpoint becomes the same bytes again, whatever options,
searches or corpora made it; every option of `etch generate` is among them or has its reason not to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder as recorded
from test_marian import folder as marian
from test_pruned_writer import PAIRS
from tiny_checkpoint import write_tiny_checkpoint
from tiny_heads import write_encoder, write_head
from tiny_sentence import write_tiny_sentence_model

from codegen.cli import main as etch
from codegen.cli import make_parser
from codegen.evidence.same_options import same_options
from codegen.folders.manifest import read_manifest
from codegen.shells.parsers import commands_in

TEXTS = "the cat sat on the mat\nthe dog\nthe cat ran\n" * 12
WIDE = {"hidden": 64, "heads": 2, "intermediate": 96, "layers": 2}
ROWS = "".join(f"{i % 3 + 1},the {word} on the mat\n" for i, word in enumerate(("cat", "dog", "cat") * 10))
# Checkpoint, options, and which of those etch.json must say.
CASES: dict[str, tuple[str, list[str], list[str]]] = {
    "as it is": ("tiny", [], []),
    "bits": ("wide", ["--embedding-bits", "4", "--bits", "intermediate=4,0.query=4"], ["embedding_bits", "bits"]),
    "lengths": ("tiny", ["--max-tokens", "9", "--name", "other", "--target", "m-profile", "--tables", "c"], []),
    "floats": ("tiny", ["--recipe", "fp32"], []),
    "gpu": ("wide", ["--gpu"], []),
    "task": ("zero", ["--task", "zero-shot"], []),
    "pooling": ("encoder", ["--pooling", "max"], ["pooling"]),
    "pruned": ("tiny", ["--prune-vocabulary", "{place}/texts.txt", "--min-count", "12"], ["kept_ids"]),
    "unknown": (
        "tiny",
        ["--prune-vocabulary", "{place}/texts.txt", "--min-count", "2", "--rare-words", "unknown"],
        ["kept_ids"],
    ),
    "regions": ("wide", ["--region", "fast=8K,2", "--region", "slow=256K,7"], ["regions"]),
    "places": (
        "wide",
        ["--table-region", "itcm=8K,3,copied", "--table-region", "flash=1M,9", "--region", "a=8K", "--region", "b=1M"],
        ["table_places", "regions"],
    ),
    "calibrated": ("wide", ["--recipe", "w4a8", "--calibrate", "{place}/texts.txt"], ["calibration_sha256"]),
    "smoothed": ("wide", ["--smooth", "{place}/texts.txt"], ["smoothing_sha256"]),
    "budget": (
        "wide",
        ["--evaluate", "{place}/rows.csv", "--labels", "1", "--max-flash", "508K", "--max-ram", "1M"],
        ["bits"],
    ),
    "writer": ("writer", ["--beams", "2", "--max-target", "11", "--max-tokens", "13"], ["beams", "max_target"]),
    "languages": ("many", ["--languages", "fra_Latn,eng_Latn"], ["languages"]),
    "pruned writer": (
        "writer",
        ["--prune-vocabulary", "{place}/pairs.tsv", "--label-column", "2", "--min-count", "5"],
        ["kept_ids"],
    ),
    "heads": ("heads", ["--head", "a={place}/tags", "--head", "b={place}/single", "--max-tokens", "20"], ["heads"]),
}
# Of files that the caller names, of how a model is made and shown, and of searches, whose finds are in etch.json.
NAMED = {"--head", "--calibrate", "--calibrate-columns", "--smooth", "--smooth-columns", "--out"}
OTHERS = {"--build", "--quiet", "--prune-vocabulary", "--min-count", "--rare-words", "--evaluate", "--evaluate-rows"}
OTHERS |= {"--measure", "--label-column", "--text-columns", "--labels", "--header", "--no-header", "--prune-columns"}
OTHERS |= {"--max-flash", "--max-ram", "--max-stack", "--min-accuracy", "--min-tokens", "--board", "--max-source"}
OTHERS |= {"--help"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("same")
    write_tiny_checkpoint(place / "tiny")
    write_tiny_checkpoint(place / "wide", **WIDE)
    write_tiny_sentence_model(place / "encoder")
    (place / "encoder/modules.json").unlink()
    marian(place / "writer")
    write_encoder(place / "heads")
    for kind in ("tags", "single"):
        write_head(place / kind, kind)
    (place / "zero").symlink_to(recorded("zero/bert"))
    (place / "many").symlink_to(Path(__file__).parents[1] / "generation" / "m2m_100" / "texts")
    (place / "texts.txt").write_text(TEXTS)
    (place / "rows.csv").write_text(ROWS)
    (place / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS), encoding="utf-8")
    return place


@pytest.mark.parametrize("case", CASES)
def test_the_same_bytes_again(case: str, place: Path, tmp_path: Path) -> None:
    checkpoint, options, said = CASES[case]
    options = [option.format(place=place) for option in options]
    assert etch(["generate", str(place / checkpoint), "--out", str(tmp_path / "model"), *options]) == 0
    manifest = read_manifest(tmp_path / "model")
    assert set(said) <= set(manifest)
    words = same_options(manifest, tmp_path / "model")
    named = [word for at, option in enumerate(options) if option in NAMED for word in options[at : at + 2]]
    assert etch(["generate", str(place / checkpoint), "--out", str(tmp_path / "again"), *words, *named]) == 0
    files, again = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("model", "again"))
    assert again == files


def test_no_option_is_forgotten() -> None:
    """Each of `etch generate` comes of some model's etch.json, or is one of the others."""
    [generate] = [command for command in commands_in(make_parser()) if command.name == "generate"]
    manifest = {
        **{"name": "a", "recipe": "w8a8", "embedding_bits": 4, "bits": {"0.query": 4}, "max_tokens": 1, "gpu": True},
        **{"max_target": 1, "pooling": "cls", "dimensions": 1, "task": "zero_shot", "beams": 1, "tables": "c"},
        "languages": ["eng_Latn", "fra_Latn"],
        **{"target": "host", "kept_ids": "1", "regions": {"a": {"room": 1, "cost": 2}}},
        "table_places": {"b": {"room": 1, "cost": 2, "copied": True}},
    }
    made = {word for word in same_options(manifest, "MODEL") if word.startswith("--")}
    assert {option.name for option in generate.options} - OTHERS - NAMED == made


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--keep-vocabulary", "{whole}"], "error[option-conflict] arguments: --keep-vocabulary: "),
        (["--keep-vocabulary", "{place}"], "error[not-generated] prune: "),
        (["--keep-vocabulary", "{other}"], "error[other-checkpoint] prune: "),
        (
            ["--keep-vocabulary", "{whole}", "--prune-vocabulary", "{place}/texts.txt", "--min-count", "2"],
            "error[option-conflict] arguments: --keep-vocabulary says which pieces stay, --prune-vocabulary ",
        ),
        (
            ["--keep-vocabulary", "{whole}", "--max-flash", "1M", "--evaluate", "{place}/rows.csv"],
            "error[option-conflict] arguments: --keep-vocabulary says which pieces stay, a budget ",
        ),
    ],
)
def test_refused(
    options: list[str], words: str, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for checkpoint, out in (("tiny", "whole"), ("wide", "other")):
        assert etch(["generate", str(place / checkpoint), "--out", str(tmp_path / out)]) == 0
    named = {"whole": tmp_path / "whole", "other": tmp_path / "other", "place": place}
    options = [option.format(**named) for option in options]
    code = etch(["generate", str(place / "tiny"), "--out", str(tmp_path / "again"), *options])
    assert (code > 0, words in capsys.readouterr().err) == (True, True)
    assert not (tmp_path / "again").exists()
