# SPDX-License-Identifier: Apache-2.0
"""Which linears read the rows of which norms: by what the norms divide a channel, the linears can multiply it.

A linear inside layers reads what several norms write: that of the layer before, in the first layer one outside. A norm
may write for several linears. Rows that are pooled, and those at masks, are still rows of the norm.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from . import graph as g
from .derived import Derived
from .op import reads, writes
from .parameter import Array
from .products import tied_tables

Stored = tuple[str, int]  # an array of a parameter, by the parameter's name
Exponents = Mapping[Stored, NDArray[np.int64]]  # by channel

Thing = TypeVar("Thing", bound=Hashable)


@dataclass(frozen=True)
class Normed:
    """Norms and the linears that read their rows, which read nothing else."""

    norms: tuple[str, ...]  # gammas
    linears: tuple[str, ...]  # weights
    channels: tuple[tuple[Stored, ...], ...]  # gammas and weights that have to have the same factors
    passed: frozenset[str]  # values of pooled rows, and of rows at masks, that linears read
    stay: frozenset[str]  # those of the norms whose rows something else reads, too


def normed_of(graph: g.Graph) -> list[Normed]:
    """In the order in which they run."""
    tied = tied_tables(graph)
    passed = _passed(graph, tied)
    writer: dict[str, Stored | None] = {}  # of a value: the gamma, where it is a norm
    pairs: list[tuple[Stored, Stored]] = []
    stay: set[str] = set()
    mixed: set[str] = set()
    for op, layer in g.runs_of(graph):
        others: Sequence[str] = reads(op)
        if isinstance(op, g.Linear) and not _moves(op, tied):
            mixed.add(op.weight.name)
        elif isinstance(op, g.Linear):
            others = () if op.residual is None else (op.residual,)
            norm, linear = writer[op.input], (op.weight.name, op.weight.index(layer))
            if norm is None:
                mixed.add(linear[0])
            else:
                pairs.append((norm, linear))
        if isinstance(op, g.Pool | g.Masked) and op.out in passed:
            writer[op.out] = writer[op.input]
            continue
        stay |= {norm[0] for value in others if (norm := writer[value]) is not None}
        writer |= dict.fromkeys(writes(op))
        if isinstance(op, g.Norm) and op.heads == 1:
            writer[op.out] = op.gamma.name, op.gamma.index(layer)
    stay |= {norm[0] for head in graph.heads if (norm := writer[head.value]) is not None}
    channels = _together(pairs)
    found = []
    for names in _together((norm[0], linear[0]) for norm, linear in pairs):
        if mixed.isdisjoint(names):
            norms = tuple(dict.fromkeys(norm for (norm, _), _ in pairs if norm in names))
            linears = tuple(name for name in names if name not in norms)
            own = tuple(tuple(each) for each in channels if each[0][0] in names)
            found.append(Normed(norms, linears, own, passed, frozenset(stay.intersection(norms))))
    return found


def with_factors(graph: g.Graph, normed: Iterable[Normed], exponents: Exponents) -> g.Graph:
    """The graph whose norms divide each channel by 2 ^ exponent and whose linears multiply it by that.

    Where something else reads the rows, too, they stay, and a second norm writes those that the linears read. Powers
    of two change no bit of what is computed in float.
    """
    changes = _Changes(graph, normed, exponents)
    body, repeat = (tuple(new for node in nodes for new in changes.node(node)) for nodes in (graph.body, graph.repeat))
    widths = graph.widths | {_second(value): graph.widths[value] for value in changes.doubled}
    return replace(graph, body=body, repeat=repeat, widths=widths)


class _Changes:
    def __init__(self, graph: g.Graph, normed: Iterable[Normed], exponents: Exponents) -> None:
        self._of = {name: each for each in normed for name in (*each.norms, *each.linears)}
        self._exponents = exponents
        self._parameters: dict[str, g.Parameter] = {}  # one that several ops have stays one
        self._passed: dict[str, Normed] = {}
        for op, _ in g.ops_of(graph):
            if isinstance(op, g.Linear) and (own := self._of.get(op.weight.name)) and op.input in own.passed:
                self._passed[op.input] = own
        self.doubled: set[str] = set()

    def node(self, node: g.Node) -> tuple[g.Node, ...]:
        if isinstance(node, g.Layers):
            return (replace(node, body=tuple(new for op in node.body for new in self._op(op))),)
        return self._op(node)

    def _op(self, op: g.Op) -> tuple[g.Op, ...]:
        if isinstance(op, g.Norm) and (own := self._of.get(op.gamma.name)):
            return self._norm(op, own)
        if isinstance(op, g.Linear) and (own := self._of.get(op.weight.name)):
            read = op.input if op.input in self._passed else self._rows(op.input, own)
            return (replace(op, weight=self._scaled(op.weight, op.weight.name, op.weight, 1), input=read),)
        if isinstance(op, g.Pool | g.Masked) and (own := self._passed.get(op.out)):
            return (replace(op, input=self._rows(op.input, own)),)
        return (op,)

    def _norm(self, op: g.Norm, own: Normed) -> tuple[g.Op, ...]:
        of = _second if own.stay else str
        beta = None if op.beta is None else self._scaled(op.beta, of(op.beta.name), op.gamma, -1)
        gamma = self._scaled(op.gamma, of(op.gamma.name), op.gamma, -1)
        out = self._rows(op.out, own)
        changed = replace(op, name=of(op.name), gamma=gamma, beta=beta, out=out)
        # Before the other one, which may write where it reads.
        return (changed, op) if op.gamma.name in own.stay else (changed,)

    def _rows(self, value: str, own: Normed) -> str:
        """The value that has the rows for the linears."""
        if not own.stay:
            return value
        self.doubled.add(value)
        return _second(value)

    def _scaled(self, parameter: g.Parameter, name: str, of: g.Parameter, sign: int) -> g.Parameter:
        """Each array times 2 ^ (sign * exponent), that of the array of `of` at the same place."""
        if name not in self._parameters:
            exponents = [self._exponents.get((of.name, index)) for index in range(len(of.arrays))]
            arrays = tuple(
                array if powers is None else _scaled(array, sign * powers)
                for array, powers in zip(parameter.arrays, exponents, strict=True)
            )
            self._parameters[name] = replace(parameter, name=name, arrays=arrays)
        return self._parameters[name]


def _scaled(array: Array, powers: NDArray[np.int64]) -> Array:
    """A tensor times powers of two along its last axis."""
    return Derived(array, lambda values: np.ldexp(values, powers))


def _moves(op: g.Linear, tied: frozenset[str]) -> bool:
    """Whether its inputs are quantized, and its weights its own."""
    return not op.exact and op.weight.name not in tied


def _passed(graph: g.Graph, tied: frozenset[str]) -> frozenset[str]:
    """What pooling and masks make that such linears read, and nobody else."""
    pooled = {op.out for op, _ in g.ops_of(graph) if isinstance(op, g.Masked)}
    pooled |= {op.out for op, _ in g.ops_of(graph) if isinstance(op, g.Pool) and not op.beside}
    read = {head.value for head in graph.heads}  # otherwise
    inputs: set[str] = set()
    for op, _ in g.ops_of(graph):
        if isinstance(op, g.Linear) and _moves(op, tied):
            inputs.add(op.input)
            read |= set() if op.residual is None else {op.residual}
        else:
            read |= set(reads(op))
    return frozenset(pooled & inputs - read)


def _second(name: str) -> str:
    return f"{name}_smooth"


def _together(pairs: Iterable[tuple[Thing, Thing]]) -> list[list[Thing]]:
    """What pairs connect, each once."""
    groups: dict[Thing, list[Thing]] = {}
    for first, second in pairs:
        one, other = groups.setdefault(first, [first]), groups.setdefault(second, [second])
        if one is not other:
            one += other
            groups |= dict.fromkeys(other, one)
    return list({id(group): group for group in groups.values()}.values())
