# SPDX-License-Identifier: Apache-2.0
"""What lowering makes of a graph: the runtime's ops over arena buffers and weight tables, in the order of execution.

This is the value that the planner lays out, the emulator executes and the renderer writes down. All that it is made of
is here by name, too: `buffer.py`, `program_ops.py` and what its ops are made of, `weights.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .attention_shape import HeadShape, SoftCap
from .buffer import CACHES, KEPT, Buffer, Kind, Rows, Storage
from .graph import TargetRules
from .program_attention import Attention, PackKeyRows, PackKeys, PackValues, Rotary
from .program_experts import ChooseExperts, ExpertLinear, MixExperts, SelectRows
from .program_ops import (
    OPS,
    VOCABULARY_BLOCK,
    Add,
    Best,
    Cap,
    CausalConvolution,
    CenteredConvolution,
    Copy,
    DeltaRule,
    DynamicConvolution,
    EmbeddingMean,
    EmbeddingSum,
    EmbeddingTerm,
    FirstRow,
    FourierRows,
    GroupRows,
    Gru,
    Linear,
    Masked,
    Multiply,
    Norm,
    Normalize,
    Op,
    PackRows,
    Pool,
    Quantize,
    RowOfToken,
    Softmax,
    SpreadRows,
    StateSpace,
    Upsample,
    WordWeights,
    Xielu,
)
from .row_pooling import RowPooling
from .several import task_of_heads
from .task import Task
from .weights import (
    GROUP,
    ConvolutionWeights,
    DeltaWeights,
    EmbeddingWeights,
    ExpertBias,
    F32Matrix,
    FloatTable,
    IndexTable,
    Integers,
    LinearWeights,
    LookedUp,
    NormWeights,
    RelativeWeights,
    S4Matrix,
    S7Matrix,
    S8Matrix,
    StateSpaceWeights,
    Weights,
    WeightSlot,
    XieluWeights,
    of_table,
)

__all__ = [
    "CACHES",
    "GROUP",
    "KEPT",
    "OPS",
    "VOCABULARY_BLOCK",
    "Add",
    "Attention",
    "Best",
    "Blocks",
    "Buffer",
    "Cap",
    "CausalConvolution",
    "CenteredConvolution",
    "ChooseExperts",
    "ConvolutionWeights",
    "Copy",
    "DeltaRule",
    "DeltaWeights",
    "DynamicConvolution",
    "EmbeddingMean",
    "EmbeddingSum",
    "EmbeddingTerm",
    "EmbeddingWeights",
    "ExpertBias",
    "ExpertLinear",
    "F32Matrix",
    "FirstRow",
    "FloatTable",
    "FourierRows",
    "GroupRows",
    "Gru",
    "HeadShape",
    "IndexTable",
    "Integers",
    "Kind",
    "Linear",
    "LinearWeights",
    "LookedUp",
    "Loop",
    "Masked",
    "MixExperts",
    "Multiply",
    "Norm",
    "NormWeights",
    "Normalize",
    "Op",
    "Output",
    "PackKeyRows",
    "PackKeys",
    "PackRows",
    "PackValues",
    "Pool",
    "Program",
    "Quantize",
    "RelativeWeights",
    "Repeat",
    "Rotary",
    "RowOfToken",
    "Rows",
    "S4Matrix",
    "S7Matrix",
    "S8Matrix",
    "SelectRows",
    "SoftCap",
    "Softmax",
    "SpreadRows",
    "StateSpace",
    "StateSpaceWeights",
    "Step",
    "Storage",
    "Upsample",
    "WeightSlot",
    "Weights",
    "WordWeights",
    "Xielu",
    "XieluWeights",
    "of_table",
]


@dataclass(frozen=True)
class Blocks:
    """The body once per block of rows; `last_layer_first_row`: in the last layer of the loop only row 0 is needed.
    `pools`: before it, in the first layer, all rows that it has are pooled to the level of the loop. `level`: outside
    of loops, of its rows."""

    body: tuple[Op, ...]
    last_layer_first_row: bool = False
    pools: RowPooling | None = None
    level: int = 0


@dataclass(frozen=True)
class Loop:
    """The body once per layer. Its rows are of a level: blocks of the first layer before those that pool have the rows
    of the level before."""

    name: str
    count: int
    body: tuple[Blocks, ...]
    level: int = 0


@dataclass(frozen=True)
class Repeat:
    """The body again and again: once per text of a batch, on one row each, once per block of a text's masks, or once
    per step of what is generated. What it reads from before it stays intact, and so do the keys and values that steps
    append to. Only the body of a step of generation has loops and blocks."""

    over: Literal["texts", "masks", "steps"]
    body: tuple[Step, ...]


Step = Op | Blocks | Loop | Repeat


@dataclass(frozen=True)
class Output:
    """A result of the program: one row per text, one per token, or one per mask at the first rows of its text."""

    task: Task
    buffer: Buffer
    name: str = ""  # of one of several


@dataclass(frozen=True)
class Program:
    recipe: str
    steps: tuple[Step, ...]
    outputs: tuple[Output, ...]
    vocabulary: int
    segments: int
    max_tokens: int
    target_rules: TargetRules | None = None  # what the repeated steps write

    @property
    def task(self) -> Task:
        """Of the outputs."""
        return task_of_heads(self.outputs)

    @property
    def output(self) -> Buffer:
        """The first one."""
        return self.outputs[0].buffer
