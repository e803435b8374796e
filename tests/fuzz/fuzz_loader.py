# SPDX-License-Identifier: Apache-2.0
"""The loaders under atheris: a folder becomes a Checkpoint, then a graph and tables, or an EtchError says why not.

fuzz_loader.py [LIBFUZZER OPTION…] [CORPUS…]
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "codegen"), str(Path(__file__).parent)]

from checkpoint_edits import folder_from, write_folder  # noqa: E402


class Loader:
    """The stages that foreign files reach, imported when `codegen` may be instrumented, and a folder to write to."""

    def __init__(self) -> None:
        from codegen.errors import EtchError
        from codegen.pipeline import load, to_graph
        from codegen.tokenizer import compile_tokenizer

        self._refusal, self._load = EtchError, load
        self._to_graph, self._compile = to_graph, compile_tokenizer
        memory = Path("/dev/shm")
        self._parent = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._parent)

    def run(self, raw: bytes) -> str:
        """The code of the refusal, or `ok`; any other exception is a finding."""
        folder = self._parent / "model"
        folder.mkdir()
        try:
            write_folder(folder, folder_from(raw))
            return self.outcome(folder)
        finally:
            shutil.rmtree(folder)

    def outcome(self, folder: Path) -> str:
        """That of a folder of files."""
        try:
            checkpoint = self._load(folder)
            self._to_graph(checkpoint, None)
            self._compile(checkpoint.tokenizer)
        except self._refusal as refusal:
            text = str(refusal)
            assert text.isprintable(), "a refusal is one printable line"
            has_command = refusal.code in ("pickle-refused", "adapter-not-supported")  # for the shell, with the path
            assert has_command or str(folder) not in text, "a refusal names no folder of this machine"
            assert refusal.code and refusal.stage, "a refusal has a code and a stage"
            return refusal.code
        return "ok"


def main() -> None:
    """Hands over to libFuzzer, which ends the process."""
    import atheris

    with atheris.instrument_imports(include=["codegen"]):
        loader = Loader()
    restart = shlex.join([sys.executable, __file__])  # what libFuzzer starts, by a shell, to merge corpora
    atheris.Setup([restart, *sys.argv[1:]], lambda raw: loader.run(raw) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
