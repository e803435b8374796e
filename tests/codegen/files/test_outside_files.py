# SPDX-License-Identifier: Apache-2.0
"""Files that a user names: devices, pipes without end, sizes, encodings. Nothing is read that is not needed."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codegen.errors import EtchError
from codegen.files import outside_files
from codegen.files.outside_files import MAX_LINE_BYTES, NamedFile, is_utf16, open_member, read_member
from codegen.files.table_file import MAX_COLUMNS, Columns, read_table
from codegen.files.texts import read_lines
from codegen.vocabulary.pruning import read_corpus

# What reads each kind of file, and how the codes of its refusals begin.
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "texts.txt": (lambda path: read_lines(path, "calibrate"), "texts"),
    "corpus.txt": (lambda path: read_corpus(path, Columns()), "corpus"),
    "table.csv": (lambda path: read_table(path, Columns()), "table"),
    "corpus.csv": (lambda path: read_corpus(path, Columns()), "table"),
}


def refusal(work: Callable[[], object]) -> EtchError:
    with pytest.raises(EtchError) as caught:
        work()
    return caught.value


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[Path], object], str, Path]:
    """A reader, how its codes begin, and a path for it where nothing is yet."""
    read, what = READERS[request.param]
    return read, what, tmp_path / request.param


Reader = tuple[Callable[[Path], object], str, Path]


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_devices(device: str, reader: Reader) -> None:
    read, _, path = reader
    path.symlink_to(device)
    error = refusal(lambda: read(path))
    assert (error.code, error.file) == ("not-a-regular-file", path.name)


def test_folders(reader: Reader) -> None:
    read, what, path = reader
    path.mkdir()
    assert refusal(lambda: read(path)).code == f"{what}-unreadable"


def test_a_huge_file_is_not_opened_to_the_end(reader: Reader) -> None:
    """It is sparse: its 2^40 bytes could not even be allocated."""
    read, what, path = reader
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert refusal(lambda: read(path)).code == f"{what}-too-large"


@contextlib.contextmanager
def pipe(path: Path, piece: bytes, times: int) -> Iterator[None]:
    """A named pipe that says a piece again and again, until nobody listens."""
    os.mkfifo(path)

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), path.open("wb", buffering=0) as file:
            for _ in range(times):
                file.write(piece)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    yield
    thread.join(30)
    assert not thread.is_alive()


def test_pipes(reader: Reader) -> None:
    read, _, path = reader
    with pipe(path, b"1,the cat\n2,a dog\n", 1):
        assert len(read(path)) == 2  # type: ignore[arg-type]


def test_pipes_without_end(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    read, what, path = reader
    monkeypatch.setattr(NamedFile.__init__, "__defaults__", (1 << 20,))
    monkeypatch.setattr("codegen.files.texts.MAX_BYTES", 1 << 20)
    monkeypatch.setattr(read_lines, "__defaults__", (1 << 20,))
    with pipe(path, b"1,the cat\n" * 1000, 1 << 30):
        assert refusal(lambda: read(path)).code == f"{what}-too-large"


@pytest.mark.parametrize("name", ["texts.txt", "corpus.txt"])
def test_a_line_without_end(name: str, tmp_path: Path) -> None:
    read, _ = READERS[name]
    path = tmp_path / name
    path.write_bytes(b"first\n" + b"x" * MAX_LINE_BYTES)
    assert len(read(path)) == 2  # type: ignore[arg-type]
    path.write_bytes(b"first\n" + b"x" * (MAX_LINE_BYTES + 1))
    error = refusal(lambda: read(path))
    assert (error.code, error.message) == (
        "line-too-long",
        "line 2 is longer than 1048576 bytes, the most that is read",
    )
    path.unlink()
    with pipe(path, b"x" * 4096, 1 << 30):
        assert refusal(lambda: read(path)).code == "line-too-long"


@pytest.mark.parametrize("name", ["texts.txt", "corpus.txt"])
def test_too_many_lines(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_files, "MAX_LINES", 3)
    read, what = READERS[name]
    path = tmp_path / name
    path.write_bytes(b"a\nb\nc\n")
    assert len(read(path)) == 3  # type: ignore[arg-type]
    path.write_bytes(b"a\nb\nc\nd")
    assert refusal(lambda: read(path)).code == f"{what}-too-large"


@pytest.mark.parametrize("name", ["table.csv", "table.tsv"])
def test_too_many_columns(name: str, tmp_path: Path) -> None:
    path, separator = tmp_path / name, "," if name.endswith("csv") else "\t"
    path.write_text(separator.join("x" * MAX_COLUMNS) + "\n")
    assert len(read_table(path, Columns())[0].texts) == MAX_COLUMNS - 1
    path.write_text(separator * (32 << 20))
    error = refusal(lambda: read_table(path, Columns()))
    assert (error.code, error.message) == (
        "table-malformed",
        "line 1: there are more than 1000 columns, the most that are read",
    )


def test_too_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.files.table_file.MAX_ROWS", 2)
    path = tmp_path / "table.csv"
    path.write_text("a,b\nc,d\n")
    assert len(read_table(path, Columns())) == 2
    path.write_text("a,b\nc,d\n\ne,f\n")
    assert refusal(lambda: read_table(path, Columns())).message.startswith("line 4: there are more than 2 rows")


# --- UTF-16 ----------------------------------------------------------------------------------------------------------

TEXTS = [
    "1,Oil prices climb\r\n2,after the summit\n",
    "1,a\n",
    "1,東京の新しい駅が開業した。\n2,한국어 뉴스\n",
    "1,Ünïcödé\n",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_utf16(text: str, encoding: str, reader: Reader) -> None:
    read, what, path = reader
    path.write_bytes(text.encode(encoding))
    error = refusal(lambda: read(path))
    assert error.code == f"{what}-not-utf8"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"a\0",
        b"a\0b\n",
        b"a\0\0b\n",
        b"a NUL \0 in a text\n",
        b"caf\xe9 \0 of Latin-1\n",
        b"caf\xe9 \0 b\n",
        "é".encode() * 3000,
        b"x" * 4095 + "é".encode(),
        b"\xff",
        b"\xef\xbb\xbfone",
    ],
)
def test_not_utf16(content: bytes) -> None:
    assert not is_utf16(content[:4096])


# --- files of a folder -----------------------------------------------------------------------------------------------


def test_members(tmp_path: Path) -> None:
    def read(name: str) -> bytes:
        return read_member(tmp_path / name, 4, lambda code, message: EtchError(code, "load", message))

    (tmp_path / "file").write_bytes(b"four")
    assert read("file") == b"four"
    (tmp_path / "large").write_bytes(b"fives")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    codes = {name: refusal(lambda name=name: read(name)).code for name in ("large", "link", "folder", "pipe", "none")}  # type: ignore[misc]
    assert codes == {
        "large": "file-too-large",
        "link": "not-a-regular-file",
        "folder": "not-a-regular-file",
        "pipe": "not-a-regular-file",
        "none": "file-unreadable",
    }


def test_a_full_disk_is_not_the_file_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"four")

    def refuse(code: str, message: str) -> EtchError:
        return EtchError(code, "load", message)

    with pytest.raises(OSError, match="No space"), open_member(tmp_path / "file", 4, refuse):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
