# SPDX-License-Identifier: Apache-2.0
"""Whether the sums of products of bytes are exact: int32 holds as many products as the arithmetic contract says.

Floats have no such limit, so this is asked of a program, whose ops say what they multiply.
"""

from __future__ import annotations

from typing import NoReturn

from ..errors import EtchError
from . import program as p
from .walks import ops_of

MOST_PRODUCTS = 65_536  # in a sum


def check_sums(program: p.Program) -> None:
    """EtchError (stage check) where a linear has more inputs, or a text more keys, than a sum holds products."""
    written = program.target.steps(program.max_tokens) if program.target is not None else 0
    keys = max(program.max_tokens, written)
    for op in ops_of(program):
        if isinstance(op, p.Linear | p.Best) and op.kind == "s8" and op.input.width > MOST_PRODUCTS:
            _refuse_width(op.input.width)
        if isinstance(op, p.Gru) and op.kind == "s8" and op.width > MOST_PRODUCTS:
            _refuse_width(op.width)
        if isinstance(op, p.Attention) and op.kind == "s8" and keys > MOST_PRODUCTS:
            message = f"{keys:,} tokens: attention of bytes adds up at most {MOST_PRODUCTS:,}; lower --max-tokens"
            raise EtchError("max-tokens-out-of-range", "check", message)


def _refuse_width(inputs: int) -> NoReturn:
    message = f"a linear of {inputs:,} inputs: products of bytes are added up to {MOST_PRODUCTS:,}; --recipe fp32"
    raise EtchError("width-not-supported", "check", message)
