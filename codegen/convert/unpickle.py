# SPDX-License-Identifier: Apache-2.0
"""The process that unpickles. Knows Python, PyTorch and nothing of etch; may be run by another Python than etch is.

Standard input: a JSON list of jobs, each {"names", "files", "out"}: open descriptors of pickled files, what to call
them, and the file to write their tensors to. Standard output: {"done": [{"tensors", "bytes", "same"}]}, where `same`
are pairs of the name of a tensor that is another one and the name that it was kept under, or {"error": {"code",
"message", "file"}}.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import struct
import sys
from typing import Any

LEAST_PYTORCH = (2, 6)  # before it a pickle could pass weights_only=True (CVE-2025-32434)
# PyTorch's name of a type -> that of safetensors.
DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
WRAPPERS = ("state_dict", "model_state_dict", "model")  # what training loops put the weights under


class Refused(Exception):
    """A code, a message, and the file that it is about."""

    def __init__(self, code: str, message: str, file: str | None = None) -> None:
        super().__init__(code, message, file)
        self.code, self.message, self.file = code, message, file


def import_torch() -> Any:
    """PyTorch, of a version whose `weights_only` holds."""
    try:
        import torch
    except ImportError as error:
        raise Refused(
            "pytorch-missing",
            f"{sys.executable} has no PyTorch ({error}): pip install torch, or name a Python that has it with --python",
        ) from None
    version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if version < LEAST_PYTORCH:
        raise Refused(
            "pytorch-too-old",
            f"PyTorch {torch.__version__}: 2.6 or newer is needed, before it a pickle could run code all the same",
        )
    return torch


def load(torch: Any, descriptor: int, name: str) -> dict[str, Any]:
    """Name -> tensor of one pickled file."""
    try:
        with os.fdopen(os.dup(descriptor), "rb") as file:
            found = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # PyTorch, its unpickler and its archive reader each have their own
        foreign = re.search(r"(?:GLOBAL|global) ([\w.]+)", str(error))
        if foreign is not None:
            raise Refused("pickle-holds-code", f"it holds '{foreign[1]}', which is no tensor", name) from None
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise Refused("pickle-malformed", f"PyTorch cannot read it: {first}", name) from None
    for wrapper in WRAPPERS:
        if isinstance(found, dict) and isinstance(found.get(wrapper), dict):
            found = found[wrapper]
    if not isinstance(found, dict) or not found:
        raise Refused("no-state-dict", f"it holds no tensors by name, but {type(found).__name__}", name)
    for key, value in found.items():
        if not isinstance(key, str) or not isinstance(value, torch.Tensor):
            raise Refused("no-state-dict", f"{str(key)[:80]!r} is {type(value).__name__}, not a tensor", name)
        if str(value.dtype).removeprefix("torch.") not in DTYPES or str(value.layout) != "torch.strided":
            raise Refused("dtype-not-supported", f"{key[:80]!r} is {value.dtype}, {value.layout}", name)
    return found


def without_same(tensors: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """(the tensors, each once, under its first name; the pairs of another name and that one)."""
    kept: dict[str, Any] = {}
    first: dict[tuple[object, ...], str] = {}
    same = []
    for name, tensor in tensors.items():
        place = tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype)
        if tensor.numel() and place in first:
            same.append((name, first[place]))
            continue
        first[place] = name
        kept[name] = tensor
    return kept, same


def write_safetensors(path: str, tensors: dict[str, Any]) -> int:
    """Writes the file, returns the bytes of its data."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        dtype = DTYPES[str(tensor.dtype).removeprefix("torch.")]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            values = tensor.detach().contiguous()
            size = values.numel() * values.element_size()
            if size:
                file.write((ctypes.c_char * size).from_address(values.data_ptr()))
    return at


def convert(torch: Any, job: dict[str, Any]) -> dict[str, Any]:
    """One job."""
    tensors: dict[str, Any] = {}
    for descriptor, name in zip(job["files"], job["names"], strict=True):
        for key, value in load(torch, descriptor, name).items():
            if key in tensors:
                raise Refused("tensor-twice", f"another file holds {key[:80]!r}, too", name)
            tensors[key] = value
    kept, same = without_same(tensors)
    return {"tensors": len(kept), "bytes": write_safetensors(job["out"], kept), "same": same}


def main() -> int:
    """Exit codes: 0 done, 1 refused."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    code = 0
    try:
        if sys.byteorder != "little":
            raise Refused("big-endian", "safetensors are little-endian, this machine is not")
        torch = import_torch()
        said: dict[str, Any] = {"done": [convert(torch, job) for job in json.load(sys.stdin)]}
    except Refused as error:
        said = {"error": {"code": error.code, "message": error.message, "file": error.file}}
        code = 1
    with os.fdopen(answers, "w", encoding="utf-8") as file:
        json.dump(said, file)
    return code


if __name__ == "__main__":
    sys.exit(main())
