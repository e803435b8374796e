# SPDX-License-Identifier: Apache-2.0
"""Several heads on one encoder: the folders that they come from, and the one graph of all.

`--head NAME=FOLDER` takes the head of each folder; the encoder there is checked to be that of the first folder, tensor
by tensor, and stored once. BERT's own pre-training checkpoint is two heads of one folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .errors import EtchError
from .frontends.task_heads import heads_of_tasks
from .ir import graph as g
from .ir.derived import Derived
from .ir.op import reads, slots, writes
from .ir.renamed import Renaming
from .load.bare_encoder import is_bare, with_pooling
from .load.checkpoint import Checkpoint
from .names import checked_name

MOST_HEADS = 16
PRE_TRAINING = "ForPreTraining"
# What the model's own namespace has beside its heads, and members of its results.
_TAKEN = frozenset(
    (
        *("analyze", "begin", "copy_tables", "count", "describe", "each_head", "encode", "encoding", "kernel", "label"),
        *("question_head", "result", "select_kernel", "step", "tables_copied", "tokens", "truncated", "usable_kernel"),
        "workspace",
    )
)
_BY_NAME = {"ForMaskedLM": "fill_mask", "ForNextSentencePrediction": "is_next"}  # of a pre-training checkpoint

Load = Callable[[Path], Checkpoint]


@dataclass(frozen=True)
class HeadFolder:
    """`--head NAME=FOLDER`."""

    name: str
    folder: Path


def parse_head(text: str) -> HeadFolder:
    """EtchError where it is none."""
    name, equals, folder = text.partition("=")
    if not equals or not folder:
        raise EtchError("head-value", "arguments", f"--head '{text}': expected NAME=FOLDER")
    return HeadFolder(checked_head(name), Path(folder))


def checked_head(name: str) -> str:
    """A name that a head can have: it becomes a namespace, a member and part of C's names."""
    if name in _TAKEN or name.startswith(("analyze_", "begin_", "encode_")):
        message = f"head name '{name}': every generated model has something of this name"
        raise EtchError("name-not-allowed", "arguments", message)
    return checked_name(name, "head", "--head NAME=FOLDER")


def check_beside(heads: Iterable[str], model: str, tables: Iterable[str]) -> None:
    """EtchError where a head has the name of the model that it is in, or of one of its tables: they share a
    namespace."""
    names = {name for table in tables for name in (table, f"{table}_source")}
    for head in heads:
        if head == model or head in names:
            what = "the model itself has this name" if head == model else "a table of this model has this name"
            raise EtchError("name-not-allowed", "arguments", f"head name '{head}': {what}")


def with_heads(folder: Path, heads: Sequence[HeadFolder], load: Load) -> Checkpoint:
    """The checkpoint of `folder` with the heads of these folders in the place of its own; without any, those of a
    checkpoint that has two by itself. EtchError where a name comes twice or a folder is none that could be loaded."""
    checkpoint = load(folder)
    if not heads:
        return _with_own_heads(checkpoint, lambda: load(folder))
    names = [head.name for head in heads]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise EtchError("head-twice", "arguments", f"--head {twice}: the name is there twice")
    if len(heads) > MOST_HEADS:
        raise EtchError("heads-many", "arguments", f"{len(heads)} heads: up to {MOST_HEADS} are supported")
    loaded = tuple((head.name, _of_head(head.name, partial(load, head.folder))) for head in heads)
    for name, other in loaded:
        _check_tokenizer(name, checkpoint, other)
    if is_bare(checkpoint):
        checkpoint = with_pooling(checkpoint, "mean")  # of no meaning: its head is not used
    elif own := _own_heads(checkpoint):
        checkpoint = _as_class(checkpoint, own[0])
    limits = {other.default_max_tokens: other.max_tokens_source for _, other in loaded}
    shortest = min(limits)
    if shortest < checkpoint.default_max_tokens:
        checkpoint = replace(checkpoint, default_max_tokens=shortest, max_tokens_source=limits[shortest])
    digests = " ".join([checkpoint.digest, *(f"{name} {other.digest}" for name, other in loaded)])
    return replace(
        checkpoint,
        heads=loaded,
        digest=hashlib.sha256(digests.encode()).hexdigest(),
        notes=checkpoint.notes + tuple(f"head {name}: {note}" for name, other in loaded for note in other.notes),
        asked_pooling=None,
    )


def _own_heads(checkpoint: Checkpoint) -> tuple[str, ...]:
    """The classes that a pre-training checkpoint's two heads have alone; none where it is another one."""
    for name in checkpoint.config.architectures:
        family = name.removesuffix(PRE_TRAINING)
        classes = tuple(family + ending for ending in _BY_NAME)
        if name.endswith(PRE_TRAINING) and heads_of_tasks(family).keys() >= {*classes}:
            return classes
    return ()


def _with_own_heads(checkpoint: Checkpoint, again: Callable[[], Checkpoint]) -> Checkpoint:
    classes = _own_heads(checkpoint) if checkpoint.sentence is None else ()
    if not classes:
        return checkpoint
    heads = tuple((verb, _as_class(again(), name)) for name, verb in zip(classes, _BY_NAME.values(), strict=True))
    return replace(_as_class(checkpoint, classes[0]), heads=heads)


def _as_class(checkpoint: Checkpoint, name: str) -> Checkpoint:
    """As if it had been saved from this class."""
    config = checkpoint.config
    return replace(checkpoint, config=replace(config, values=config.values.changed("architectures", [name])))


def _of_head(name: str, made: Callable[[], Any]) -> Any:
    """What is made of a head's folder; a refusal says whose it is."""
    try:
        return made()
    except EtchError as error:
        error.file = f"--head {name}" if error.file is None else f"--head {name}: {error.file}"
        raise


def _check_tokenizer(name: str, encoder: Checkpoint, head: Checkpoint) -> None:
    """EtchError where texts become other tokens for the head than for the encoder."""
    for part in ("normalizer", "segmenter", "model", "template", "added_tokens"):
        if getattr(encoder.tokenizer, part) != getattr(head.tokenizer, part):
            message = f"head '{name}': its tokenizer has another {part.replace('_', ' ')} than the encoder's"
            raise EtchError("head-tokenizer-differs", "load", message)


def graph_of_heads(checkpoint: Checkpoint, build: Callable[[Checkpoint], g.Graph]) -> g.Graph:
    """The graph of a checkpoint with all of its heads."""
    graph = build(checkpoint)
    if not checkpoint.heads:
        return graph
    return joined(graph, [(name, _of_head(name, partial(build, each))) for name, each in checkpoint.heads])


def joined(encoder: g.Graph, heads: Sequence[tuple[str, g.Graph]]) -> g.Graph:
    """The encoder's nodes once, then those of each head, under names of their own. EtchError where an encoder
    differs."""
    shared = _encoder_of(encoder)
    parameters = {parameter.name: parameter for node in shared for op in g.ops_in(node) for parameter in slots(op)}
    made = {value for node in shared for op in g.ops_in(node) for value in writes(op)}
    widths = {value: encoder.widths[value] for value in made}
    body, results, notes = list(shared), [], list(encoder.notes)
    for name, graph in heads:
        _check_same(name, shared, graph)
        own = graph.body[len(shared) :]
        rename = _Rename(name, frozenset(made), parameters)
        for node in own:
            if isinstance(node, g.Layers) or made & {*writes(node)}:
                message = f"head '{name}': it changes the rows that the encoder has made, which other heads read"
                raise EtchError("head-not-supported", "front-end", message)
            body.append(rename.op(node))
        widths |= {rename.value(value): width for value, width in graph.widths.items() if value not in made}
        (head,) = graph.heads
        results.append(g.Head(head.task, rename.value(head.value), name))
        notes += [f"head {name}: {note}" for note in graph.notes if note not in encoder.notes]
    used = {value for node in body for op in g.ops_in(node) for value in (*reads(op), *writes(op))}
    return replace(
        encoder,
        widths={value: width for value, width in widths.items() if value in used},
        body=tuple(body),
        heads=tuple(results),
        notes=tuple(notes),
    )


def _encoder_of(graph: g.Graph) -> tuple[g.Node, ...]:
    """The nodes up to the last layers, and the norms behind them that leave the rows where they are."""
    last = max((i for i, node in enumerate(graph.body) if isinstance(node, g.Layers)), default=-1)
    end = last + 1
    while end < len(graph.body) and isinstance(node := graph.body[end], g.Norm) and node.input == node.out:
        end += 1
    if last < 0 or graph.target_rules is not None:
        raise EtchError("head-not-supported", "front-end", "a model without layers of an encoder has no heads")
    return graph.body[:end]


def _check_same(name: str, shared: Sequence[g.Node], graph: g.Graph) -> None:
    """That a head's folder has this encoder: the same ops, of the same weights, bit for bit."""
    other = _encoder_of(graph)
    if _described(shared) != _described(other):
        _refuse(name, "its encoder is made otherwise than the first folder's: layers, widths or what they compute")
    for node, there in zip(shared, other, strict=True):
        pairs = zip(_parameters(node), _parameters(there), strict=True)
        arrays = (pair for ours, theirs in pairs for pair in zip(ours.arrays, theirs.arrays, strict=True))
        for ours, theirs in arrays:
            if not np.array_equal(ours.values, theirs.values):
                tensor = f"tensor '{theirs.name}' differs from '{ours.name}' of the encoder"
                _refuse(name, f"{tensor}: heads of one model are trained on a frozen one", theirs.file)


def _refuse(name: str, message: str, file: str | None = None) -> NoReturn:
    raise EtchError("encoder-differs", "front-end", f"head '{name}': {message}", file=file)


def _parameters(node: g.Node) -> list[g.Parameter]:
    return [parameter for op in g.ops_in(node) for parameter in slots(op)]


def _described(thing: Any) -> Any:
    """Nodes without their arrays: what can be compared."""
    if isinstance(thing, g.Parameter):
        return thing.name, [array.shape for array in thing.arrays], thing.of_layer, thing.common
    if isinstance(thing, tuple | list):
        return [_described(each) for each in thing]
    if is_dataclass(thing):
        return type(thing).__name__, [_described(getattr(thing, each.name)) for each in fields(thing)]
    return thing


@dataclass(frozen=True)
class _Rename:
    """Names of one head's values and parameters in the graph of all."""

    head: str
    made: frozenset[str]  # values of the encoder
    parameters: dict[str, g.Parameter]  # and its parameters: of tied ones there is one

    def value(self, name: str) -> str:
        return name if name in self.made else f"{self.head}_{name}"

    def op(self, op: Any) -> Any:
        return Renaming(lambda name: f"{self.head}_{name}", self.value, self._parameter).op(op)

    def _parameter(self, parameter: g.Parameter) -> g.Parameter:
        if parameter.name in self.parameters:
            return self.parameters[parameter.name]
        arrays = tuple(Derived(array, called=f"{self.head}: {array.name}") for array in parameter.arrays)
        return replace(parameter, name=f"{self.head}_{parameter.name}", arrays=arrays)
