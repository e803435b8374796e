# SPDX-License-Identifier: Apache-2.0
"""The commands that make a model and its page again. Folders have the names of what they hold, files their own, or are
in a folder called like the option where two have the same name."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from .request import Request
from .same_options import same_options

STAGE = "evidence"
CHECKPOINT, MODEL, AGAIN = "CHECKPOINT", "MODEL", "AGAIN"


def commands(request: Request, manifest: dict[str, Any]) -> list[str]:
    """Shell commands: the model once more, what differs in it, which is nothing, and the page."""
    others = other_inputs(request)
    generate = ["etch", "generate", CHECKPOINT, "--out", AGAIN, *same_options(manifest, MODEL), *others]
    evidence = ["etch", "evidence", MODEL, "--checkpoint", CHECKPOINT, "--texts", shown_file(request, "texts"), *others]
    if request.table is not None:
        evidence += ["--evaluate", shown_file(request, "evaluate"), *request.table_options]
    evidence += ["--latency"] if request.latency else []
    compare = ["diff", "-r", "--exclude", "build", MODEL, AGAIN]
    return [shlex.join(words) for words in (generate, compare, [*evidence, "--out", request.out.name])]


def verify_command(request: Request) -> str:
    """What the first check is."""
    words = ["etch", "verify", MODEL, "--checkpoint", CHECKPOINT, "--texts", shown_file(request, "texts")]
    return shlex.join([*words, *other_inputs(request)])


def certificate_command(request: Request) -> str:
    """What the second one is."""
    words = ["etch", "verify", MODEL, "--checkpoint", CHECKPOINT, "--texts", shown_file(request, "texts")]
    return shlex.join([*words, "--tokenizer-certificate", "FILE.json", *_heads(request)])


def named_files(request: Request) -> dict[str, Path]:
    """Option -> the file that it names."""
    files = {
        "texts": request.texts,
        "evaluate": request.table,
        "calibrate": request.calibrate,
        "smooth": request.smooth,
    }
    return {option: file for option, file in files.items() if file is not None}


def shown_file(request: Request, option: str) -> str:
    """How a page calls the file of an option."""
    files = named_files(request)
    name = files[option].name
    alike = {file.resolve() for file in files.values() if file.name == name}
    return name if len(alike) == 1 else f"{option}/{name}"


def head_folder(name: str) -> str:
    """How a page calls the folder of a head."""
    return name.upper()


def other_inputs(request: Request) -> list[str]:
    """Options for what a model is made of besides its checkpoint."""
    words = _heads(request)
    given = named_files(request)
    for option, columns in (("smooth", request.smooth_columns), ("calibrate", request.calibrate_columns)):
        words += [f"--{option}", shown_file(request, option)] if option in given else []
        words += [] if columns is None else [f"--{option}-columns", ",".join(columns)]
    return words


def _heads(request: Request) -> list[str]:
    return [word for head in request.heads for word in ("--head", f"{head.name}={head_folder(head.name)}")]
