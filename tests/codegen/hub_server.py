# SPDX-License-Identifier: Apache-2.0
"""A local server with as much of the Hugging Face Hub's API as a download asks for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Server(ThreadingHTTPServer):
    folder: Path
    repository: str
    spoiled: str | None  # a file of which other bytes are sent


@contextmanager
def hub(folder: Path, repository: str = "someone/model", spoiled: str | None = None) -> Iterator[str]:
    """The address of a Hub that has this folder as its only repository, with the revisions main and v1."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.folder, server.repository, server.spoiled = folder, repository, spoiled
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        parts = unquote(urlsplit(self.path).path).strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            self._about("/".join(parts[2:4]), parts[5] if parts[4:5] == ["revision"] else "main")
        elif parts[2:3] == ["resolve"] and "/".join(parts[:2]) == self.server.repository:
            self._file("/".join(parts[4:]))
        else:
            self._refuse("RepoNotFound")

    def _about(self, repository: str, revision: str) -> None:
        if repository == "someone/gated":
            self._refuse("GatedRepo", 403)
        elif repository != self.server.repository:
            self._refuse("RepoNotFound")
        elif revision not in ("main", "v1", COMMIT):
            self._refuse("RevisionNotFound")
        else:
            paths = sorted(path for path in self.server.folder.rglob("*") if path.is_file())
            answer = {"id": repository, "modelId": repository, "sha": COMMIT, "siblings": [*map(self._told, paths)]}
            self._send(json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _told(self, path: Path) -> dict[str, object]:
        content = path.read_bytes()
        told: dict[str, object] = {
            "rfilename": path.relative_to(self.server.folder).as_posix(),
            "size": len(content),
            "blobId": hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest(),
        }
        if path.suffix in (".safetensors", ".bin"):
            sha256 = hashlib.sha256(content).hexdigest()
            told["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
        return told

    def _file(self, name: str) -> None:
        content = (self.server.folder / name).read_bytes()
        etag = hashlib.sha256(content).hexdigest()
        if name == self.server.spoiled:
            content = bytes(len(content))
        self._send(content, {"X-Repo-Commit": COMMIT, "ETag": f'"{etag}"'})

    def _refuse(self, code: str, status: int = 404) -> None:
        self._send(b"", {"X-Error-Code": code, "X-Error-Message": code}, status)

    def _send(self, body: bytes, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
