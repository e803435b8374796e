# SPDX-License-Identifier: Apache-2.0
"""How much stack a call of a generated model may use."""

from __future__ import annotations

from .ir import program as p
from .targets import Target, round_up

MANY_OPS = 32  # compilers let few operands of so many share their bytes
MANY_OPS_STACK = 512
RELATIVE_ROWS_STACK = 256  # an attention that multiplies by them, too
RECURRENT_STACK = 512  # a GRU goes through linears inside of its own op


def stack_budget(target: Target, program: p.Program, tokenizer: int) -> int:
    """Bytes of stack that a call may use: the target's, a Result in self_test(), operands that have no room there
    where a program has many ops or products within one, and what the `tokenizer` takes more than others."""
    ops = p.ops_of(program)
    many = MANY_OPS_STACK if len(ops) > MANY_OPS else 0
    relative = any(isinstance(op, p.Attention) and op.relative_rows is not None for op in ops)
    recurrent = any(isinstance(op, p.Gru) for op in ops)
    more = many + (RELATIVE_ROWS_STACK if relative else 0) + (RECURRENT_STACK if recurrent else 0) + tokenizer
    return target.stack_budget + round_up(program.task.result_bytes, 256) + more
