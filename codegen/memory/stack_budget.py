# SPDX-License-Identifier: Apache-2.0
"""How much stack a call of a generated model may use."""

from __future__ import annotations

from ..ir import program as p
from ..ir import walks
from ..ir.stage import Stage
from ..targets import Target, round_up

MANY_OPS = 24  # compilers let few operands of so many share their bytes
MANY_OPS_STACK = 512
RELATIVE_ROWS_STACK = 256  # an attention that multiplies by them, too
GLOBAL_ROWS_STACK = 512  # one that has these beside a window, and the ops on them alone
CAPPED_STACK = 128  # an attention that bounds its scores
WINDOW_STACK = 256  # one that adds to its scores what a row does not see
RECURRENT_STACK = 512  # a GRU goes through linears inside of its own op
WORD_WEIGHTS_STACK = 512  # and so do weights of words
EXPERTS_STACK = 512  # and so do the linears of experts


def stack_budget(target: Target, program: p.Program, tokenizer: int) -> int:
    """Bytes of stack that a call may use: the target's, a Result in self_test(), operands that have no room there
    where a program has many ops or products within one, and what the `tokenizer` takes more than others."""
    ops = walks.ops_of(program)
    many = MANY_OPS_STACK if len(ops) > MANY_OPS else 0
    own: dict[type, int] = {}
    for op in ops:
        own[type(op)] = max(own.get(type(op), 0), OWN(op))
    more = many + sum(own.values()) + tokenizer
    return target.stack_budget + round_up(program.task.result_bytes, 256) + more


# Bytes of stack that an op has beside its operands.
OWN: Stage[int] = Stage("stack budget")


@OWN.on(p.Attention)
def _more_products(op: p.Attention) -> int:
    capped = 0 if op.cap is None else CAPPED_STACK
    relative = 0 if op.relative_keys is None and op.relative_queries is None else RELATIVE_ROWS_STACK
    window = 0 if op.window is None else WINDOW_STACK
    return capped + relative + window + (GLOBAL_ROWS_STACK if op.global_rows else 0)


@OWN.on(p.Gru)
def _recurrent(op: p.Gru) -> int:
    return RECURRENT_STACK


@OWN.on(p.WordWeights)
def _product_within(op: p.WordWeights) -> int:
    return WORD_WEIGHTS_STACK


@OWN.on(p.ExpertLinear)
def _linears_within(op: p.ExpertLinear) -> int:
    return EXPERTS_STACK


@OWN.on(*(p.EmbeddingSum, p.Norm, p.Quantize, p.Linear, p.Multiply, p.Add, p.CausalConvolution, p.Rotary))
@OWN.on(*(p.PackKeys, p.PackKeyRows, p.PackValues, p.Pool, p.Masked, p.Best, p.Normalize, p.Softmax, p.Cap))
@OWN.on(p.PackRows, p.CenteredConvolution, p.DynamicConvolution, p.FourierRows, p.Upsample, p.Copy)
@OWN.on(p.GroupRows, p.FirstRow, p.SpreadRows, p.RowOfToken, p.DeltaRule, p.StateSpace)
@OWN.on(p.Xielu, p.EmbeddingMean, p.ChooseExperts, p.SelectRows, p.MixExperts)
def _none(op: p.Op) -> int:
    return 0
