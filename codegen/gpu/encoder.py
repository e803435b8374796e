# SPDX-License-Identifier: Apache-2.0
"""The parts of the encoders that GPUs run, found by the order of a program's ops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from ..errors import EtchError
from ..ir import program as p
from .difference import described

_Step = TypeVar("_Step", bound=p.Step)


@dataclass(frozen=True)
class Encoder:
    """The ops of a program by what they are there."""

    embedding: p.EmbeddingSum
    embedding_norm: p.Norm
    loop: p.Loop
    key: p.Linear
    value: p.Linear
    query: p.Linear
    attention: p.Attention
    attention_output: p.Linear
    attention_norm: p.Norm
    intermediate: p.Linear
    output: p.Linear
    output_norm: p.Norm
    pool: p.Pool | None
    normalize: bool
    linears: tuple[p.Linear, ...]  # of the head where nothing is pooled: one with an activation, then one in f32

    @property
    def first_rows(self) -> bool:
        """Whether the last layer computes the first row of each text only; the pooling wants rows where they lay."""
        return self.pool is None


def refusal(what: str) -> EtchError:
    """EtchError for a program that is no such encoder."""
    return EtchError("gpu-not-supported", "gpu", f"GPUs run one form of encoder only, and here is another: {what}")


def find_encoder(program: p.Program) -> Encoder:
    """Each op where an encoder has one of its kind; nothing else of it is looked at. EtchError where one is missing."""
    ops = _Ops(program.steps)
    embedding = ops.take(p.EmbeddingSum, "the embedding")
    embedding_norm = ops.take(p.Norm, "the norm of the embedding")
    loop = ops.take(p.Loop, "the layers")
    layer = _Ops(op for blocks in loop.body for op in blocks.body)
    key = layer.take(p.Linear, "the keys")
    value = layer.take(p.Linear, "the values")
    query = layer.take(p.Linear, "the queries")
    attention = layer.take(p.Attention, "the attention")
    attention_output = layer.take(p.Linear, "the linear behind the attention")
    attention_norm = layer.take(p.Norm, "the norm behind it")
    intermediate = layer.take(p.Linear, "the first linear of the feed-forward part")
    output = layer.take(p.Linear, "its second linear")
    output_norm = layer.take(p.Norm, "the norm at the end of a layer")
    layer.end("the layer")
    head = _Ops(ops.take(p.Repeat, "the head").body)
    ops.end("the head")
    pool = head.take(p.Pool, "the pooling") if head.next_is(p.Pool) else None
    if pool is not None and pool.out.width != pool.input.width:
        raise refusal("a pooling of the first columns alone")
    normalize = pool is not None and head.next_is(p.Normalize)
    linears: tuple[p.Linear, ...] = ()
    if pool is None:
        linears = (
            head.take(p.Linear, "the pooling, or the first of two linears"),
            head.take(p.Linear, "the last linear"),
        )
    elif normalize:
        head.take(p.Normalize, "the normalization")
    head.end("the head")
    return Encoder(
        embedding=embedding,
        embedding_norm=embedding_norm,
        loop=loop,
        key=key,
        value=value,
        query=query,
        attention=attention,
        attention_output=attention_output,
        attention_norm=attention_norm,
        intermediate=intermediate,
        output=output,
        output_norm=output_norm,
        pool=pool,
        normalize=normalize,
        linears=linears,
    )


class _Ops:
    """Ops one after the other, but for those that only bring rows into another form."""

    def __init__(self, steps: Iterable[p.Step]) -> None:
        forms = p.Quantize | p.PackKeys | p.PackValues
        self._left = [step for step in steps if not isinstance(step, forms)]

    def next_is(self, kind: type[p.Step]) -> bool:
        return bool(self._left) and isinstance(self._left[0], kind)

    def take(self, kind: type[_Step], part: str) -> _Step:
        """The next op, which must be of this kind. EtchError where it is not."""
        op = self._left.pop(0) if self._left else None
        if not isinstance(op, kind):
            raise refusal(f"{'nothing' if op is None else described(op)} in the place of {part} ({kind.__name__})")
        return op

    def end(self, part: str) -> None:
        """EtchError where an op is left behind a part."""
        if self._left:
            raise refusal(f"{described(self._left[0])} behind {part}")
