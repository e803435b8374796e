# SPDX-License-Identifier: Apache-2.0
"""Whether a graph is sound: what is read is there, each op has what it needs, every value has a use.

A front-end that passes a wrong graph on would end in wrong code that the emulator, which executes the same program,
agrees with. So everything that an op needs is asked here, by name.
"""

from __future__ import annotations

from . import check_fourier, check_ops, check_recurrences, check_row_groups  # noqa: F401 - their entries
from . import graph as g
from .check_state import CHECK, IN_WORDS, Check, RowKind
from .check_target_rules import check_target_rules
from .check_uses import check_tied, check_uses
from .op import by_layer, reads, slots
from .unsound import unsound


def check_graph(graph: g.Graph) -> None:
    """EtchError (stage check) where something does not fit."""
    check_target_rules(graph)
    _walk(graph)
    check_uses(graph)
    names: dict[str, g.Parameter] = {}
    for parameter in g.parameters_of(graph):
        if names.setdefault(parameter.name, parameter) is not parameter:
            raise unsound(f"two weights are called '{parameter.name}'")
    check_tied(graph)


def rows_of(graph: g.Graph) -> dict[str, RowKind]:
    """Whether a value has a row per token, per step, or one per text."""
    return _walk(graph).rows


def _walk(graph: g.Graph) -> Check:
    check = Check(graph)
    for kind, node in ((phase.kind, node) for phase in graph.phases for node in phase.body):
        check.target_rules = graph.target_rules if kind == "repeat" else None
        layers = node if isinstance(node, g.Layers) else None
        if layers is not None and (layers.count < 1 or not layers.body):
            raise unsound(f"{layers.name}: {layers.count} layers of {len(layers.body)} ops")
        before = dict(check.rows)
        for layer in range(1 if layers is None else _distinct(layers)):
            check.layers, check.layer = layers, layer
            for op in (node,) if not isinstance(node, g.Layers) else node.body:
                _check_op(g.at_layer(op, layer), check)
        if layers is not None:
            _check_carried(layers, before, check.rows)
    for head in graph.heads:
        if head.value not in check.rows:
            raise unsound(f"the result '{head.value}' is never computed")
        if check.rows[head.value] != head.task.rows:
            has, wants = (IN_WORDS[kind] for kind in (check.rows[head.value], head.task.rows))
            raise unsound(f"'{head.value}' has {has}: {head.task.name} takes {wants}")
        check.same(f"width of the result '{head.value}'", check.width(head.value), head.task.outputs)
    if not graph.heads:
        raise unsound("there is no result")
    return check


def _distinct(layers: g.Layers) -> int:
    """How many layers have to be looked at: two, as what one leaves the next one finds, or all where they differ."""
    varying = [value for op in layers.body for value in by_layer(op).values()]
    for value in varying:
        if len(value.values) != layers.count:
            raise unsound(f"{layers.name}: {len(value.values)} values by layer for {layers.count} layers")
    return layers.count if varying else min(layers.count, 2)


def _check_op(op: g.Op, check: Check) -> None:
    for value in reads(op):
        if value not in check.rows:
            raise unsound(f"{type(op).__name__} reads '{value}' before it is computed")
    for parameter in slots(op):
        _check_parameter(parameter, check)
    CHECK(op, check)


def _check_parameter(parameter: g.Parameter, check: Check) -> None:
    layers = check.layers
    stored = len(parameter.arrays)
    if layers is None or parameter.common:
        check.same(f"arrays of {parameter.name}", stored, 1)
        check.same(f"layers of {parameter.name}", parameter.of_layer, ())
    elif parameter.of_layer:
        check.same(f"layers of {parameter.name}", len(parameter.of_layer), layers.count)
        check.same(f"arrays of {parameter.name} in use", set(parameter.of_layer), set(range(stored)))
    else:
        check.same(f"arrays of {parameter.name}", stored, layers.count)
    for array in parameter.arrays[1:]:
        check.same(f"shape of {array.name}", array.shape, parameter.shape)


def _check_carried(layers: g.Layers, before: dict[str, RowKind], after: dict[str, RowKind]) -> None:
    for value, rows in before.items():
        if after[value] != rows:
            raise unsound(f"{layers.name}: '{value}' has a row per {after[value]} after a layer, before it per {rows}")
