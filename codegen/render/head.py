# SPDX-License-Identifier: Apache-2.0
"""The generated head: from the rows of one text to its outputs, and what a call hands it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jinja2 import Environment

from ..ir import program as p
from ..ir.op import reads
from ..ir.stage import Stage
from .forward import op_lines, sliced
from .scope import Scope
from .text import annotated


@dataclass(frozen=True)
class Needs:
    """Of an op, beside what it reads and writes."""

    counts: bool = False  # the number of the text's rows
    masks_among: p.Buffer | None = None  # the rows among which the text's masks are
    by_vocabulary: bool = False  # it runs once for each block of the vocabulary, and is counted there


NEEDS: Stage[Needs] = Stage("head")


@NEEDS.on(p.Pool)
def _pool(op: p.Pool) -> Needs:
    return Needs(counts=op.end is None)


@NEEDS.on(p.EmbeddingMean, p.WordWeights)
def _of_all_tokens(op: p.Op) -> Needs:
    return Needs(counts=True)


@NEEDS.on(p.Masked)
def _masked(op: p.Masked) -> Needs:
    return Needs(masks_among=op.input)


@NEEDS.on(p.Best)
def _best(op: p.Best) -> Needs:
    return Needs(by_vocabulary=True)


@NEEDS.on(*(p.EmbeddingSum, p.Norm, p.Quantize, p.Linear, p.Multiply, p.Add, p.CausalConvolution, p.Rotary))
@NEEDS.on(p.PackRows, p.CenteredConvolution, p.DynamicConvolution, p.FourierRows, p.Upsample, p.Copy)
@NEEDS.on(p.GroupRows, p.FirstRow, p.SpreadRows, p.RowOfToken, p.DeltaRule, p.StateSpace)
@NEEDS.on(p.Xielu, p.ChooseExperts, p.SelectRows, p.ExpertLinear, p.MixExperts)
@NEEDS.on(*(p.PackKeys, p.PackKeyRows, p.PackValues, p.Attention, p.Gru, p.Normalize, p.Softmax, p.Cap))
def _nothing(op: p.Op) -> Needs:
    return Needs()


def head_lines(program: p.Program, environment: Environment) -> dict[str, list[str]]:
    """The body of Head::compute(): from the rows of one text to its outputs, and from those of a block of its masks."""
    texts, masks = Scope(environment, 1, text=True), Scope(environment, 2, masks=True)
    return {
        "head": annotated([line for op in _head(program, "texts") for line in op_lines(op, texts)]),
        "mask_head": annotated([line for op in _head(program, "masks") for line in op_lines(op, masks)]),
    }


def head_values(program: p.Program) -> dict[str, Any]:
    """How Head::compute() is called: the buffers of the rows it reads, where a text's begin, whether it wants their
    number; of masks the rows they are among, and how many ops a block of them has beside those that there are for each
    block of the vocabulary."""
    head, of_masks = _head(program, "texts"), [NEEDS(op) for op in _head(program, "masks")]
    masked = [needs.masks_among.name for needs in of_masks if needs.masks_among is not None]
    masks = {
        "mask_input": masked[0] if masked else "",
        "mask_ops": sum(not needs.by_vocabulary for needs in of_masks),
    }
    read = dict.fromkeys(buffer for op in head for buffer in reads(op) if buffer.rows == "tokens")
    first = _first_rows_only(program)
    rows = {buffer.name: "text" if buffer in first else "texts.texts[text].first" for buffer in read}
    counts = any(NEEDS(op).counts for op in head)
    return {
        "head_input": ", ".join(rows),
        "head_rows": rows,
        "head_types": {b.name: "QuantizedRows" if b.storage == "quantized" else "F32Rows" for b in read},
        "head_counts": counts,
        "needs_texts": bool(masked) or counts or {*rows.values()} != {"text"},
        **masks,
    }


def _first_rows_only(program: p.Program) -> set[p.Buffer]:
    """Buffers with a row per token that in the end hold the first row of each text."""
    loops = [step for step in program.steps if isinstance(step, p.Loop)]
    return {
        buffer for loop in loops for blocks in loop.body if blocks.last_layer_first_row for buffer in sliced(blocks)
    }


def _head(program: p.Program, over: str) -> list[p.Op]:
    steps = (step for step in program.steps if isinstance(step, p.Repeat) and step.over == over)
    return [op for step in steps for op in step.body if isinstance(op, p.Op)]
