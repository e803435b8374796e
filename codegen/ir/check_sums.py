# SPDX-License-Identifier: Apache-2.0
"""Whether the sums of products of bytes are exact: int32 holds as many products as runtime/ARITHMETIC.md says.

Floats have no such limit, so this is asked of a program, whose ops say what they multiply.
"""

from __future__ import annotations

from ..errors import EtchError
from . import program as p
from .stage import Stage
from .walks import ops_of

MOST_PRODUCTS = 65_536  # in a sum


def check_sums(program: p.Program) -> None:
    """EtchError (stage check) where a linear has more inputs, or a text more keys, than a sum holds products."""
    written = program.target_rules.steps(program.max_tokens) if program.target_rules is not None else 0
    keys = max(program.max_tokens, written)
    for op in ops_of(program):
        SUMS(op, keys)


SUMS: Stage[None] = Stage("check")  # an op, and how many keys a query of it meets at most


@SUMS.on(p.Linear, p.ExpertLinear, p.Best, p.WordWeights)
def _linear(op: p.Linear | p.ExpertLinear | p.Best | p.WordWeights, keys: int) -> None:
    _check_inputs(op.kind, op.input.width)


@SUMS.on(p.Gru)
def _gru(op: p.Gru, keys: int) -> None:
    _check_inputs(op.kind, op.width)


@SUMS.on(p.Attention)
def _attention(op: p.Attention, keys: int) -> None:
    if op.kind == "s8" and keys > MOST_PRODUCTS:
        message = f"{keys:,} tokens: attention of bytes adds up at most {MOST_PRODUCTS:,}; lower --max-tokens"
        raise EtchError("max-tokens-out-of-range", "check", message)


@SUMS.on(
    p.EmbeddingSum,
    p.EmbeddingMean,
    p.Norm,
    p.Quantize,
    p.Multiply,
    p.Add,
    p.Xielu,
    p.CausalConvolution,
    p.PackRows,
    p.CenteredConvolution,
    p.DynamicConvolution,
    p.FourierRows,
    p.DeltaRule,
    p.StateSpace,
    p.Rotary,
    p.Upsample,
    p.Copy,
    p.GroupRows,
    p.FirstRow,
    p.SpreadRows,
    p.RowOfToken,
    p.PackKeys,
    p.PackKeyRows,
    p.PackValues,
    p.ChooseExperts,
    p.SelectRows,
    p.MixExperts,
    p.Pool,
    p.Masked,
    p.Normalize,
    p.Softmax,
    p.Cap,
)
def _no_products(op: p.Op, keys: int) -> None:
    pass


def _check_inputs(kind: p.Kind, inputs: int) -> None:
    if kind == "s8" and inputs > MOST_PRODUCTS:
        message = f"a linear of {inputs:,} inputs: products of bytes are added up to {MOST_PRODUCTS:,}; --recipe fp32"
        raise EtchError("width-not-supported", "check", message)
