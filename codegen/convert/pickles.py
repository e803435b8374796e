# SPDX-License-Identifier: Apache-2.0
"""Which files of a folder hold its pickled weights."""

from __future__ import annotations

import re

from ..load.files import CheckpointFolder
from ..load.gguf_files import gguf_names
from ..load.pickles import PICKLE, PICKLE_SUFFIXES, SETFIT_HEAD, pickled_names
from ..load.sentence import static_path
from ..load.shards import INDEX_FILE, WEIGHTS_FILE
from .refusal import refusal

_SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})(\.\w+)")
_MAX_SHARDS = 1000


def pickles_of(source: CheckpointFolder, chosen: list[str]) -> dict[str, list[str]]:
    """Folder inside of the checkpoint ("" for its top) -> the files whose tensors make one file of safetensors there.

    `chosen` names those of the top; where it is empty they are found: `pytorch_model.bin`, its shards, or the only
    one.
    """
    names = source.names()
    if chosen:
        for name in chosen:
            if name not in names:
                raise refusal("pickle-missing", f"the folder has no '{name}'")
        found = {"": list(chosen)}
    else:
        elsewhere = static_path(source) not in (None, "", ".")  # the table that is all of the model
        found = {} if elsewhere or WEIGHTS_FILE in names or INDEX_FILE in names else {"": _of_the_model(names)}
    for folder in names:  # modules of sentence-transformers
        inside = source.names(folder) if source.is_folder(folder) and re.fullmatch(r"\d+_\w+", folder) else []
        if PICKLE in inside and WEIGHTS_FILE not in inside:
            found[folder] = [f"{folder}/{PICKLE}"]
    if not found and SETFIT_HEAD not in names:
        raise refusal("nothing-to-convert", f"the folder has {WEIGHTS_FILE}: etch reads it as it is")
    return found


def _of_the_model(names: list[str]) -> list[str]:
    if PICKLE in names:
        return [PICKLE]
    pickles = [name for name in pickled_names(names) if name != SETFIT_HEAD]
    shards = [match for match in map(_SHARD.fullmatch, pickles) if match]
    if shards:
        stem, _, count, suffix = shards[0].groups()
        if not 1 <= int(count) <= _MAX_SHARDS:
            raise refusal(
                "shard-count", f"'{shards[0][0]}' is one of {int(count)} files, at most {_MAX_SHARDS} are read"
            )
        wanted = [f"{stem}-{part:05}-of-{count}{suffix}" for part in range(1, int(count) + 1)]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise refusal("shard-missing", f"{len(missing)} of {int(count)} files are missing, the first: {missing[0]}")
        pickles = [name for name in pickles if name not in wanted]
        if not pickles:
            return wanted
        pickles += [shards[0][0]]
    if not pickles and (files := gguf_names(names)):
        message = f"the folder has no pickled weights, but '{files[0]}': name that file, not its folder"
        raise refusal("nothing-to-convert", message)
    if not pickles:
        raise refusal("nothing-to-convert", f"the folder has no pickled weights ({', '.join(PICKLE_SUFFIXES)})")
    if len(pickles) > 1:
        listed = ", ".join(f"'{name}'" for name in sorted(pickles)[:5])
        raise refusal(
            "pickle-ambiguous", f"{len(pickles)} files could be the weights ({listed}): say which with --file"
        )
    return pickles
