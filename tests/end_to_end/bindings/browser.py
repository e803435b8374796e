# SPDX-License-Identifier: Apache-2.0
"""A page in Chromium without a window, asked over a pipe by Chromium's own protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")
_PATIENCE = 60  # seconds, on a machine that is busy with other things


class Page:
    """One page; `profile` is an empty folder."""

    def __init__(self, url: str, profile: Path) -> None:
        assert CHROMIUM is not None
        asks, self._to = os.pipe()
        self._from, tells = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        # The shell gives the pipes the numbers that Chromium expects.
        command = f'exec "$@" 3<&{asks} 4>&{tells}'
        arguments = ["bash", "-c", command, "bash", CHROMIUM, *options, "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            arguments, pass_fds=(asks, tells), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(asks)
        os.close(tells)
        self._count = 0
        self._rest = b""
        self._session: str | None = None
        self.said: list[str] = []  # what the console and the browser itself complain of
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self._ask(f"{domain}.enable")
        self._ask("Page.navigate", url=url)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._to)
        os.close(self._from)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def value(self, expression: str) -> Any:
        """Of an expression in the page, or of the promise that it is."""
        found = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until it is true."""
        end = time.monotonic() + _PATIENCE
        while not self.value(expression):
            assert time.monotonic() < end, (expression, self.said, self.value("document.body.innerText"))
            time.sleep(0.05)

    def screenshot(self, file: Path) -> None:
        """A PNG."""
        file.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.said.append(json.dumps(answer["params"]))
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            got = os.read(self._from, 1 << 16)
            assert got, "Chromium has ended"
            self._rest += got
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)
