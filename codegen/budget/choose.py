# SPDX-License-Identifier: Apache-2.0
"""From limits and rows to judge by to what the recipe is then asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import EtchError
from ..evaluate import Rows
from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from ..quantize.bits import Bits
from ..targets import Target
from ..vocabulary.prunable import RareWords, is_prunable, rare_words_of
from ..vocabulary.pruning import Bound, Pruning
from .judge import Judge
from .limits import ALLOWANCES, Limits
from .search import search
from .space import Space
from .told import chosen_lines, limits_lines


@dataclass(frozen=True)
class Chosen:
    """What of recipe w8a8 is generated."""

    tokens: int
    embedding_bits: int
    bits: Bits
    pruning: Pruning | None


def choose(
    checkpoint: Checkpoint,
    graph: Graph,
    target: Target,
    limits: Limits,
    rows: Rows,
    texts: Sequence[str] | None,
    min_count: int | None,
    rare_words: RareWords | None,
    echo: Callable[[str], None],
    calibrated: bool = False,
) -> Chosen:
    """The most accurate form that fits. `texts` to prune the vocabulary by, None to keep it; `min_count` and
    `rare_words` where they are given, else all are tried; `calibrated`: what is chosen is
    rounded by texts."""
    if limits.min_tokens is not None and limits.min_tokens > graph.max_tokens:
        message = f"--min-tokens {limits.min_tokens}: the model takes {graph.max_tokens} at most"
        raise EtchError("min-tokens", "arguments", message)
    if limits.min_tokens is not None and checkpoint.tokenizer.template.padding is not None:
        message = f"--min-tokens: texts are padded to {graph.max_tokens} tokens, which the model reads: leave it out"
        raise EtchError("min-tokens", "arguments", message)
    space = Space(checkpoint, graph, target, ALLOWANCES[target.name], texts)
    for line in limits_lines(limits, target.name, ALLOWANCES[target.name]):
        echo(line)
    model = checkpoint.tokenizer.model
    kinds = () if texts is None else rare_words_of(model) if rare_words is None else (rare_words,)
    ladders = [[Bound(min_count, kind)] if min_count else list(space.bounds(kind)) for kind in kinds]
    untried = _untried(checkpoint, graph, limits, texts)
    found = search(space, Judge(space, rows), limits, ladders, echo, untried)
    for line in chosen_lines(found, space, calibrated):
        echo(line)
    form = found.form
    return Chosen(form.tokens, form.embedding_bits, space.bits(form), space.vocabulary(form.bound).pruning)


def _untried(checkpoint: Checkpoint, graph: Graph, limits: Limits, texts: Sequence[str] | None) -> list[str]:
    """Options that would allow forms of fewer bytes."""
    if graph.target_rules is not None:  # takes neither under a budget
        return []
    prune = texts is None and is_prunable(checkpoint.tokenizer.model)
    shorten = limits.min_tokens is None and checkpoint.tokenizer.template.padding is None
    return [
        *(["fewer pieces (--prune-vocabulary FILE)"] if prune else []),
        *(["shorter texts (--min-tokens N)"] if shorten else []),
    ]
