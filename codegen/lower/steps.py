# SPDX-License-Identifier: Apache-2.0
"""The steps of a program from the nodes of a graph.

Ops on the rows of tokens come first, those on one row per text last: the head, which runs for one text after the
other. Where only the first row of a value is asked for behind the layers, the ops on it belong to the head, and the row
is used where it lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ..errors import EtchError
from ..ir import graph as g
from ..ir import program as p
from ..ir.check_graph import check_graph, rows_of
from ..ir.check_program import check_program
from ..ir.check_sums import check_sums
from ..ir.op import by_layer, carried, earlier_reads, packed_reads, reads, row_reads, whole_reads, writes
from ..ir.products import products_of, tied_tables
from ..ir.row_pooling import RowPooling
from ..ir.stage import Stage
from ..process import progress
from ..quantize.bounds import check_bounds
from ..quantize.recipe import Recipe
from . import experts, recurrences  # noqa: F401 - their entries
from .averaged import averaged
from .demand import NodeDemand, Rows, demand, is_row_by_row
from .ops import LOWER, PACK
from .place import PROJECTION, Place
from .repeating import repeating, without_repeats
from .schedule import crossing, stages_of

_MAY_DIFFER = {(g.Attention, "mask"), (g.Attention, "window"), (g.Rotary, "table")}  # by layer


def lower(graph: g.Graph, recipe: Recipe) -> p.Program:
    """The program of a graph. EtchError where the graph is not sound or its weights cannot be represented."""
    check_graph(graph)
    _check_alike(graph)
    check_bounds(graph)
    recipe.check(graph)
    tokens, head = _split(graph)
    without_rows = averaged(graph)
    tokens = [(node, asked) for node, asked in tokens if not any(node is embed for embed in without_rows.values())]
    sections = _sections(tokens)
    lowering = _Lowering(graph, recipe, sections, head)
    tensors = {array.name for op, _ in products_of(graph) for array in op.weight.arrays}
    with progress.stage("quantize", "tensor", len(tensors)):
        steps: list[p.Step] = [step for section in sections for step in lowering.section(section)]
        steps += lowering.head() if graph.target_rules is None else lowering.generation()
    program = p.Program(
        recipe=recipe.name,
        steps=tuple(steps),
        outputs=tuple(p.Output(each.task, lowering.row(each.value), each.name) for each in graph.heads),
        vocabulary=graph.vocabulary,
        segments=graph.segments,
        max_tokens=graph.max_tokens,
        target_rules=graph.target_rules,
    )
    check_program(program)
    check_sums(program)
    return program


def _check_alike(graph: g.Graph) -> None:
    """EtchError where an attribute differs by layer that the generated loop has one value of."""
    for op, layers in g.ops_of(graph):
        for name in by_layer(op):
            if layers is None or (type(op), name) not in _MAY_DIFFER:
                where = "no layer" if layers is None else layers.name
                message = f"{type(op).__name__} of {where}: '{name}' differs by layer, one value for all is supported"
                raise EtchError("attribute-by-layer", "lower", message)


_Demanded = tuple[g.Node, NodeDemand]


def _split(graph: g.Graph) -> tuple[list[_Demanded], list[g.Op]]:
    """Nodes that compute rows of tokens, and ops of the head."""
    kinds = rows_of(graph)
    last_layers = max((i for i, node in enumerate(graph.body) if isinstance(node, g.Layers)), default=-1)
    tokens: list[_Demanded] = []
    head: list[g.Op] = []
    wanted: set[str] = set()  # values that the head reads as they are now
    for index, (node, asked) in enumerate(zip(graph.body, demand(graph), strict=True)):
        if isinstance(node, g.Layers):
            written = set(chain.from_iterable(map(writes, node.body)))
        else:
            written = set(writes(node))
            of_text = all(kinds[value] != "tokens" for value in written)
            first_row = index > last_layers and max(asked.runs) is Rows.FIRST and is_row_by_row(node)
            if of_text or first_row:
                head.append(node)
                wanted |= set(reads(node)) | written
                continue
        if wanted & written:
            value = min(wanted & written)
            raise EtchError("value-overwritten", "lower", f"'{value}' is read for each text, and written again later")
        tokens.append((node, asked))
    return tokens, head


# Whether an op between the layers goes over all rows at once, by itself; `together` where those before it share blocks.
AT_ONCE: Stage[bool] = Stage("lower")


@AT_ONCE.on(g.Embed, g.Gru, g.Upsample, g.Copy)
def _always(op: g.Op, together: bool) -> bool:
    return True


@AT_ONCE.on(g.Norm)
def _not_among_others(op: g.Norm, together: bool) -> bool:
    return not together


@AT_ONCE.on(g.Linear, g.Multiply, g.Add, g.CausalConvolution, g.Rotary, g.Attention, g.Pool, g.Masked, g.Best)
@AT_ONCE.on(g.CenteredConvolution, g.DynamicConvolution, g.FourierRows, g.PoolRows, g.DeltaRule, g.StateSpace)
@AT_ONCE.on(g.GroupRows, g.FirstRow, g.SpreadRows, g.RowOfToken)
@AT_ONCE.on(g.Xielu, g.Experts, g.WordWeights, g.Normalize, g.Softmax, g.Cap)
def _never(op: g.Op, together: bool) -> bool:
    return False


# The value whose first row an op of the head only hands on; None where it computes one.
HANDS_ON: Stage[str | None] = Stage("lower")


@HANDS_ON.on(g.Pool)
def _first_row(op: g.Pool) -> str | None:
    return op.input if op.only_first else None


@HANDS_ON.on(*(g.Embed, g.Norm, g.Linear, g.Multiply, g.Add, g.CausalConvolution, g.Rotary, g.Attention, g.Gru))
@HANDS_ON.on(g.CenteredConvolution, g.DynamicConvolution, g.FourierRows, g.PoolRows, g.Upsample, g.Copy)
@HANDS_ON.on(g.GroupRows, g.FirstRow, g.SpreadRows, g.RowOfToken, g.DeltaRule, g.StateSpace)
@HANDS_ON.on(g.Xielu, g.Experts, g.Masked, g.Best, g.WordWeights, g.Normalize, g.Softmax, g.Cap)
def _computes(op: g.Op) -> None:
    return None


def _sections(nodes: Sequence[_Demanded]) -> list[list[_Demanded]]:
    """Layers alone; of what lies between them ops that go over all rows at once alone, the others together."""
    sections: list[list[_Demanded]] = []
    together = False
    for node, asked in nodes:
        alone = isinstance(node, g.Layers) or AT_ONCE(node, together)
        if together and not alone:
            sections[-1].append((node, asked))
        else:
            sections.append([(node, asked)])
        together = not alone
    return sections


class _Lowering:
    def __init__(
        self, graph: g.Graph, recipe: Recipe, sections: Sequence[Sequence[_Demanded]], head: Sequence[g.Op]
    ) -> None:
        self._graph = graph
        self._recipe = recipe
        self._head = head
        bodies = [[op for node, _ in section for op in g.ops_in(node)] for section in sections]
        bodies += [list(head), [op for node in graph.repeat for op in g.ops_in(node)]]
        touched = [{value for op in body for value in _touched(op)} for body in bodies]
        # What more than one of them touches and one has a row per token of, or is a result, has that everywhere.
        results = {head.value for head in graph.heads}
        several = {value for value in set().union(*touched) if sum(value in of_one for of_one in touched) > 1}
        self._shared = several & set().union(*touched[-2:], *(_long(body) for body in bodies[:-2])) | results
        self._rows = rows_of(graph)
        self._aliases = self._in_place()
        self._slots: dict[str, p.WeightSlot] = {}
        self._tied = tied_tables(graph)
        self._averaged = averaged(graph)
        self._level = 0  # of the rows of tokens, as far as the sections have come
        self._rates = _rates_of(graph)

    def section(self, nodes: list[_Demanded]) -> list[p.Step]:
        """The steps of layers, of one op, or of ops that share blocks."""
        node, asked = nodes[0]
        if isinstance(node, g.Layers):
            last = asked.runs[-len(node.body) :]
            self._level += any(isinstance(op, g.PoolRows) for op in node.body)
            return [p.Loop(node.name, node.count, self._blocks(node.body, last, asked.after), self._level)]
        ops = [op for op, _ in nodes if not isinstance(op, g.Layers)]
        self._level = _level_behind(ops, self._level)
        if len(ops) == 1 and AT_ONCE(node, False):
            buffers = {value: self._tokens(value) for value in _touched(node)}
            place = Place(self._graph, self._recipe, buffers, "tokens", self._slots, self._tied)
            return list(LOWER(node, place))
        return [replace(blocks, level=self._level) for blocks in self._blocks(ops, [Rows.ALL] * len(ops), {})]

    def head(self) -> list[p.Step]:
        """What runs for each text, and what for blocks of its masks."""
        of_masks = [op for op in self._head if self._rows[writes(op)[0]] == "masks"]
        of_text = [op for op in self._head if op not in of_masks]
        lowered = self._for_each(of_text, "one")
        # Every row of every text as bytes, where an op of the head multiplies them all.
        whole = [op for op in lowered if isinstance(op, p.Quantize) and op.out.rows == "tokens"]
        for_each = tuple(op for op in lowered if op not in whole)
        steps: list[p.Step] = [*whole, *([p.Repeat("texts", for_each)] if of_text or not of_masks else [])]
        return [*steps, *([p.Repeat("masks", self._for_each(of_masks, "masks"))] if of_masks else [])]

    def _for_each(self, ops: Sequence[g.Op], rows: p.Rows) -> tuple[p.Op, ...]:
        buffers = {value: self.row(value) for op in ops for value in _touched(op)}
        place = Place(self._graph, self._recipe, buffers, rows, self._slots, self._tied, averaged=self._averaged)
        return without_repeats([op for node in ops for op in LOWER(node, place)])

    def generation(self) -> list[p.Step]:
        """What is packed once, and the steps."""
        if self._head:
            message = "one row per text beside a text that is written is not supported"
            raise EtchError("generation-not-supported", "lower", message)
        return list(repeating(self._graph, self._recipe, self._slots, self._tied))

    def row(self, value: str) -> p.Buffer:
        """Of a value in the head: the text's own row, or the first of its rows; rows of a block of its masks, or those
        of all of them where they are a result."""
        value = self._aliases.get(value, value)
        if self._rows[value] == "masks":
            kept = value in {head.value for head in self._graph.heads}
            return self._tokens(value) if kept else p.Buffer(value, "f32", "masks", self._graph.widths[value])
        made_by_head = any(value in writes(op) and value not in reads(op) for op in self._head)
        if made_by_head or self._rows[value] != "tokens":
            return p.Buffer(value, "f32", "one", self._graph.widths[value])
        return self._tokens(value)

    def _tokens(self, value: str) -> p.Buffer:
        return p.Buffer(value, "f32", "tokens", self._graph.widths[value], rate=self._rates.get(value, 1))

    def _in_place(self) -> dict[str, str]:
        """First rows that are used where they lie: results are not, nor rows that somebody writes to."""
        results = {head.value for head in self._graph.heads}
        written = [value for op in self._head for value in writes(op)]
        aliases: dict[str, str] = {}
        for index, op in enumerate(self._head):
            source, out = HANDS_ON(op), writes(op)[0]
            if source is None or out in results or written.count(out) > 1:
                continue
            if not any(source in writes(later) for later in self._head[index + 1 :]):
                aliases[out] = source
        return aliases

    def _blocks(self, body: Sequence[g.Op], last: Sequence[Rows], after: Mapping[str, Rows]) -> tuple[p.Blocks, ...]:
        """One `Blocks` for each stage of a body."""
        stages = stages_of(body)
        inside = {value for op in body for value in _touched(op)}
        long = (_long(body) | self._shared) & inside
        order = [_in_order(body, stages, stage) for stage in range(max(stages) + 1)]
        buffers = {value: self._tokens(value) if value in long else self._block(value) for value in inside}
        buffers |= self._projections(order, inside - long)
        place = Place(self._graph, self._recipe, buffers, "block", self._slots, self._tied)
        found: list[p.Blocks] = []
        first_only = True
        for stage in reversed(range(len(order))):
            lowered = [op for step in order[stage] for op in _lowered(step, place)]
            of_stage = [rows for rows, at in zip(last, stages, strict=True) if at == stage]
            touched = {value for op, at in zip(body, stages, strict=True) if at == stage for value in _touched(op)}
            kept = any(after.get(value, Rows.NONE) is Rows.ALL for value in touched & long)
            first_only = first_only and max(of_stage, default=Rows.ALL) is Rows.FIRST and not kept
            found.append(p.Blocks(without_repeats(lowered), first_only, _pooling(body, stages, stage)))
        return tuple(reversed(found))

    def _block(self, value: str) -> p.Buffer:
        return p.Buffer(value, "f32", "block", self._graph.widths[value])

    def _projections(self, order: Sequence[Sequence[_Step]], inside: set[str]) -> dict[str, p.Buffer]:
        """Values that are only packed share one buffer, where no two of them are there at the same time."""
        packed = {value for steps in order for step in steps if isinstance(step, tuple) for value in (step[1],)}
        read = {value for steps in order for step in steps if not isinstance(step, tuple) for value in _unpacked(step)}
        only = sorted((packed & inside) - read)
        if len({self._graph.widths[value] for value in only}) > 1 or not _take_turns(order, set(only)):
            return {}
        return {value: p.Buffer(PROJECTION, "f32", "block", self._graph.widths[value]) for value in only}


def _pooling(body: Sequence[g.Op], stages: Sequence[int], stage: int) -> RowPooling | None:
    """What the rows of a stage go through before it: before all its ops. Those of stages before it have read them."""
    ops = [op for op, at in zip(body, stages, strict=True) if at == stage]
    pooled = next((index for index, op in enumerate(ops) if isinstance(op, g.PoolRows)), None)
    if pooled is None:
        return None
    first = ops[0]
    if pooled or not isinstance(first, g.PoolRows):
        raise EtchError("attention-not-supported", "lower", "rows are read in the stage that pools them")
    return first.pooling


def _rates_of(graph: g.Graph) -> dict[str, int]:
    """Of values that have rows of groups and at no time others: of how many tokens these are."""
    ops = [op for op, _ in g.ops_of(graph)]
    begin, end = (
        next((index for index, op in enumerate(ops) if isinstance(op, kind)), len(ops))
        for kind in (g.GroupRows, g.SpreadRows)
    )
    grouped = {op.value for op in ops if isinstance(op, g.FirstRow)}
    others = {value for op in (*ops[:begin], *ops[end:]) for value in writes(op)}
    rates = [op.rate for op in ops if isinstance(op, g.GroupRows)]
    return dict.fromkeys(grouped - others, rates[0]) if len(rates) == 1 else {}


def _level_behind(ops: Sequence[g.Op], level: int) -> int:
    """Of the rows of a section, of which only the first op may go to another level than the one before has."""
    of_first: dict[type, int] = {g.GroupRows: 1, g.SpreadRows: 0, g.Upsample: 0}
    if any(type(op) in of_first for op in ops[1:]):
        raise EtchError("attention-not-supported", "lower", "rows go to another level behind ops of this one")
    return of_first.get(type(ops[0]), level)


def _long(body: Sequence[g.Op]) -> set[str]:
    """The values of a section that need a row per token: what one block of rows has for another stage or block."""
    if len(body) == 1 and AT_ONCE(body[0], False):
        return set(_touched(body[0]))
    earlier = {value for op in body for value in (*earlier_reads(op), *whole_reads(op))}
    return carried(body) | crossing(body, stages_of(body)) | earlier


_Step = g.Op | tuple[g.Op, str]  # an op, or a value to pack for one


def _lowered(step: _Step, place: Place) -> list[p.Op]:
    return PACK(*step, place) if isinstance(step, tuple) else LOWER(step, place)


def _in_order(body: Sequence[g.Op], stages: Sequence[int], stage: int) -> list[_Step]:
    """The ops of a stage, each value packed as soon as it is final."""
    steps: list[_Step] = []
    for index, op in enumerate(body):
        if stages[index] == stage + 1:
            steps += [(op, value) for value in packed_reads(op) if _writer(body[:index], value) is None]
    for index, op in enumerate(body):
        if stages[index] != stage:
            continue
        steps.append(op)
        for later, attention in enumerate(body):
            values = packed_reads(attention)
            steps += [(attention, value) for value in values if _writer(body[:later], value) == index]
    return steps


def _writer(body: Sequence[g.Op], value: str) -> int | None:
    """Which op of `body` wrote a value last."""
    return next((index for index in reversed(range(len(body))) if value in writes(body[index])), None)


def _take_turns(order: Sequence[Sequence[_Step]], values: set[str]) -> bool:
    """Whether each of the values is packed before the next is made."""
    for steps in order:
        waiting: str | None = None
        for step in steps:
            if isinstance(step, tuple):
                waiting = None if step[1] == waiting else waiting
                continue
            made = set(writes(step)) & values
            if made and waiting is not None and made != {waiting}:
                return False
            waiting = next(iter(made), waiting)
    return True


def _unpacked(op: g.Op) -> set[str]:
    """What an op reads as rows. What it updates counts as written."""
    return set(row_reads(op)) - set(writes(op))


def _touched(node: g.Node) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for op in g.ops_in(node) for value in (*reads(op), *writes(op))))
