# SPDX-License-Identifier: Apache-2.0
"""A firmware on an emulated board. `python emulator.py BOARD ELF [TEXT...]` answers texts, or the lines of its input.

Speaks the firmware's protocol: it waits for the "ready" line, and for each answer before it sends the next line. Every
instruction takes 64 ns of the board's time, so that the board's clock counts instructions, the same ones in every run.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

PATIENCE = 300  # seconds for one answer, on a machine that is busy with other things
LIFETIME = 3600  # seconds of one emulator
WRONG_USE = 2


class Stopped(Exception):
    """The emulator ended, or gave no answer in time."""

    def __init__(self, text: str, code: int | None) -> None:
        super().__init__(f"{'no answer in time' if code is None else f'ended with exit code {code}'}: {text!r}")
        self.text = text  # what came after the last whole line
        self.code = code


def qemu(board: str, elf: Path) -> list[str]:
    """The command that runs an ELF on a board, with its UART on the standard streams."""
    command = ["qemu-system-arm", "-M", board, "-kernel", str(elf), "-display", "none", "-monitor", "none"]
    return [*command, "-serial", "stdio", "-semihosting-config", "enable=on,target=native", "-icount", "shift=6"]


class Emulator:
    """A board that runs an ELF."""

    def __init__(self, board: str, elf: Path, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._pending = b""
        command = ["timeout", "--kill-after=5", str(LIFETIME), *qemu(board, elf)]  # should this process die, too
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            self.ready = self.line()
        except BaseException:
            self.close()
            raise

    def ask(self, line: bytes) -> str:
        """Sends a line, without its end; the line that comes back."""
        self._send(line)
        return self.line()

    def pieces(self, line: bytes) -> Iterator[str]:
        """The same as it comes, in whole characters."""
        self._send(line)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        deadline = time.monotonic() + self._patience
        while b"\n" not in self._pending:
            piece, self._pending = self._pending, b""
            if text := decoder.decode(piece):
                yield text
            self._read(deadline)
        yield decoder.decode(self._line(), final=True)

    def exit(self) -> int:
        """Sends !exit; the exit code."""
        try:
            line = self.ask(b"!exit")
        except Stopped as stopped:
            if stopped.code is None or stopped.text:
                raise
            return stopped.code
        raise Stopped(line, None)

    def close(self) -> None:
        """Ends the emulator, if it still runs."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def __enter__(self) -> Emulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def line(self) -> str:
        """The next line that comes, without its end."""
        return self._line().decode("utf-8", "replace")

    def _line(self) -> bytes:
        deadline = time.monotonic() + self._patience
        while b"\n" not in self._pending:
            self._read(deadline)
        line, self._pending = self._pending.split(b"\n", 1)
        return line

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # reading says more
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def _read(self, deadline: float) -> None:
        """Waits for some bytes."""
        stream = self._process.stdout
        assert stream is not None
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise Stopped(self._text(), None)
        read = os.read(stream.fileno(), 1 << 16)
        if not read:
            raise Stopped(self._text(), self._process.wait(self._patience))
        self._pending += read

    def _text(self) -> str:
        return self._pending.decode("utf-8", "replace")


def lines_of(texts: list[str]) -> Iterator[bytes]:
    """The texts, or what is on standard input, where a carriage return ends a line as it does to the firmware."""
    if texts:
        yield from (text.encode("utf-8", "surrogateescape") for text in texts)
        return
    if sys.stdin.isatty():
        print("one text a line, !help for commands, Ctrl-D ends", file=sys.stderr)
    for line in sys.stdin.buffer:
        yield from line.removesuffix(b"\n").removesuffix(b"\r").split(b"\r")


def main() -> int:
    """The firmware's exit code, or WRONG_USE."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("board")
    parser.add_argument("elf", type=Path)
    parser.add_argument("texts", nargs="*")
    arguments = parser.parse_args()
    for number, text in enumerate(arguments.texts, 1):
        # Its parts would be answered as texts, and a blank in its place is another text to some tokenizers.
        if "\n" in text or "\r" in text:
            print(f"firmware: text {number} has a line end, and the board takes lines", file=sys.stderr)
            return WRONG_USE
    try:
        with Emulator(arguments.board, arguments.elf) as emulator:
            print(emulator.ready, file=sys.stderr)
            for line in lines_of(arguments.texts):
                for piece in emulator.pieces(line):
                    print(piece, end="", flush=True)
                print(flush=True)
            return emulator.exit()
    except Stopped as stopped:
        if stopped.code == 0 and not stopped.text:  # one of the lines was !exit
            return 0
        print(f"firmware: {stopped}", file=sys.stderr)
        return stopped.code or 1


if __name__ == "__main__":
    sys.exit(main())
