# SPDX-License-Identifier: Apache-2.0
"""Compares a built model with its checkpoint in float64 and, for integer recipes, with the contract bit for bit.

A model with two segments is also asked about pairs: each text with the one after it, up to `MAX_PAIRS`.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import pipeline
from .build import build, program_path
from .calibrate import calibrate
from .comparison import Answer, compare
from .errors import EtchError, printable
from .golden import golden_texts, text_tokenizer
from .load.folder import Checkpoint
from .manifest import MANIFEST, ids_of, read_manifest
from .program import Program
from .quantize import RECIPES
from .quantize.bits import WIDTHS
from .reference import Reference
from .tasks import MULTI_LABEL, SINGLE_LABEL, Embedding, Regression
from .texts import read_lines
from .vocabulary import keep_ids

Echo = Callable[[str], None]

MAX_PAIRS = 256

# Where the program's JSON has the outputs.
_KEYS = {
    SINGLE_LABEL: "logits",
    MULTI_LABEL: "logits",
    Regression.name: "values",
    Embedding.name: "embedding",
}


def program_of(directory: Path, echo: Echo) -> Path:
    """The built program of a generated folder; builds it where it is missing or older than the sources."""
    program = program_path(directory)
    if program.exists() and program.stat().st_mtime >= (directory / MANIFEST).stat().st_mtime:
        return program
    return build(directory, echo)


def verify(
    directory: Path,
    checkpoint: Path,
    texts: Path | None,
    echo: Echo,
    find_program: Callable[[Path, Echo], Path] = program_of,
    calibration: Path | None = None,
) -> int:
    """0 where the built model keeps within its recipe's bound, else 1. EtchError (stage verify) for wrong use.

    `texts` holds one text a line; without it the model's golden texts are taken. A calibrated model is calibrated
    again, with the same file.
    """
    manifest = read_manifest(directory)
    if manifest["recipe"] not in RECIPES:
        raise EtchError("unknown-recipe", "verify", f"recipe {manifest['recipe']!r}", file="etch.json")
    loaded = pipeline.load(checkpoint)
    if loaded.digest != manifest["checkpoint_sha256"]:
        raise EtchError(
            "other-checkpoint",
            "verify",
            f"the model was generated from another checkpoint: its SHA-256 is {manifest['checkpoint_sha256']}, "
            f"this folder's {loaded.digest}",
        )
    kept = manifest.get("kept_ids")
    if kept is not None:
        loaded = keep_ids(loaded, ids_of(kept))
    program = _program(loaded, manifest, calibration)
    lines = (
        read_lines(texts, "verify") if texts else [text.encode() for text in golden_texts(program, loaded.tokenizer)]
    )
    pairs = _pairs(lines)[:MAX_PAIRS] if program.segments >= 2 else []
    tokenizer = text_tokenizer(loaded.tokenizer, program.max_tokens)
    encodings = tokenizer.encode_batch([_text(line) for line in lines])
    encodings += tokenizer.encode_batch([(_text(first), _text(second)) for first, second in pairs])
    try:
        built = find_program(directory, echo)
        answers = _run(built, program, lines)
        if pairs:
            answers += _run(built, program, [b"\t".join(pair) for pair in pairs], "--pairs")
    except _ProgramError as error:
        echo(f"the built program failed: {printable(str(error))}")
        return 1
    comparison = compare(program, Reference(checkpoint, loaded.kept_ids), encodings, answers, len(lines))
    for line in comparison.report():
        echo(line)
    return 0 if comparison.within_bound else 1


def _program(checkpoint: Checkpoint, manifest: dict[str, Any], calibration: Path | None) -> Program:
    """What the manifest says that the folder was generated from."""
    embedding_bits = manifest.get("embedding_bits", 8)
    if embedding_bits not in WIDTHS:
        raise EtchError("unknown-recipe", "verify", f"embedding tables of {embedding_bits!r} bits", file=MANIFEST)
    bits = manifest.get("bits", {})
    if not isinstance(bits, dict):
        raise EtchError("unknown-recipe", "verify", f"bits {bits!r}", file=MANIFEST)
    program = pipeline.lower(checkpoint, manifest["recipe"], manifest["max_tokens"], embedding_bits, bits)
    stored = manifest.get("calibration_sha256")
    if stored is None:
        return program
    if calibration is None:
        raise EtchError("calibration-missing", "verify", "the model was calibrated: name its texts with --calibrate")
    graph = pipeline.to_graph(checkpoint, manifest["max_tokens"])
    again = calibrate(program, graph, checkpoint.tokenizer, calibration)
    if again.sha256 != stored:
        raise EtchError("other-calibration", "verify", f"the model was calibrated with other texts: SHA-256 {stored}")
    return again.program


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _pairs(lines: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Neighbours, but for those that the program's FIRST<TAB>SECOND cannot hold."""
    return [pair for pair in pairwise(lines) if b"\t" not in b"".join(pair)]


# --- the built program -----------------------------------------------------------------------------------------------


class _ProgramError(Exception):
    """The built program did not answer as it should."""


def _run(built: Path, program: Program, lines: list[bytes], *options: str) -> list[Answer]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "texts.txt")
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        answers = _json_lines(built, file, len(lines), "--json", *options)
        tokens = _json_lines(built, file, len(lines), "--tokens", *options)
    key = _KEYS[program.task.name]
    try:
        return [
            # 9 significant digits name one float32: reading them through float64 gives its bits back.
            Answer(
                a["label"] if key == "logits" else None,
                np.array(a[key], np.float32),
                a["tokens"],
                a["truncated"],
                t["ids"],
            )
            for a, t in zip(answers, tokens, strict=True)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise _ProgramError(f"a line without {error}") from error


def _json_lines(program: Path, file: Path, count: int, form: str, *options: str) -> list[dict[str, Any]]:
    try:
        done = subprocess.run([program, "--file", file, form, *options], capture_output=True, check=False)
    except OSError as error:
        raise _ProgramError(f"{program.name}: {error.strerror}") from error
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise _ProgramError(f"{program.name} {form}: exit code {done.returncode}: {last}")
    try:
        lines = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    except ValueError as error:
        raise _ProgramError(f"{program.name} {form}: {error}") from error
    if len(lines) != count:
        raise _ProgramError(f"{program.name} {form}: {len(lines)} lines for {count} texts")
    return lines
