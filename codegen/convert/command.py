# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch convert`."""

from __future__ import annotations

import argparse
import sys

from ..console.argument_types import place
from ..console.subcommand import Subcommand
from ..process.progress import say
from .dtypes import DTYPES


def _take(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        type=place,
        metavar="MODEL",
        help="checkpoint folder with pickled or quantized weights, or a GGUF file",
    )
    parser.add_argument("--out", type=place, required=True, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--file", action="append", default=[], metavar="NAME", help="a file with weights, where several could be"
    )
    parser.add_argument(
        "--dtype",
        choices=tuple(DTYPES),
        default="float32",
        help="type of a GGUF file's matrices that were quantized (default: float32, which has their values exactly)",
    )
    parser.add_argument(
        "--python", default=sys.executable, metavar="PROGRAM", help="a Python that has PyTorch (default: this one)"
    )


def _do(arguments: argparse.Namespace) -> None:
    from .folder import Asked, convert

    asked = Asked(arguments.file, arguments.python, arguments.dtype)
    convert(arguments.folder, arguments.out, asked, say)


COMMAND = Subcommand(
    "convert",
    "pickled weights (.bin, .pt) to safetensors; quantized weights to plain ones; GGUF files; SetFit's classifiers",
    "Writes a folder with the files of MODEL and its weights as model.safetensors. Of pickled weights a process of "
    "its own, with the PyTorch of your environment and weights_only=True, reads the pickle. Of quantized weights "
    "(GPTQ, AWQ, FP8, compressed-tensors, bitsandbytes) it writes the floats that they stand for, which generate "
    "quantizes anew. Of a GGUF file (llama.cpp's) it writes weights, configuration and tokenizer as transformers has "
    "them. Of SetFit's folders model_head.pkl is read, too, without scikit-learn: it becomes head.json and "
    "head.safetensors.",
    _take,
    _do,
)
