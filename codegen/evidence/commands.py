# SPDX-License-Identifier: Apache-2.0
"""The commands that make a model and its page again. Folders have the names of what they hold, files their own."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from ..same_options import same_options

if TYPE_CHECKING:
    from .collect import Request

STAGE = "evidence"
CHECKPOINT, MODEL, AGAIN = "CHECKPOINT", "MODEL", "AGAIN"


def commands(request: Request, manifest: dict[str, Any]) -> list[str]:
    """Shell commands: the model once more, what differs in it, which is nothing, and the page."""
    others = other_inputs(request)
    generate = ["etch", "generate", CHECKPOINT, "--out", AGAIN, *same_options(manifest, MODEL), *others]
    evidence = ["etch", "evidence", MODEL, "--checkpoint", CHECKPOINT, "--texts", request.texts.name, *others]
    if request.table is not None:
        evidence += ["--evaluate", request.table.name, *request.table_options]
    evidence += ["--latency"] if request.latency else []
    compare = ["diff", "-r", "--exclude", "build", MODEL, AGAIN]
    return [shlex.join(words) for words in (generate, compare, [*evidence, "--out", request.out.name])]


def verify_command(request: Request) -> str:
    """What the first check is."""
    words = ["etch", "verify", MODEL, "--checkpoint", CHECKPOINT, "--texts", request.texts.name]
    return shlex.join([*words, *other_inputs(request)])


def certificate_command(request: Request) -> str:
    """What the second one is."""
    words = ["etch", "verify", MODEL, "--checkpoint", CHECKPOINT, "--texts", request.texts.name]
    return shlex.join([*words, "--tokenizer-certificate", "FILE.json", *_heads(request)])


def head_folder(name: str) -> str:
    """How a page calls the folder of a head."""
    return name.upper()


def other_inputs(request: Request) -> list[str]:
    """Options for what a model is made of besides its checkpoint."""
    words = _heads(request)
    texts = {
        "--smooth": (request.smooth, request.smooth_columns),
        "--calibrate": (request.calibrate, request.calibrate_columns),
    }
    for option, (file, columns) in texts.items():
        words += [] if file is None else [option, file.name]
        words += [] if columns is None else [f"{option}-columns", ",".join(columns)]
    return words


def _heads(request: Request) -> list[str]:
    return [word for head in request.heads for word in ("--head", f"{head.name}={head_folder(head.name)}")]
