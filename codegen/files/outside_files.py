# SPDX-License-Identifier: Apache-2.0
"""The one place that opens files from outside: those that a user names, and those of a folder that may come from
somewhere else.

A file that is named may be a regular one or a pipe, a file of a folder is a regular one and no link. Each has a largest
size: of a device or a pipe without end nothing more is read, and lines are handed on one by one. A named file that ends
in .gz is read as what gzip has packed, with the same largest size.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import EtchError

MAX_BYTES = 256 << 20  # of a file of texts or a table
MAX_LINE_BYTES = 1 << 20
MAX_LINES = 4_000_000  # a line of one letter takes some 60 bytes of memory
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LOOKED_AT = 4096  # bytes at the beginning of a file that show its encoding
_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)

COMPRESSED = ".gz"
Refuse = Callable[[str, str], Exception]  # of a code and a message


@contextlib.contextmanager
def open_member(path: str | os.PathLike[str], limit: int, refuse: Refuse) -> Iterator[tuple[int, int]]:
    """A descriptor to read a file of a folder with, and its size, at most `limit`; closed at the end.

    Codes: `not-a-regular-file` (a link, too, in the last part of the path), `file-too-large`, `file-unreadable`. A full
    disk, met by what the caller writes meanwhile, stays the OSError that it is.
    """
    # Without waiting: a pipe in the place of the file would never be opened.
    flags = _FLAGS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = -1
    try:
        if os.path.islink(path):
            raise refuse("not-a-regular-file", "this is a link, not a regular file")
        descriptor = os.open(path, flags)
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise refuse("not-a-regular-file", "this is not a regular file")
        _check_size(info.st_size, limit, refuse)
        yield descriptor, info.st_size
    except OSError as error:
        if error.errno in _OF_WRITING:
            raise
        raise refuse("file-unreadable", f"the file cannot be read: {error.strerror}") from None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def read_member(path: str | os.PathLike[str], limit: int, refuse: Refuse) -> bytes:
    """The bytes of a file of a folder."""
    with open_member(path, limit, refuse) as (descriptor, size), os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(size)


@dataclass(frozen=True)
class NamedFile:
    """A file that a user names on the command line; codes of its refusals begin with `what`, as `texts-too-large`."""

    path: Path
    what: str
    stage: str
    limit: int = MAX_BYTES

    def read(self) -> bytes:
        """All of it."""
        with self._open() as file:
            content = file.read(self.limit + 1)
            _check_size(len(content), self.limit, self._refuse)
            return content

    def text(self) -> str:
        """All of it, without a byte order mark; UTF-8."""
        try:
            return self.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self._refuse("file-not-utf8", f"not UTF-8: {error.reason} at byte {error.start}") from None

    def lines(self) -> Iterator[bytes]:
        """One after the other, without the line feed, which the last one may lack."""
        read = count = 0
        with self._open() as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                read, count = read + len(line), count + 1
                if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                    message = f"line {count} is longer than {MAX_LINE_BYTES} bytes, the most that is read"
                    raise self._refuse("line-too-long", message)
                if count > MAX_LINES:
                    raise self._refuse(
                        "file-too-large", f"there are more than {MAX_LINES} lines, the most that is read"
                    )
                _check_size(read, self.limit, self._refuse)
                yield line.removesuffix(b"\n")

    @contextlib.contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        try:
            with open(os.open(self.path, _FLAGS), "rb", buffering=1 << 16) as file:
                info = os.fstat(file.fileno())
                if stat.S_ISREG(info.st_mode):
                    _check_size(info.st_size, self.limit, self._refuse)
                elif not (stat.S_ISFIFO(info.st_mode) or stat.S_ISSOCK(info.st_mode)):
                    raise self._refuse("not-a-regular-file", "this is neither a regular file nor a pipe")
                packed = self.path.suffix == COMPRESSED
                content = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
                if is_utf16(content.peek(_LOOKED_AT)[:_LOOKED_AT]):  # type: ignore[attr-defined]
                    raise self._refuse("file-not-utf8", "this is UTF-16 or UTF-32: convert it to UTF-8")
                yield content
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self._refuse("file-damaged", f"this is not what gzip writes: {error}") from error
        except OSError as error:
            raise self._refuse("file-unreadable", error.strerror or str(error)) from error

    def _refuse(self, code: str, message: str) -> EtchError:
        return EtchError(code.replace("file-", f"{self.what}-", 1), self.stage, message, file=self.path.name)


def is_utf16(begin: bytes) -> bool:
    """Whether a file that begins so is UTF-16 or UTF-32, by its byte order mark or by where its zeros are: in half of
    all bytes, or all at odd or all at even places, one beside each line feed, and then in every second character at
    least, or in what is no UTF-8. The programs tell by the same rule (tools/cli/text/utf16.cpp)."""
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff") or begin[:4] == b"\0\0\xfe\xff":
        return True
    even, odd = begin[::2].count(0), begin[1::2].count(0)
    if len(begin) < 4 or even + odd == 0:
        return False
    if 2 * (even + odd) >= len(begin):
        return True
    low = 1 if even else 0  # where the low bytes are
    feeds = [i for i, byte in enumerate(begin) if byte == 10]
    if (even and odd) or not all(i % 2 == low and begin[i ^ 1 : (i ^ 1) + 1] == b"\0" for i in feeds):
        return False
    return 4 * (even + odd) >= len(begin) or (bool(feeds) and not _is_utf8(begin))


def _is_utf8(begin: bytes) -> bool:
    """Whether it is the beginning of UTF-8; the last character may be cut."""
    try:
        begin.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _check_size(size: int, limit: int, refuse: Refuse) -> None:
    if size > limit:
        raise refuse("file-too-large", f"the file has {size} bytes, at most {limit} are read")
