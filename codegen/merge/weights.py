# SPDX-License-Identifier: Apache-2.0
"""The tensors of a merged checkpoint."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..files.safetensors_file import Stored
from ..ir.parameter import F32Array
from ..load.safetensors import MAX_FILE_BYTES, TensorFile
from ..load.shards import WEIGHTS_FILE
from .adapter import Adapter
from .arithmetic import with_bias, with_low_rank
from .refusal import refusal, tensor_refusal

# Model types whose linears are stored as [inputs, outputs], but for those that make logits.
_INPUTS_FIRST = ("gpt2",)


def merged_weights(base: TensorFile, names: Mapping[str, str], adapter: Adapter, model_type: str) -> dict[str, Stored]:
    """By the names of the class that was adapted; `names` are those of the base by them. What changes is float32."""

    def before(name: str) -> F32Array:
        if name in adapter.whole:
            return adapter.whole[name]
        return base.take(names[name], base.info(names[name])[1]).values

    changed = dict(adapter.whole)
    for module, (tokens, rows) in adapter.token_rows.items():
        name = f"{module}.weight"
        changed[name] = _with_rows(before(name), tokens, rows, name)
    for module, change in adapter.low_rank.items():
        name = f"{module}.weight"
        weight = changed[name] if name in changed else before(name)
        shape = len(change.b), change.a.shape[1]
        if model_type in _INPUTS_FIRST and weight.shape == shape[::-1] and module.startswith("transformer.h."):
            changed[name] = with_low_rank(weight.T, change).T
        elif weight.shape == shape:
            changed[name] = with_low_rank(weight, change)
        else:
            message = f"it adds {list(shape)} to a weight of {list(weight.shape)}"
            raise tensor_refusal("wrong-shape", message, name)
        if change.bias is not None:
            changed[f"{module}.bias"] = with_bias(before(f"{module}.bias"), change)
    for name, values in changed.items():
        if not np.isfinite(values).all():
            raise refusal("tensor-not-finite", "the merged weight has values that are not finite", tensor=name)
    merged = {name: Stored(*base.stored(of)) for name, of in names.items()}
    merged |= {name: Stored.of(values) for name, values in changed.items()}
    size = sum(tensor.data.nbytes for tensor in merged.values())
    if size > MAX_FILE_BYTES:
        message = f"the merged weights have {size} bytes, at most {MAX_FILE_BYTES} are read"
        raise refusal("file-too-large", message, file=WEIGHTS_FILE)
    return merged


def _with_rows(weight: F32Array, tokens: tuple[int, ...], rows: F32Array, name: str) -> F32Array:
    if weight.ndim != 2 or weight.shape[1] != rows.shape[1] or max(tokens, default=0) >= len(weight):
        message = f"it has rows of {rows.shape[1]} values for tokens of {list(weight.shape)}"
        raise tensor_refusal("wrong-shape", message, name)
    changed = weight.copy()
    changed[list(tokens)] = rows
    return changed
