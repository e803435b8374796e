# SPDX-License-Identifier: Apache-2.0
"""A file that is written at the end: where it cannot be, that is known before the work begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import cli
from codegen.errors import EtchError
from codegen.files.one_file import check_place, write_file


def places(folder: Path) -> dict[str, Path]:
    """Where nothing can be written, by the end of what is said of it."""
    (folder / "file").touch()
    (folder / "folder").mkdir()
    return {
        "a file is where its folder would be": folder / "file" / "deep" / "out",
        "it is a folder": folder / "folder",
    }


def test_both_refuse_it(tmp_path: Path) -> None:
    for reason, place in places(tmp_path).items():
        with pytest.raises(EtchError) as checked:
            check_place(place, "wheel")
        assert (checked.value.code, checked.value.message) == ("write-failed", f"cannot write {place}: {reason}")
        with pytest.raises(EtchError) as written:
            write_file(place, b"", "wheel")
        assert written.value.code == "write-failed"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_folder_in_which_no_file_can_be_made() -> None:
    """Of /proc the permissions do not tell it: root may write there, says access()."""
    with pytest.raises(EtchError, match="no file can be made in /proc: ") as caught:
        check_place(Path("/proc/new/out"), "wheel")
    assert caught.value.code == "write-failed"


def test_where_it_can_be(tmp_path: Path) -> None:
    for place in (tmp_path / "out", tmp_path / "new" / "deep" / "out"):
        before = sorted(tmp_path.rglob("*"))
        check_place(place, "wheel")
        assert sorted(tmp_path.rglob("*")) == before
        write_file(place, b"x", "wheel")
        check_place(place, "wheel")


@pytest.mark.parametrize(
    "command",
    [
        "evidence generated/agnews --checkpoint tools/train/agnews/checkpoint --texts README.md --out {file}/out.html",
        "verify generated/agnews --checkpoint tools/train/agnews/checkpoint --texts README.md "
        "--tokenizer-certificate {file}/out.json",
        "wheel generated/agnews --out {file}",
        "sqlite generated/agnews --out {file}",
    ],
)
def test_before_anything_is_built(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    (tmp_path / "file").touch()
    assert cli.main(command.format(file=tmp_path / "file").split()) != 0
    printed = capsys.readouterr()
    assert "error[write-failed]" in printed.err
    assert "a file is where its folder would be" in printed.err
    assert printed.out == ""
