# SPDX-License-Identifier: Apache-2.0
"""Runs the checks and writes what came of them."""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..building.build import build_bench, program_path
from ..building.built_program import program_of
from ..console.parser import WRONG_USE
from ..console.table_options import own_columns
from ..errors import EtchError, printable
from ..files.one_file import check_place, write_file
from ..folders.generated_folder import check_folder
from ..folders.manifest import MANIFEST
from ..process.progress import stage
from ..verification.certificate import certify
from ..verification.verify import check_texts_given, verify
from .inputs import digests_of_files, digests_of_folders
from .linked import linked_of
from .origin import origin_of
from .page import page
from .request import Check, Request
from .sbom import sbom
from .shown_commands import MODEL, STAGE, certificate_command, commands, shown_file, verify_command

SHOWN = ("table_bytes", "arena_bytes", "arena_lower_bound", "stack_budget", "table_list", "arena_ops", "arena_buffers")
_SECONDS = 3600


def collect(request: Request, echo: Callable[[str], None]) -> int:
    """0 where every check holds, else 1. EtchError for wrong use; then nothing is written."""
    if request.out.suffix != ".html":
        raise EtchError("output-kind", "arguments", f"--out: expected a name that ends in .html, got {request.out}")
    if request.table_options and request.table is None:
        raise EtchError("option-incomplete", "arguments", f"{request.table_options[0]} needs --evaluate")
    check_place(request.out, STAGE)
    manifest = check_folder(request.directory, STAGE)
    if lacking := [key for key in SHOWN if key not in manifest]:
        raise EtchError("manifest-malformed", STAGE, f"'{lacking[0]}' is missing: generate it again", file=MANIFEST)
    check_texts_given(manifest, request.calibrate, request.smooth)
    files = digests_of_files(request)
    checks = _checks(request, echo)
    origin = origin_of(request.directory, manifest, digests_of_folders(request, manifest) | files)
    linked = linked_of(program_path(request.directory), request.directory, manifest)
    text = page(origin, checks, commands(request, manifest), linked)
    bill = sbom(origin)
    write_file(request.out, text.encode(), STAGE)
    beside = request.out.with_suffix(".cdx.json")
    write_file(beside, (json.dumps(bill, indent=1, ensure_ascii=False) + "\n").encode(), STAGE)
    failed = [check for check in checks if not check.holds]
    for check in failed:
        said = check.output.splitlines()
        echo(f"failed       {check.title}: {' / '.join(said[-2:])}")  # what it said last, and its exit code
    echo(f"wrote {request.out} and {beside.name}: {len(checks) - len(failed)} of {len(checks)} checks hold")
    return 1 if failed else 0


def _checks(request: Request, echo: Callable[[str], None]) -> list[Check]:
    """All that are asked for, in the order of the page."""
    checks = [_verified(request, echo), *_certificate(request)]
    program = program_of(request.directory, echo)  # built by now, for what it is to be compared with is there
    checks += [
        _ran("Self test: the CRC of every table, then the golden texts bit for bit", program, "--self-test"),
        _ran("Kernels that this CPU can run, best first", program, "--kernel", "list"),
    ]
    if request.table is not None:
        options = ["--evaluate", str(request.table), *request.table_options]
        shown = [program.name, options[0], shown_file(request, "evaluate"), *request.table_options]
        answers = _ran("Answers to a labelled table", program, *options, shown=shown)
        checks.append(replace(answers, output=answers.output.replace(str(request.table), shown[2])))
    checks += [
        _ran("Refusal: a kernel that does not exist", program, "--kernel", "no_such", "text", code=2),
        _ran("Refusal: a file that is not there", program, "--file", "no_such_file", code=2),
        _ran("Refusal: an option that does not exist", program, "--no-such-option", code=2),
    ]
    if request.latency:
        checks.append(_ran("Times on this machine, which no other run repeats exactly", program, "--latency"))
        checks += _times_of_ops(request.directory, echo)
    return checks


def _verified(request: Request, echo: Callable[[str], None]) -> Check:
    """Builds the model where it is not, after the checkpoint was looked at; `echo` says so."""
    lines: list[str] = []
    code = verify(
        request.directory,
        request.checkpoint,
        request.texts,
        lines.append,
        lambda directory, _: program_of(directory, echo),
        calibration=request.calibrate,
        columns=own_columns(request.calibrate_columns),
        heads=request.heads,
        smoothing=request.smooth,
        smooth_columns=own_columns(request.smooth_columns),
    )
    title = "Against the float64 reference, and the arithmetic contract bit for bit"
    return Check(title, verify_command(request), code == 0, "\n".join(lines))


def _certificate(request: Request) -> list[Check]:
    """Nothing where there is no other tokenizer to compare with: the check above says why."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        out = Path(place, "certificate.json")
        try:
            code = certify(request.directory, request.checkpoint, request.texts, out, lines.append, heads=request.heads)
        except EtchError as error:
            if error.code == "nothing-to-compare":
                return []
            raise
        output = out.read_text(encoding="utf-8") if out.is_file() else "\n".join(lines)
    return [Check("Certificate of the tokenizer", certificate_command(request), code == 0, output.rstrip("\n"))]


def _ran(title: str, program: Path, *options: str, code: int = 0, shown: Sequence[str] = ()) -> Check:
    """The program with these options, which should end with `code`; `shown` is how a user types it otherwise."""
    with stage("check"):
        try:
            done = subprocess.run([program, *options], capture_output=True, check=False, timeout=_SECONDS)
        except OSError as error:
            raise EtchError("program-failed", STAGE, f"{program.name} {options[0]}: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            message = f"{program.name} {options[0]}: it did not end in {_SECONDS} s"
            raise EtchError("program-failed", STAGE, message) from error
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    typed = shown or [program.name, *options]
    lines = [printable(line, 4000) for line in output.splitlines()]
    if done.returncode == WRONG_USE != code:
        raise EtchError("program-refused", "arguments", lines[-1] if lines else f"{program.name} {options[0]}")
    return Check(title, shlex.join(typed), done.returncode == code, "\n".join([*lines, f"exit code {done.returncode}"]))


def _times_of_ops(directory: Path, echo: Callable[[str], None]) -> list[Check]:
    """By the benchmark of the model; nothing where it cannot be built, which is said."""
    try:
        bench = build_bench(directory, echo)
    except EtchError as error:
        needs = "it takes etch's checkout and Google Benchmark (apt-get install libbenchmark-dev)"
        echo(f"no time by op: {needs}: {error.message}")
        return []
    options = ("--filter", "^op/")
    return [_ran("Time by op on this machine, of one thread", bench, *options, shown=("tools/bench", *options, MODEL))]
