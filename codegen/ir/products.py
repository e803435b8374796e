# SPDX-License-Identifier: Apache-2.0
"""What of a graph has the weights of a linear, and which tables are both these and looked up."""

from __future__ import annotations

from collections.abc import Iterator

from .experts import ExpertLinear, Experts
from .fourier_rows import FourierRows
from .graph import (
    Add,
    Attention,
    Best,
    Cap,
    CausalConvolution,
    CenteredConvolution,
    DeltaRule,
    DynamicConvolution,
    Embed,
    Graph,
    Gru,
    Layers,
    Linear,
    Masked,
    Multiply,
    Norm,
    Normalize,
    Op,
    Pool,
    Recurrence,
    Rotary,
    Softmax,
    StateSpace,
    Term,
    WordWeights,
    Xielu,
    ops_of,
)
from .op import parts_of
from .row_groups import FirstRow, GroupRows, RowOfToken, SpreadRows
from .row_pooling import Copy, PoolRows, Upsample
from .stage import Stage

Product = Linear | Best | WordWeights | Recurrence | ExpertLinear

# The products with weights that an op has.
PRODUCTS: Stage[tuple[Product, ...]] = Stage("products")


@PRODUCTS.on(Linear, Best, WordWeights)
def _itself(op: Linear | Best | WordWeights) -> tuple[Product, ...]:
    return (op,)


@PRODUCTS.on(Gru)
def _directions(op: Gru) -> tuple[Product, ...]:
    return op.directions


@PRODUCTS.on(Experts)
def _of_experts(op: Experts) -> tuple[Product, ...]:
    return op.linears


@PRODUCTS.on(CausalConvolution, CenteredConvolution, DynamicConvolution, FourierRows, PoolRows, Upsample, Copy)
@PRODUCTS.on(GroupRows, FirstRow, SpreadRows, RowOfToken, DeltaRule, StateSpace)
@PRODUCTS.on(Embed, Norm, Multiply, Add, Xielu, Rotary, Attention, Pool, Masked, Normalize, Softmax, Cap)
def _none(op: Op) -> tuple[Product, ...]:
    return ()


def products_of(graph: Graph) -> Iterator[tuple[Product, Layers | None]]:
    """Every product with weights once, with the layers that it is in."""
    for op, layers in ops_of(graph):
        yield from ((product, layers) for product in PRODUCTS(op))


def terms_of(graph: Graph) -> Iterator[Term]:
    """Every table that is looked up, once for each sum that has it."""
    for op, _ in ops_of(graph):
        yield from (part for part in parts_of(op) if isinstance(part, Term))


def tied_tables(graph: Graph) -> frozenset[str]:
    """The names of the embedding tables that are also the weights of a product: one parameter, stored once."""
    tables = {term.table.name for term in terms_of(graph)}
    return frozenset(product.weight.name for product, _ in products_of(graph) if product.weight.name in tables)
