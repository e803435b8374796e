# SPDX-License-Identifier: Apache-2.0
"""adapter_model.safetensors: what changes which weights, by the names of the class that was adapted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..ir.parameter import F32Array
from ..load.files import CheckpointFolder
from ..load.folder import ADAPTER_FILE, ADAPTER_WEIGHTS_FILE
from ..load.pickles import PICKLE_SUFFIXES
from ..load.safetensors import TensorFile
from .refusal import refusal, tensor_refusal
from .settings import LoraSettings

_ROOT = "base_model.model."
_LOW_RANK = re.compile(
    r"(?P<module>.+)\.(?:(?P<of_words>lora_embedding_(?P<side>[AB]))|lora_(?P<linear>[AB])\.weight"
    r"|(?P<bias>lora_B\.bias)|(?P<magnitude>lora_magnitude_vector(?:\.weight)?))"
)
_ROWS = ".token_adapter.trainable_tokens_delta"
_WRAPPED = ".base_layer."  # a tensor of a module that has two matrices as well
_TWINS = (".modules_to_save.", ".original_module.")  # of a module that is there by its own name, too


@dataclass(frozen=True)
class LowRank:
    """What is added to a weight: scale * b a."""

    a: F32Array  # [rank, columns of the weight]
    b: F32Array  # [rows of the weight, rank]
    scale: float
    magnitude: F32Array | None  # [rows of the weight]: DoRA's, their length behind that
    bias: F32Array | None  # [rows of the weight]: scale times it is added to the bias


@dataclass(frozen=True)
class Adapter:
    """All of its tensors, as changes."""

    low_rank: Mapping[str, LowRank]  # by module
    token_rows: Mapping[str, tuple[tuple[int, ...], F32Array]]  # by module: tokens, and their new rows
    whole: Mapping[str, F32Array]  # by tensor

    def needed(self) -> frozenset[str]:
        """The tensors that are changed, so the base must have them."""
        changed = {f"{module}.weight" for module in (*self.low_rank, *self.token_rows)}
        changed |= {f"{module}.bias" for module, change in self.low_rank.items() if change.bias is not None}
        return frozenset(changed - self.whole.keys())

    def renamed(self, old: str, new: str) -> Adapter:
        """With another name of the module `old`."""

        def of_module(name: str) -> str:
            return new if name == old else name

        def of_tensor(name: str) -> str:
            module, dot, last = name.rpartition(".")
            return f"{of_module(module)}{dot}{last}"

        return Adapter(
            {of_module(name): change for name, change in self.low_rank.items()},
            {of_module(name): rows for name, rows in self.token_rows.items()},
            {of_tensor(name): values for name, values in self.whole.items()},
        )


def read_adapter(folder: CheckpointFolder, settings: LoraSettings) -> Adapter:
    """The tensors of an adapter's folder, each of which is one of those or refused."""
    if not folder.has(ADAPTER_WEIGHTS_FILE):
        pickled = any(name.endswith(PICKLE_SUFFIXES) for name in folder.names())
        message = f"the folder has no {ADAPTER_WEIGHTS_FILE}" + (
            ": load the adapter with PEFT and save it again, pickles are not read" if pickled else ""
        )
        raise refusal("weights-missing", message)
    file = TensorFile.open_in(folder, ADAPTER_WEIGHTS_FILE)
    parts: dict[str, dict[str, str]] = {}
    rows: dict[str, tuple[tuple[int, ...], F32Array]] = {}
    whole: dict[str, F32Array] = {}
    for name in file.names:
        if not name.startswith(_ROOT):
            raise tensor_refusal("adapter-malformed", f"expected names that begin with '{_ROOT}'", name)
        place = name.removeprefix(_ROOT)
        found = _LOW_RANK.fullmatch(place)
        if found is not None:
            part = "words" if found["of_words"] else next(k for k in ("linear", "bias", "magnitude") if found[k])
            parts.setdefault(found["module"], {})[f"{part}{found['side'] or found['linear'] or ''}"] = name
        elif place.endswith(_ROWS):
            module = place.removesuffix(_ROWS)
            rows[module] = _token_rows(file, name, settings.rows_of(module))
        elif ".lora_" in place:
            raise tensor_refusal("adapter-not-supported", "a part of LoRA that is not known here", name)
        elif not any(twin in place for twin in _TWINS):
            whole[place.replace(_WRAPPED, ".")] = _values(file, name)
    low_rank = {module: _low_rank(file, module, names, settings) for module, names in parts.items()}
    if not low_rank and not rows:
        raise tensor_refusal("adapter-malformed", "it has no matrices of LoRA")
    return Adapter(low_rank, rows, whole)


def _values(file: TensorFile, name: str) -> F32Array:
    return file.take(name, file.info(name)[1]).values


def _low_rank(file: TensorFile, module: str, names: Mapping[str, str], settings: LoraSettings) -> LowRank:
    sides = [names.get(f"{kind}{side}") for kind in ("linear", "words") for side in "AB"]
    if None not in sides[:2]:
        a, b = (_values(file, str(name)) for name in sides[:2])
    elif None not in sides[2:]:
        b, a = (_values(file, str(name)).T for name in sides[2:])
    else:
        raise tensor_refusal("adapter-malformed", f"one of the two matrices of '{module}' is missing")
    rank = settings.rank_of(module)
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] != rank or b.shape[1] != rank:
        shapes = f"{list(a.shape)} and {list(b.shape)}"
        raise tensor_refusal("wrong-shape", f"'{module}' has matrices of {shapes}, {ADAPTER_FILE} a rank of {rank}")
    magnitude = _of_outputs(file, names.get("magnitude"), len(b))
    if (magnitude is not None) != settings.has_magnitudes:
        said = "says" if settings.has_magnitudes else "does not say"
        raise tensor_refusal("adapter-malformed", f"{ADAPTER_FILE} {said} use_dora, unlike the tensors")
    if magnitude is not None and "wordsA" in names:
        raise tensor_refusal("adapter-not-supported", f"DoRA of an embedding ('{module}'): merge it with PEFT")
    return LowRank(a, b, settings.scale_of(module), magnitude, _of_outputs(file, names.get("bias"), len(b)))


def _of_outputs(file: TensorFile, name: str | None, outputs: int) -> F32Array | None:
    return None if name is None else file.take(name, (outputs,)).values


def _token_rows(file: TensorFile, name: str, tokens: tuple[int, ...]) -> tuple[tuple[int, ...], F32Array]:
    values = _values(file, name)
    if values.ndim != 2 or len(values) != len(tokens) or len(np.unique(tokens)) != len(tokens):
        message = f"expected a row for each of {len(tokens)} different tokens, got {list(values.shape)}"
        raise tensor_refusal("wrong-shape", message, name)
    return tokens, values
