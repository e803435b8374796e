# SPDX-License-Identifier: Apache-2.0
"""`etch convert`: a checkpoint folder whose weights are pickled, or quantized already, to one that etch reads; or a
GGUF file to such a folder.

Unpickling can run foreign code. So a process of its own does it (unpickle.py), with PyTorch's `weights_only=True`,
which knows tensors and nothing else; what it writes is read here like any file of a stranger. The result is written
only where a front-end finds every tensor of the model in it, by name and shape.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..errors import EtchError
from ..folders.checkpoint_folder import copy_others, is_weights, publish
from ..folders.output import prepare_target
from ..load.files import CheckpointFolder
from ..load.head_file import ENCODER
from ..load.pickles import SETFIT_HEAD
from ..load.safetensors import MAX_FILE_BYTES
from ..load.shards import WEIGHTS_FILE
from ..readable import check_readable
from .child import Job, run_child
from .gguf.file import is_gguf
from .gguf.folder import write_folder
from .pickles import pickles_of
from .quantized.plain_weights import is_quantized, write_plain
from .setfit import write_head


@dataclass(frozen=True)
class Asked:
    """`chosen` are the names of the files that hold pickled weights; where it is empty they are found. `python` is the
    interpreter that has PyTorch, which these need. `dtype` is what a GGUF file's quantized matrices become."""

    chosen: list[str]
    python: str
    dtype: str = "float32"


def convert(folder: Path, out: Path, asked: Asked, echo: Callable[[str], None]) -> None:
    """`folder`, or a GGUF file -> `out`, all or nothing."""
    if is_gguf(folder):
        _convert_gguf(folder, out, asked, echo)
        return
    if asked.dtype != Asked.dtype:
        raise EtchError("option-conflict", "arguments", "--dtype is of GGUF files: a folder's weights keep their type")
    source = CheckpointFolder(folder)
    prepare_target(out, echo)
    with tempfile.TemporaryDirectory(prefix="etch-convert-") as place:
        fresh = Path(place)
        body = fresh
        if source.has(SETFIT_HEAD):
            body = fresh / ENCODER
            body.mkdir()
            echo(write_head(source, fresh))
        plain = is_quantized(source)
        pickles = {} if plain else pickles_of(source, asked.chosen)
        written = {*pickles, *([""] if plain else [])}
        copy_others(source, body, lambda place: is_weights(place) and os.path.dirname(place) in written)
        if plain:
            echo(write_plain(source, body))
        with ExitStack() as stack:
            jobs = [
                Job(
                    names=names,
                    descriptors=[stack.enter_context(source.open(name, 2 * MAX_FILE_BYTES))[0] for name in names],
                    out=body / at / WEIGHTS_FILE,
                )
                for at, names in pickles.items()
            ]
            for job in jobs:
                job.out.parent.mkdir(exist_ok=True)
            for line in run_child(jobs, asked.python) if jobs else ():
                echo(line)
        _finish(fresh, out, echo)


def _convert_gguf(file: Path, out: Path, asked: Asked, echo: Callable[[str], None]) -> None:
    if asked.chosen:
        message = f"--file names files of a folder: {file.name} is all of a model"
        raise EtchError("option-conflict", "arguments", message)
    prepare_target(out, echo)
    with tempfile.TemporaryDirectory(prefix="etch-convert-") as place:
        for line in write_folder(file, Path(place), asked.dtype):
            echo(line)
        _finish(Path(place), out, echo)


def _finish(fresh: Path, out: Path, echo: Callable[[str], None]) -> None:
    check_readable(fresh, echo)
    publish(fresh, out, {"converted": True})
    echo(f"wrote {out}")
