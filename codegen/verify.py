# SPDX-License-Identifier: Apache-2.0
"""Compares a built model with its checkpoint in float64 and, for integer recipes, with the contract bit for bit."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from . import pipeline
from .build import build, program_path
from .emulate import Text, emulate_texts
from .errors import EtchError, printable
from .golden import golden_texts, text_tokenizer
from .manifest import MANIFEST, read_manifest
from .program import Program
from .quantize import RECIPES
from .reference import Reference

Echo = Callable[[str], None]

# The bound of the fp32 recipe. A label can then change only where the reference's top two lie within twice as much.
LARGEST_DIFFERENCE = 1e-4

_TOKENS_AT_ONCE = 4096
_LISTED = 20  # texts with wrong ids or bits that are named


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
) -> int:
    """0 where the built model keeps within its recipe's bound, else 1. EtchError (stage verify) for wrong use.

    `texts` holds one text a line; without it the model's golden texts are taken.
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
    program = pipeline.lower(loaded, manifest["recipe"], manifest["max_tokens"])
    lines = _read_lines(texts) if texts else [text.encode() for text in golden_texts(program, loaded.tokenizer)]
    tokenizer = text_tokenizer(loaded.tokenizer, program.max_tokens)
    encodings = tokenizer.encode_batch([line.decode("utf-8", "replace") for line in lines])
    try:
        answers = _run(find_program(directory, echo), lines)
    except _ProgramError as error:
        echo(f"the built program failed: {printable(str(error))}")
        return 1
    comparison = _compare(program, Reference(checkpoint), encodings, answers)
    for line in _report(program, comparison):
        echo(line)
    return 0 if comparison.within_bound else 1


# --- the built program -----------------------------------------------------------------------------------------------


class _ProgramError(Exception):
    """The built program did not answer as it should."""


@dataclass(frozen=True)
class _Answer:
    """What the program says about one text."""

    label: str
    logits: NDArray[np.float32]
    tokens: int
    truncated: bool
    ids: list[int]


def _read_lines(path: Path) -> list[bytes]:
    """One text a line, bytes as they are; the last line may lack its line feed."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EtchError("texts-unreadable", "verify", f"{path}: {error.strerror}") from error
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise EtchError("no-texts", "verify", f"{path} is empty")
    return lines


def _run(program: Path, lines: list[bytes]) -> list[_Answer]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "texts.txt")
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        answers = _json_lines(program, file, "--json", len(lines))
        tokens = _json_lines(program, file, "--tokens", len(lines))
    try:
        return [
            # 9 significant digits name one float32: reading them through float64 gives its bits back.
            _Answer(a["label"], np.array(a["logits"], np.float32), a["tokens"], a["truncated"], t["ids"])
            for a, t in zip(answers, tokens, strict=True)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise _ProgramError(f"a line without {error}") from error


def _json_lines(program: Path, file: Path, form: str, count: int) -> list[dict[str, Any]]:
    try:
        done = subprocess.run([program, "--file", file, form], capture_output=True, check=False)
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


# --- comparison ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ChangedLabel:
    text: int  # from 1
    reference: NDArray[np.float64]
    ours: NDArray[np.float32]


@dataclass(frozen=True)
class _Comparison:
    recipe: str
    texts: int
    largest: float
    mean: float
    changed: list[_ChangedLabel]
    other_ids: list[int]  # texts, from 1
    other_bits: list[int]  # texts whose logits are not the contract's; empty for the fp32 recipe
    contradictions: list[int]  # texts whose label is not that of the largest logit

    @property
    def within_bound(self) -> bool:
        if self.other_ids or self.other_bits or self.contradictions:
            return False
        if self.recipe != "fp32":
            return True
        return self.largest <= LARGEST_DIFFERENCE


def _compare(program: Program, reference: Reference, encodings: list[Encoding], answers: list[_Answer]) -> _Comparison:
    differences, changed, other_ids, contradictions = [], [], [], []
    for number, (encoding, answer) in enumerate(zip(encodings, answers, strict=True), 1):
        if answer.logits.shape != (len(program.labels),):
            raise EtchError("other-labels", "verify", f"the program has not {len(program.labels)} labels: build again")
        expected = reference.logits(encoding.ids, encoding.type_ids)
        differences.append(np.abs(answer.logits - expected))
        if np.argmax(answer.logits) != np.argmax(expected):
            changed.append(_ChangedLabel(number, expected, answer.logits))
        told = (answer.ids, answer.tokens, answer.truncated)
        if told != (encoding.ids, len(encoding.ids), bool(encoding.overflowing)):
            other_ids.append(number)
        if answer.label != program.labels[int(np.argmax(answer.logits))]:
            contradictions.append(number)
    return _Comparison(
        recipe=program.recipe,
        texts=len(answers),
        largest=float(np.max(differences)),
        mean=float(np.mean(differences)),
        changed=changed,
        other_ids=other_ids,
        other_bits=[] if program.recipe == "fp32" else _other_bits(program, encodings, answers),
        contradictions=contradictions,
    )


def _other_bits(program: Program, encodings: list[Encoding], answers: list[_Answer]) -> list[int]:
    found = []
    for batch in _batches([len(encoding.ids) for encoding in encodings]):
        texts = [Text(encodings[i].ids, encodings[i].type_ids) for i in batch]
        for i, expected in zip(batch, emulate_texts(program, texts), strict=True):
            if answers[i].logits.tobytes() != expected.tobytes():
                found.append(i + 1)
    return found


def _batches(lengths: list[int]) -> Iterator[range]:
    """Ranges of texts with a bounded number of tokens, at least one text each."""
    begin, tokens = 0, 0
    for i, length in enumerate(lengths):
        if i > begin and tokens + length > _TOKENS_AT_ONCE:
            yield range(begin, i)
            begin, tokens = i, 0
        tokens += length
    yield range(begin, len(lengths))


# --- report ----------------------------------------------------------------------------------------------------------


def _report(program: Program, found: _Comparison) -> Iterator[str]:
    yield f"texts        {found.texts}, recipe {found.recipe}, at most {program.max_tokens} tokens"
    yield f"ids          {_count(found.other_ids)} other than the tokenizers wheel's"
    if found.recipe != "fp32":
        yield f"contract     {_count(found.other_bits)} with logits other than the contract's, bit for bit"
    if found.contradictions:
        yield f"labels       {_count(found.contradictions)} with a label that is not the largest logit's"
    bound = f" (bound {LARGEST_DIFFERENCE:g})" if found.recipe == "fp32" else ""
    yield f"logits       |difference| to the float64 reference: max {found.largest:.3g}{bound}, mean {found.mean:.3g}"
    yield f"labels       {len(found.changed)} of {found.texts} other than the reference's"
    for change in found.changed:
        ours = int(np.argmax(change.ours))
        first, second = np.argsort(-change.reference, kind="stable")[:2]
        yield (
            f"  text {change.text}: reference {_named(program, first, change.reference)}, "
            f"{_named(program, second, change.reference)}; here {_named(program, ours, change.ours)}"
        )
    yield f"result       {'within' if found.within_bound else 'OUTSIDE'} the bound of {found.recipe}"


def _named(program: Program, label: int, logits: NDArray) -> str:
    return f"{printable(program.labels[label], 40)} {float(logits[label]):.6f}"


def _count(texts: list[int]) -> str:
    """How many, and which."""
    if not texts:
        return "0 texts"
    listed = ", ".join(map(str, texts[:_LISTED])) + (", …" if len(texts) > _LISTED else "")
    return f"{len(texts)} texts (number {listed})"
