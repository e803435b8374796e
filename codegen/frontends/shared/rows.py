# SPDX-License-Identifier: Apache-2.0
"""What heads are given, and what they make of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.graph import Head, Node
from ...ir.task import Task
from ...ir.tokenizer_spec import TokenizerSpec
from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.splade import SparsePooling
from .prediction_head import Prediction

HeadOps = tuple[tuple[Node, ...], dict[str, int], Head]  # the ops, the widths of what they write, the result
Pooled = Callable[[str, Task], HeadOps]  # a row of the text, then the linear of this name to the outputs of a task


@dataclass(frozen=True)
class Rows:
    """An encoder's output, one row per token."""

    config: Config
    tensors: TensorFile
    value: str
    width: int
    body: tuple[Node, ...]  # the ops that make it
    tokenizer: TokenizerSpec
    prediction: Prediction | None  # what the family's masked language models have behind it
    pooled: Pooled | None  # what its classes for two texts have
    tags: str = "classifier"  # the linear of its token classifiers
    sparse: SparsePooling | None = None  # of a masked language model: weights of its words in place of its masks
