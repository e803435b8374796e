# SPDX-License-Identifier: Apache-2.0
"""A generated folder with a stand-in for its built program."""

from __future__ import annotations

import itertools
import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tiny_checkpoint import write_tiny_checkpoint
from tokenizers import Encoding

from codegen import pipeline
from codegen.emulate import emulate
from codegen.golden import golden_texts
from codegen.library_tokenizer.decoded import decoded
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.bert import Reference
from codegen.tasks.classification import Classification
from codegen.verification.certificate import certify
from codegen.verification.verify import verify

TEXTS = [b"the cat sat on a mat", b"", b"caf\xe9 \xe4\xb8\xad!", b"dogs\tran [SEP] good", b"x y " * 40, b"bad\r"]
MAX_TOKENS = 24
# Neighbours of TEXTS, but for those with a tab.
PAIRS = [(TEXTS[i], TEXTS[i + 1]) for i in (0, 1, 4)]

# Answers with prepared lines, like the program of a generated model.
STAND_IN = """#!{python}
import pathlib, sys
folder = pathlib.Path(__file__).parent
assert sys.argv[1] == "--file" and sys.argv[3] in ("--json", "--tokens") and sys.argv[4:] in ([], ["--pairs"])
form = "".join(sys.argv[3:])
(folder / ("pairs" if sys.argv[4:] else "texts")).write_bytes(pathlib.Path(sys.argv[2]).read_bytes())
sys.stdout.write((folder / form).read_text())
sys.stderr.write("text cut\\n")
sys.exit(int((folder / "code").read_text()))
"""


Writer = Callable[[Path], None]


def own_offsets(texts: tuple[bytes, ...], encoding: Encoding) -> list[list[int]]:
    """In bytes of their text, as the program gives them."""
    begins = [decoded(text)[1].tolist() for text in texts]
    places = zip(encoding.sequence_ids, encoding.offsets, strict=True)
    return [[begins[which or 0][begin], begins[which or 0][end]] for which, (begin, end) in places]


def classifier(folder: Path) -> None:
    write_tiny_checkpoint(folder, hidden=32, layers=2, seed=5)


class Case:
    """A generated folder whose program answers as the contract says, until a test changes an answer."""

    def __init__(self, folder: Path, recipe: str, texts: list[bytes] | None, write: Writer = classifier) -> None:
        self.checkpoint = folder / "checkpoint"
        write(self.checkpoint)
        self.directory = folder / "model"
        self.directory.mkdir()
        loaded = pipeline.load(self.checkpoint)
        self.program = pipeline.lower(loaded, recipe, MAX_TOKENS)
        self.manifest: dict[str, Any] = {
            "generator": "0",
            "abi": 1,
            "name": "tiny",
            "task": self.program.task.name,
            "recipe": recipe,
            "target": "host",
            "checkpoint_sha256": loaded.digest,
            "max_tokens": MAX_TOKENS,
            **dict.fromkeys(("table_bytes", "arena_bytes", "stack_budget"), 0),
            "files": {},
        }
        self.file = None if texts is None else folder / "my texts"
        if texts is None:
            texts = [text.encode() for text in golden_texts(self.program, loaded.tokenizer)]
        else:
            self.file.write_bytes(b"\n".join(texts))
        self.texts = texts
        self.singles = len(texts)  # lines that the program prints for the texts; the others are for pairs
        tokenizer = text_tokenizer(loaded.tokenizer, MAX_TOKENS)
        inputs: list[tuple[bytes, ...]] = [(text,) for text in texts]
        if self.program.segments >= 2:
            inputs += [pair for pair in itertools.pairwise(texts) if b"\t" not in b"".join(pair)]
        self.encodings = [tokenizer.encode(*(text.decode("utf-8", "replace") for text in one)) for one in inputs]
        self.outputs = [emulate(self.program, e.ids, e.type_ids) for e in self.encodings]
        self.labels: dict[int, str] = {}
        self.ids = [list(e.ids) for e in self.encodings]
        self.offsets = [own_offsets(one, e) for one, e in zip(inputs, self.encodings, strict=True)]
        self.code = 0
        self.calibration: Path | None = None
        self.smoothing: Path | None = None
        self.lines: list[str] = []

    def certify(self, out: Path) -> int:
        """The certificate of the tokens that run() wrote down."""
        self.lines = []
        return certify(self.directory, self.checkpoint, self.file, out, self.lines.append, self.stand_in)

    def reference(self, text: int) -> np.ndarray:
        encoding = self.encodings[text]
        return Reference(self.checkpoint).output(encoding.ids, encoding.type_ids)

    def run(self) -> int:
        (self.directory / "etch.json").write_text(json.dumps(self.manifest))
        answers = [self.answer(i, output) for i, output in enumerate(self.outputs)]
        cut = [bool(encoding.overflowing) for encoding in self.encodings]
        tokens = [
            json.dumps({"ids": ids, "offsets": offsets, "truncated": truncated}) + "\n"
            for ids, offsets, truncated in zip(self.ids, self.offsets, cut, strict=False)
        ]
        for option, part in (("", slice(self.singles)), ("--pairs", slice(self.singles, None))):
            (self.directory / f"--json{option}").write_text("".join(answers[part]))
            (self.directory / f"--tokens{option}").write_text("".join(tokens[part]))
        (self.directory / "code").write_text(str(self.code))
        self.lines = []
        return verify(
            self.directory,
            self.checkpoint,
            self.file,
            self.lines.append,
            self.stand_in,
            calibration=self.calibration,
            smoothing=self.smoothing,
        )

    def answer(self, i: int, output: np.ndarray) -> str:
        task = self.program.task
        label = ""
        if isinstance(task, Classification):
            label = f'"label": "{self.labels.get(i, task.labels[int(np.argmax(output))])}", '
        key = {"regression": "values", "embedding": "embedding"}.get(task.name, "logits")
        numbers = ", ".join("NaN" if np.isnan(value) else f"{value:.9g}" for value in output)
        truncated = json.dumps(bool(self.encodings[i].overflowing))
        tokens = len(self.encodings[i].ids)
        return f'{{{label}"{key}": [{numbers}], "tokens": {tokens}, "truncated": {truncated}}}\n'

    def stand_in(self, directory: Path, echo: Callable[[str], None]) -> Path:
        program = directory / "program"
        program.write_text(STAND_IN.format(python=sys.executable))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    @property
    def report(self) -> str:
        return "\n".join(self.lines)
