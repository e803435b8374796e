# SPDX-License-Identifier: Apache-2.0
"""Which files of a repository etch reads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..load.folder import ADAPTER_WEIGHTS_FILE
from ..load.other_files import is_other_file
from ..load.pickles import SETFIT_HEAD
from ..load.shards import INDEX_FILE, WEIGHTS_FILE

_OF_THEIR_OWN = (ADAPTER_WEIGHTS_FILE, SETFIT_HEAD)  # weights that stand alone
_MODULE = re.compile(r"\d+_\w+/(config\.json|tokenizer\.json|model\.safetensors|pytorch_model\.bin)")
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_PICKLE = re.compile(r"pytorch_model(?:-\d{5}-of-\d{5})?\.bin")


def chosen(names: Iterable[str]) -> list[str]:
    """The files to download, sorted: weights as safetensors where there are any, else pickled ones."""
    names = sorted(names)
    weights = [name for name in names if name == WEIGHTS_FILE] or [name for name in names if _SHARD.fullmatch(name)]
    if not weights:
        weights = [name for name in names if _PICKLE.fullmatch(name)]
    modules = [name for name in names if _MODULE.fullmatch(name)]
    safe = {name.rpartition("/")[0] for name in modules if name.endswith(WEIGHTS_FILE)}
    modules = [name for name in modules if not (name.endswith(".bin") and name.rpartition("/")[0] in safe)]
    others = [name for name in names if is_other_file(name) or name in _OF_THEIR_OWN]
    if INDEX_FILE in names and any(_SHARD.fullmatch(name) for name in weights):
        others.append(INDEX_FILE)
    return sorted({*weights, *modules, *others})
