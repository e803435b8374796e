# SPDX-License-Identifier: Apache-2.0
"""`etch convert`: a checkpoint folder whose weights are pickled to one whose weights are safetensors.

Unpickling can run foreign code. So a process of its own does it (unpickle.py), with PyTorch's `weights_only=True`,
which knows tensors and nothing else; what it writes is read here like any file of a stranger. The result is written
only where a front-end finds every tensor of the model in it, by name and shape.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path

from ..errors import printable
from ..folders.checkpoint_folder import publish
from ..folders.output import prepare_target
from ..load.bare_encoder import is_bare, with_pooling
from ..load.files import CheckpointFolder
from ..load.other_files import is_other_file
from ..load.safetensors import MAX_FILE_BYTES
from ..load.sentence_files import MODULES_FILE
from ..load.shards import WEIGHTS_FILE
from ..pipeline import load, to_graph
from .child import Job, run_child
from .pickles import pickles_of

_CHUNK = 4 << 20
_WEIGHTS = re.compile(r"[\w.-]+\.safetensors(?:\.index\.json)?")


def convert(folder: Path, out: Path, chosen: list[str], python: str, echo: Callable[[str], None]) -> None:
    """`folder` -> `out`, all or nothing.

    `chosen` are the names of the files that hold the weights; where it is empty they are found. `python` is the
    interpreter that has PyTorch.
    """
    source = CheckpointFolder(folder)
    prepare_target(out, echo)
    with tempfile.TemporaryDirectory(prefix="etch-convert-") as place:
        fresh = Path(place)
        pickles = pickles_of(source, chosen)
        _copy_others(source, fresh, set(pickles))
        with ExitStack() as stack:
            jobs = [
                Job(
                    names=names,
                    descriptors=[stack.enter_context(source.open(name, 2 * MAX_FILE_BYTES))[0] for name in names],
                    out=fresh / at / WEIGHTS_FILE,
                )
                for at, names in pickles.items()
            ]
            for job in jobs:
                job.out.parent.mkdir(exist_ok=True)
            for line in run_child(jobs, python):
                echo(line)
        _check(fresh, echo)
        publish(fresh, out, {"converted": True})
    echo(f"wrote {out}")


def _check(folder: Path, echo: Callable[[str], None]) -> None:
    """That the weights are those of the model: a front-end takes each by name and shape, and leaves none."""
    checkpoint = load(folder)
    graph = to_graph(with_pooling(checkpoint, "mean" if is_bare(checkpoint) else None), None)
    echo(f"checked      {checkpoint.config.model_type}, {len(checkpoint.tensors.names)} tensors by name and shape")
    for note in checkpoint.notes + graph.notes:
        echo(f"note         {printable(note)}")


def _copy_others(source: CheckpointFolder, to: Path, converted: Collection[str]) -> None:
    """The other files, also those of the folders that modules.json names; weights come from those `converted`."""
    folders = [""]
    if source.has(MODULES_FILE):
        modules = source.read_json_list(MODULES_FILE)
        paths = [item.get("path") for item in modules if isinstance(item, dict)]
        folders += [path for path in paths if isinstance(path, str) and re.fullmatch(r"[A-Za-z0-9_][\w.-]*", path)]
    for folder in folders:
        for name in source.names(folder):
            place = f"{folder}/{name}" if folder else name
            kept = is_other_file(name) or (folder not in converted and _WEIGHTS.fullmatch(name))
            if not kept or source.is_folder(place):
                continue
            (to / folder).mkdir(exist_ok=True)
            with source.open(place, MAX_FILE_BYTES) as (descriptor, _), (to / place).open("xb") as copy:
                while part := os.read(descriptor, _CHUNK):
                    copy.write(part)
