# SPDX-License-Identifier: Apache-2.0
"""The terms of a checkpoint: found in its folder, carried into the generated folder and into a bundle, or unknown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen.bundle.bundle import bundle
from codegen.errors import EtchError
from codegen.load.files import CheckpointFolder
from codegen.load.folder import load_checkpoint
from codegen.load.terms import read_terms
from codegen.pipeline import Request, generate

CARD = "---\nlanguage: en\nlicense: other\nlicense_name: own-terms\nlicense_link: LICENSE\ntags:\n- x\n---\n# A model\n"


def terms(folder: Path, **files: str) -> str | None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return read_terms(CheckpointFolder(folder))


def test_a_folder_without_any(tmp_path: Path) -> None:
    assert terms(tmp_path) is None
    assert terms(tmp_path, README_md="# A model\nlicense: mit\n") is None
    assert terms(tmp_path, README_md="---\ntags: [a]\n---\nlicense: mit\n") is None


def test_a_licence_file(tmp_path: Path) -> None:
    assert terms(tmp_path, LICENSE="Do what you like.\r\n") == "LICENSE:\nDo what you like.\n"


def test_a_model_card(tmp_path: Path) -> None:
    assert terms(tmp_path, README_md=CARD) == (
        "Of the model card (README.md):\nlicense: other\nlicense_name: own-terms\nlicense_link: LICENSE\n"
    )
    both = terms(tmp_path, LICENSE="Mine.\n", NOTICE="Of others, too.\n")
    assert both is not None
    assert both.endswith("license_link: LICENSE\n\nLICENSE:\nMine.\n\nNOTICE:\nOf others, too.\n")


def test_a_list_of_licences(tmp_path: Path) -> None:
    found = terms(tmp_path, README_md="---\nlicense:\n- mit\n- apache-2.0\ntags:\n- x\n---\n")
    assert found == "Of the model card (README.md):\nlicense:\n- mit\n- apache-2.0\n"


def test_what_follows_the_front_matter_has_any_length(tmp_path: Path) -> None:
    with (tmp_path / "README.md").open("w") as file:
        file.write(CARD)
        file.truncate(1 << 30)
    found = terms(tmp_path)
    assert found is not None
    assert found.endswith("license_link: LICENSE\n")
    with (tmp_path / "README.md").open("w") as file:
        file.truncate(1 << 30)
    assert terms(tmp_path) is None


@pytest.mark.parametrize(("results", "is_read"), [((8 << 20) - 64, True), (8 << 20, False)])
def test_a_front_matter_of_results(results: int, is_read: bool, tmp_path: Path) -> None:
    """Of a model that many tables list: the licence may stand behind them."""
    card = f"---\nmodel-index: {'x' * results}\nlicense: mit\n---\n"
    if is_read:
        assert terms(tmp_path, README_md=card) == "Of the model card (README.md):\nlicense: mit\n"
        return
    with pytest.raises(EtchError, match="front matter has more than 8388608 bytes") as caught:
        terms(tmp_path, README_md=card)
    assert (caught.value.code, caught.value.file) == ("file-too-large", "README.md")


def test_folders_are_no_licences(tmp_path: Path) -> None:
    for name in ("COPYING", "README.md"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "LICENCE")
    assert terms(tmp_path) is None
    assert terms(tmp_path, LICENSE="Mine.\n") == "LICENSE:\nMine.\n"


def test_a_licence_that_is_refused(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(EtchError, match="file-too-large"):
        terms(tmp_path)
    (tmp_path / "LICENSE").unlink()
    (tmp_path / "NOTICE").symlink_to("/etc/hostname")
    with pytest.raises(EtchError, match="symlink-escapes"):
        terms(tmp_path)
    (tmp_path / "NOTICE").unlink()
    (tmp_path / "NOTICE").symlink_to("nowhere")
    with pytest.raises(EtchError, match="file-unreadable"):
        terms(tmp_path)


def test_characters_that_a_terminal_would_obey(tmp_path: Path) -> None:
    assert terms(tmp_path, LICENSE="a\x1b[2Jb\u202ec\x00d\u00a0e ü") == "LICENSE:\na\ufffd[2Jb\ufffdc\ufffdd e ü\n"
    (tmp_path / "LICENSE").write_bytes(b"\xff")
    assert terms(tmp_path) == "LICENSE:\n\ufffd\n"


def test_the_digest_is_of_the_model_alone(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    before = load_checkpoint(tmp_path)
    (tmp_path / "LICENSE").write_text("Mine.")
    after = load_checkpoint(tmp_path)
    assert (before.terms, after.terms) == (None, "LICENSE:\nMine.\n")
    assert before.digest == after.digest


@pytest.mark.parametrize("named", [False, True])
def test_they_are_carried(named: bool, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "checkpoint")
    if named:
        (tmp_path / "checkpoint/LICENSE").write_text("Mine.\n")
    generate(Request(folder=tmp_path / "checkpoint", out=tmp_path / "tiny"), lambda _: None)
    bundle(tmp_path / "tiny", tmp_path / "bundle", lambda _: None)
    carried = [path for path in (tmp_path / "tiny/tiny_terms.txt", tmp_path / "bundle/model/tiny_terms.txt")]
    assert [path.exists() for path in carried] == [named, named]
    assert all(path.read_text() == "LICENSE:\nMine.\n" for path in carried if named)
    readme = (tmp_path / "bundle/README.txt").read_text()
    assert ("model/tiny_terms.txt has what its folder said" in readme) == named
    assert ("so they are unknown here" in readme) == (not named)
