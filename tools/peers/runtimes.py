# SPDX-License-Identifier: Apache-2.0
"""What a worker asks of a runtime, and the list of them. Names are runtime-precision[-form]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .setup import Setup


class Runtime(Protocol):
    version: str
    detail: str  # of the settings, as far as they are not in the name
    threads: int  # that it computes with

    def answer(self, text: str) -> list[float]:
        """The logits of a text, tokenization included; of a tokenizer alone, the ids."""


class ModelRuntime(Runtime, Protocol):
    def call(self, ids: list[int]) -> Callable[[], list[float]]:
        """A call from these ids to the logits; what the input has to be wrapped in is done before."""


class TokenizingRuntime(Runtime, Protocol):
    def tokenize(self, texts: list[str]) -> Callable[[], int]:
        """A call that tokenizes all texts and says how many tokens they have."""


class BatchingRuntime(Runtime, Protocol):
    batches: tuple[int, ...]  # sizes worth a try; 0: it chooses itself

    def batch(self, texts: list[str], size: int) -> Callable[[], list[list[float]]]:
        """A call from all texts to their logits, tokenization included, `size` texts together."""


class WritingRuntime(Protocol):
    """Of a generative model; it has no answer()."""

    version: str
    detail: str
    threads: int

    def write(self, ids: list[int], beams: int, tokens: int) -> Callable[[], list[int]]:
        """A call from these ids to the so many tokens that follow, with a search of so many beams; 1 is greedy."""


PEERS = (
    "etch-w8a8",
    "etch-w7a8",
    "etch-fp32",
    "onnxruntime-int8",
    "onnxruntime-int8-fused",
    "onnxruntime-fp32",
    "onnxruntime-fp32-fused",
    "openvino-int8",
    "openvino-bf16",
    "openvino-fp32",
    "litert-int8",
    "litert-fp32",
    "torch-int8",
    "torch-bf16",
    "torch-fp32",
)

WRITERS = ("etch-w8a8", "etch-fp32", "ctranslate2-int8", "ctranslate2-fp32", "torch-fp32")

GENERATORS = ("etch-w8a8", "etch-w4a8", "etch-fp32", "llamacpp-q8_0", "llamacpp-q4_0", "llamacpp-f32")

TOKENIZERS = ("tokenizers", "tokenizers-batch")  # stand beside etch's tokenizer only


def load(setup: Setup) -> Runtime | WritingRuntime:
    """Imports the one runtime that is asked for, and nothing of the others."""
    kind = setup.peer.split("-")[0]
    if kind == "etch":
        from .run_etch import Etch, EtchWriter

        return EtchWriter(setup) if setup.writes else Etch(setup)
    if kind == "ctranslate2":
        from .run_ctranslate2 import CTranslate2

        return CTranslate2(setup)
    if kind == "llamacpp":
        from .run_llamacpp import LlamaCpp

        return LlamaCpp(setup)
    if kind == "onnxruntime":
        from .run_onnxruntime import OnnxRuntime

        return OnnxRuntime(setup)
    if kind == "tokenizers":
        from .run_tokenizers import Tokenizers

        return Tokenizers(setup)
    if kind == "openvino":
        from .run_openvino import OpenVino

        return OpenVino(setup)
    if kind == "litert":
        from .run_litert import LiteRt

        return LiteRt(setup)
    from .run_torch import Torch, TorchWriter

    return TorchWriter(setup) if setup.writes else Torch(setup)
