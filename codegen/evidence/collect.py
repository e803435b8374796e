# SPDX-License-Identifier: Apache-2.0
"""Runs the checks and writes what came of them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..built_program import program_of
from ..digest import sha256_of
from ..errors import EtchError, printable
from ..generated_folder import check_folder
from ..head_folders import HeadFolder
from ..manifest import MANIFEST, TERMS_SUFFIX
from ..one_file import write_file
from ..outside_files import NamedFile
from ..progress import stage
from ..verify import verify
from .page import page
from .sbom import sbom

STAGE = "evidence"
PACKAGES = ("numpy", "tokenizers", "jinja2")  # that decide bytes
SHOWN = ("table_bytes", "arena_bytes", "arena_lower_bound", "stack_budget", "table_list", "arena_ops", "arena_buffers")
_SECONDS = 3600


@dataclass(frozen=True)
class Request:
    """The arguments of `evidence`."""

    directory: Path
    checkpoint: Path
    heads: tuple[HeadFolder, ...]  # of a model that has several
    texts: Path
    table: Path | None
    table_options: tuple[str, ...]
    latency: bool
    out: Path


@dataclass(frozen=True)
class Check:
    """A command that was run, and what it said."""

    title: str
    command: str  # as a user would type it
    holds: bool
    output: str


def collect(request: Request, echo: Callable[[str], None]) -> int:
    """0 where every check holds, else 1. EtchError for wrong use; then nothing is written."""
    if request.out.suffix != ".html":
        raise EtchError("output-kind", "arguments", f"--out: expected a name that ends in .html, got {request.out}")
    if request.table_options and request.table is None:
        raise EtchError("option-incomplete", "arguments", f"{request.table_options[0]} needs --evaluate")
    manifest = check_folder(request.directory, STAGE)
    if lacking := [key for key in SHOWN if key not in manifest]:
        raise EtchError("manifest-malformed", STAGE, f"'{lacking[0]}' is missing: generate it again", file=MANIFEST)
    program = program_of(request.directory, echo)
    checks = [_verified(request)]
    checks += [
        _ran("Self test: the CRC of every table, then the golden texts bit for bit", program, "--self-test"),
        _ran("Kernels that this CPU can run, best first", program, "--kernel", "list"),
    ]
    if request.table is not None:
        options = ["--evaluate", str(request.table), *request.table_options]
        checks.append(_ran("Answers to a labelled table", program, *options, shown=("--evaluate", request.table.name)))
    checks += [
        _ran("Refusal: a kernel that does not exist", program, "--kernel", "no_such", "text", code=2),
        _ran("Refusal: a file that is not there", program, "--file", "no_such_file", code=2),
        _ran("Refusal: an option that does not exist", program, "--no-such-option", code=2),
    ]
    if request.latency:
        checks.append(_ran("Times on this machine, which no other run repeats exactly", program, "--latency"))
    inputs = _inputs(request)
    versions = {"etch": __version__, "Python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in PACKAGES}
    terms = request.directory / f"{manifest['name']}{TERMS_SUFFIX}"
    licence = terms.read_text(encoding="utf-8") if terms.name in manifest["files"] else None
    text = page(manifest, inputs, versions, checks, licence, _commands(request, manifest))
    bill = sbom(manifest, inputs, versions, licence)
    write_file(request.out, text.encode(), STAGE)
    beside = request.out.with_suffix(".cdx.json")
    write_file(beside, (json.dumps(bill, indent=1, ensure_ascii=False) + "\n").encode(), STAGE)
    failed = [check.title for check in checks if not check.holds]
    for title in failed:
        echo(f"failed       {title}")
    echo(f"wrote {request.out} and {beside.name}: {len(checks) - len(failed)} of {len(checks)} checks hold")
    return 1 if failed else 0


def _verified(request: Request) -> Check:
    lines: list[str] = []
    code = verify(request.directory, request.checkpoint, request.texts, lines.append, heads=request.heads)
    lines = [line for line in lines if not line.startswith(("building in", "built "))]
    words = ["etch", "verify", "MODEL", "--checkpoint", "CHECKPOINT", *_heads(request)]
    command = shlex.join([*words, "--texts", request.texts.name])
    return Check("Against the float64 reference, and the arithmetic contract bit for bit", command, code == 0,
                 "\n".join(lines))  # fmt: skip


def _ran(title: str, program: Path, *options: str, code: int = 0, shown: Sequence[str] = ()) -> Check:
    """The program with these options, which should end with `code`."""
    with stage("check"):
        try:
            done = subprocess.run([program, *options], capture_output=True, check=False, timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EtchError("program-failed", STAGE, f"{program.name} {options[0]}: {error}") from error
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    typed = [program.name, *(shown or options)]
    lines = [printable(line, 4000) for line in output.splitlines()]
    return Check(title, shlex.join(typed), done.returncode == code, "\n".join([*lines, f"exit code {done.returncode}"]))


def _inputs(request: Request) -> dict[str, str]:
    """Name -> SHA-256 of everything that was read."""
    found: dict[str, str] = {f"model/{MANIFEST}": _digest((request.directory / MANIFEST).read_bytes())}
    folders = {"checkpoint": request.checkpoint} | {f"head {head.name}": head.folder for head in request.heads}
    for name, folder in folders.items():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                found[f"{name}/{path.relative_to(folder)}"] = sha256_of(path)
    for file in (request.texts, request.table):
        if file is not None:
            found[file.name] = _digest(NamedFile(file, "texts", STAGE).read())
    return found


def _heads(request: Request) -> list[str]:
    """Each head's folder by the name of a stand-in, as the checkpoint's."""
    return [word for head in request.heads for word in ("--head", f"{head.name}=HEAD_{head.name.upper()}")]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _commands(request: Request, manifest: dict[str, Any]) -> list[str]:
    """That make the model and this page again."""
    generate = ["etch", "generate", "CHECKPOINT", "--out", "MODEL", "--name", manifest["name"]]
    generate += ["--recipe", manifest["recipe"], "--max-tokens", str(manifest["max_tokens"])]
    generate += ["--target", manifest["target"], *_heads(request), "--build"]
    evidence = ["etch", "evidence", "MODEL", "--checkpoint", "CHECKPOINT", *_heads(request)]
    evidence += ["--texts", request.texts.name]
    if request.table is not None:
        evidence += ["--evaluate", request.table.name, *request.table_options]
    return [shlex.join(generate), shlex.join([*evidence, "--out", request.out.name])]
