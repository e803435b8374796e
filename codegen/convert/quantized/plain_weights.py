# SPDX-License-Identifier: Apache-2.0
"""A checkpoint whose weights are quantized -> one whose weights are floats, of the type that config.json says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from ...files.safetensors_file import Stored, write_safetensors
from ...ir.parameter import F32Array
from ...load.files import CheckpointFolder
from ...load.folder import CONFIG_FILE
from ...load.quantized_config import KEYS, METHODS, method_of, settings_in
from ...load.refusal import shown
from ...load.safetensors import MAX_FILE_BYTES
from ...load.shards import INDEX_FILE, WEIGHTS_FILE, open_weights
from ..dtypes import DTYPES
from ..refusal import refusal
from . import awq, bitsandbytes, compressed_tensors, fp8, gptq
from .settings import Settings
from .stored_tensors import StoredTensors

# By `quant_method`: from the settings and the tensors to each weight's name and values.
Method = Callable[[Settings, StoredTensors], Iterator[tuple[str, F32Array]]]
READERS: dict[str, Method] = {
    "awq": awq.weights,
    "bitsandbytes": bitsandbytes.weights,
    "compressed-tensors": compressed_tensors.weights,
    "fp8": fp8.weights,
    "gptq": gptq.weights,
}
# Linears of these are stored as [inputs, outputs], which the methods' libraries turn in different ways.
_INPUTS_FIRST = ("gpt2", "openai-gpt")


def is_quantized(source: CheckpointFolder) -> bool:
    """Whether config.json says so; refuses such weights in pickles."""
    if not source.has(CONFIG_FILE) or settings_in(source.read_json(CONFIG_FILE)) is None:
        return False
    if not source.has(WEIGHTS_FILE) and not source.has(INDEX_FILE):
        message = f"quantized weights are read from {WEIGHTS_FILE} or its shards, which the folder does not have"
        raise refusal("quantization-not-supported", message, file=CONFIG_FILE)
    return True


def write_plain(source: CheckpointFolder, to: Path) -> str:
    """Writes the weights and config.json into the folder `to`; returns what was done."""
    config = source.read_json(CONFIG_FILE)
    told = settings_in(config)
    assert told is not None
    method = method_of(told)
    if method not in READERS:
        message = f"weights quantized by {shown(method)} are not read (read: {', '.join(METHODS)})"
        raise refusal("quantization-not-supported", message, file=CONFIG_FILE)
    if config.get("model_type") in _INPUTS_FIRST:
        message = f"quantized weights of '{config['model_type']}', whose linears are stored inputs first, are not read"
        raise refusal("quantization-not-supported", message, file=CONFIG_FILE)
    named = config.get("dtype") or config.get("torch_dtype")
    dtype = DTYPES.get(named, "F32") if isinstance(named, str) else "F32"
    tensors = StoredTensors(open_weights(source)[0])
    plain = _rounded(READERS[method](Settings(told, method), tensors), dtype)
    if not plain:
        raise refusal("nothing-to-convert", f"no weight is quantized by {method}", file=WEIGHTS_FILE)
    kept = tensors.left()
    _check_size(plain | kept)
    write_safetensors(to / WEIGHTS_FILE, plain | kept)
    others = {key: value for key, value in config.items() if key not in KEYS}
    (to / CONFIG_FILE).write_text(json.dumps(others, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return f"plain        {len(plain)} weights of {method} as {dtype}, {len(kept)} other tensors as they are"


@np.errstate(all="ignore")  # what is not finite then is refused
def _rounded(weights: Iterator[tuple[str, F32Array]], dtype: str) -> dict[str, Stored]:
    plain: dict[str, Stored] = {}
    size = 0
    for name, values in weights:
        if not np.isfinite(values).all():
            raise refusal("tensor-not-finite", "the weight has values that are not finite", tensor=name)
        plain[name] = Stored.of(values, dtype)
        size = _check_size({name: plain[name]}, size)
    return plain


def _check_size(tensors: Mapping[str, Stored], before: int = 0) -> int:
    """The bytes of all, `before` included; refuses more than are read."""
    size = before + sum(tensor.data.nbytes for tensor in tensors.values())
    if size > MAX_FILE_BYTES:
        message = f"the plain weights have {size} bytes or more, at most {MAX_FILE_BYTES} are read"
        raise refusal("file-too-large", message, file=WEIGHTS_FILE)
    return size
