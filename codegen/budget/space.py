# SPDX-License-Identifier: Apache-2.0
"""The forms that a checkpoint can take, and the exact size of each, computed before anything is judged.

A form is made of two lowered programs, one with all its tables in 8 bits and one with all in 4: each table is taken
from one of them, embeddings cut at the pieces and positions that stay. That is what lowering with those bits gives, in
a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..evaluate import Score
from ..ir import graph as g
from ..ir import program as p
from ..ir import walks
from ..ir.program_changes import with_matrices, with_max_tokens
from ..load.checkpoint import Checkpoint
from ..lower import lower
from ..memory.plan import plan_memory
from ..memory.stack_budget import stack_budget
from ..pack.tables import slot_tables, table_bytes, tokenizer_tables
from ..quantize import choose_recipe
from ..quantize.bits import places_of, width_of
from ..targets import Target
from ..tokenizer import TokenizerTables, compile_target, compile_tokenizer
from ..vocabulary.pruning import Bound, Corpus, Pruning, RareWords, keep_ids, prune_corpus
from .limits import Allowance, Size

_KEPT_EACH_TIME = 0.9
_FEWEST_PIECES = 64


@dataclass(frozen=True)
class Form:
    """One way to store a model."""

    tokens: int  # the longest text
    bound: Bound | None  # of --prune-vocabulary; None: all pieces stay
    embedding_bits: int  # of words and positions
    four: frozenset[str]  # linears in 4 bits, by the checkpoint's name of the weight


@dataclass(frozen=True)
class Found:
    """The form that was chosen, how large it is, and how good its answers are."""

    form: Form
    size: Size
    score: Score


@dataclass(frozen=True)
class Vocabulary:
    """What stays of the pieces."""

    pruning: Pruning | None
    checkpoint: Checkpoint
    tables: TokenizerTables
    rows: np.ndarray  # of the word embedding


class Space:
    """All forms of a checkpoint for one target."""

    def __init__(
        self, checkpoint: Checkpoint, graph: g.Graph, target: Target, allowance: Allowance, texts: Sequence[str] | None
    ) -> None:
        self._checkpoint, self._graph, self._target, self._allowance = checkpoint, graph, target, allowance
        self._texts = texts
        self._programs = {
            bits: lower(graph, choose_recipe(recipe, bits)) for recipe, bits in (("w8a8", 8), ("w4a8", 4))
        }
        self._matrices = {bits: dict(_matrices(program)) for bits, program in self._programs.items()}
        sums = (op for op in walks.ops_of(self._programs[8]) if isinstance(op, p.EmbeddingSum | p.EmbeddingMean))
        sources = [(term.by, term.table.stored[0].source) for op in sums for term in op.terms]
        self._words, self._positions = (
            tuple(dict.fromkeys(source for by, source in sources if by == kind)) for kind in ("ids", "positions")
        )
        self._vocabularies: dict[Bound | None, Vocabulary] = {}
        self._slot_bytes: dict[object, int] = {}
        self._arenas: dict[object, int] = {}
        self._sizes: dict[Form, Size] = {}
        self._judged: dict[str, p.S8Matrix] = {}
        self.places = {
            weights.source: place
            for place, _, weights in places_of(self._programs[4])
            if isinstance(weights, p.LinearWeights) and isinstance(weights.matrix, p.S4Matrix)
        }
        self.linears = tuple(name for name in self._matrices[8] if name in self.places)
        self.tokens = graph.max_tokens

    @property
    def checkpoint(self) -> Checkpoint:
        """That has these forms."""
        return self._checkpoint

    @property
    def whole(self) -> Form:
        """Nothing left out, nothing in 4 bits."""
        return Form(self.tokens, None, 8, frozenset())

    def bounds(self, rare_words: RareWords) -> Iterator[Bound]:
        """Those that keep about a tenth fewer of the pieces each, ascending; of a corpus that uses few, one."""
        counts = np.sort(self._corpus.prunable_counts(rare_words))[::-1]
        kept, last = float(np.count_nonzero(counts)), 0
        while kept >= _FEWEST_PIECES or (kept >= 1 and last == 0):
            min_count = int(counts[int(kept) - 1])
            if min_count > last:
                yield Bound(min_count, rare_words)
            last = max(min_count, last)
            kept *= _KEPT_EACH_TIME

    def vocabulary(self, bound: Bound | None) -> Vocabulary:
        """The pieces that stay."""
        if bound not in self._vocabularies:
            pruning, checkpoint = None, self._checkpoint
            rows: NDArray[np.int64] = np.arange(self._programs[8].vocabulary)
            if bound is not None:
                pruning = prune_corpus(self._corpus, bound)
                checkpoint = keep_ids(checkpoint, pruning.kept)
                rows = np.array(pruning.kept, np.int64)
            tables = compile_tokenizer(checkpoint.tokenizer)
            self._vocabularies[bound] = Vocabulary(pruning, checkpoint, tables, rows)
        return self._vocabularies[bound]

    def program(self, form: Form) -> p.Program:
        """What lowering would make of it."""
        return self._with(form, {name: self._matrices[4][name] for name in form.four} | self._embeddings(form))

    def judged_program(self, form: Form) -> p.Program:
        """The same bits by 8-bit tables, that 4-bit ones stand for: they are expanded once, not for each batch."""
        for name in form.four - self._judged.keys():
            self._judged[name] = _expanded(self._matrices[4][name])
        embeddings = {name: _expanded(matrix) for name, matrix in self._embeddings(form).items()}
        return self._with(form, {name: self._judged[name] for name in form.four} | embeddings)

    def size(self, form: Form) -> Size:
        """Exact, but for the allowance."""
        if form not in self._sizes:
            vocabulary = self.vocabulary(form.bound)
            # As many rows of the word embedding, but not a copy of those that stay.
            embeddings = self._embeddings(form, slice(len(vocabulary.rows)))
            program = self._with(form, {name: self._matrices[4][name] for name in form.four} | embeddings)
            arena = self._arena_bytes(program, vocabulary.tables.constants["scratch_bytes"])
            tokenizer = vocabulary.tables.constants["stack_bytes"]
            stack = stack_budget(self._target, program, tokenizer)
            taken = sum(self._bytes_of_slot(slot, loop) for slot, loop in walks.slots_of(program))
            taken += self._tokenizer_bytes(vocabulary.tables)
            ram = arena + stack + self._allowance.static
            self._sizes[form] = Size(taken + self._allowance.code, ram, stack)
        return self._sizes[form]

    def bits(self, form: Form) -> dict[str, int]:
        """As --bits names them: what recipe w8a8 with this form's embedding bits does not say."""
        return {self.places[name]: 4 for name in self.linears if name in form.four}

    @cached_property
    def _corpus(self) -> Corpus:
        assert self._texts is not None
        return Corpus(self._checkpoint.tokenizer, self._texts)

    def _embeddings(self, form: Form, rows: np.ndarray | slice | None = None) -> dict[str, p.Integers]:
        matrices = self._matrices[form.embedding_bits]
        if self._graph.target_rules is not None:  # all pieces stay, and there are as many positions as it may write
            return {name: matrices[name] for name in (*self._words, *self._positions)}
        rows = self.vocabulary(form.bound).rows if rows is None else rows
        words = {name: _rows(matrices[name], rows) for name in self._words}
        return words | {name: _rows(matrices[name], slice(form.tokens)) for name in self._positions}

    def _with(self, form: Form, matrices: Mapping[str, p.Integers]) -> p.Program:
        program = with_matrices(self._programs[8], matrices)
        program = program if form.tokens == self.tokens else with_max_tokens(program, form.tokens)
        return replace(program, vocabulary=len(self.vocabulary(form.bound).rows))

    def _tokenizer_bytes(self, tables: TokenizerTables) -> int:
        """With what makes a text of what is written."""
        target = self._checkpoint.target
        texts = () if target is None else (compile_target(target, self._checkpoint.tokenizer, tables),)
        return sum(table_bytes(tokenizer_tables(of), self._target) for of in (tables, *texts))

    def _arena_bytes(self, program: p.Program, scratch: int) -> int:
        """Of tables the plan needs to know only whether a linear has any of 4 bits."""
        four = (slot.name for slot, _ in walks.slots_of(program) if any(_kind(weights) == 4 for weights in slot.stored))
        key = program.max_tokens, scratch, *four
        if key not in self._arenas:
            self._arenas[key] = plan_memory(program, self._target, scratch).arena_bytes
        return self._arenas[key]

    def _bytes_of_slot(self, slot: p.WeightSlot, loop: p.Loop | None) -> int:
        rows = slot.stored[0].matrix.shape[0] if isinstance(slot.stored[0], p.EmbeddingWeights) else 0
        floats = (weights.values.size for weights in slot.stored if isinstance(weights, p.LookedUp))
        key = (slot.name, rows, *(_kind(weights) for weights in slot.stored), *floats)
        if key not in self._slot_bytes:
            self._slot_bytes[key] = table_bytes(slot_tables(slot, loop is not None, self._target), self._target)
        return self._slot_bytes[key]


def _kind(weights: p.Weights) -> object:
    """Bits of a weight, where there are any to choose."""
    if not isinstance(weights, p.LinearWeights | p.EmbeddingWeights) or isinstance(weights.matrix, p.F32Matrix):
        return None
    return width_of(weights.matrix)


def _matrices(program: p.Program) -> Iterator[tuple[str, p.Integers]]:
    for _, _, weights in places_of(program):
        if not isinstance(weights.matrix, p.F32Matrix):
            yield weights.source, weights.matrix


def _rows(matrix: p.Integers, rows: np.ndarray | slice) -> p.Integers:
    if isinstance(matrix, p.S4Matrix):
        return p.S4Matrix(matrix.q[rows], matrix.factors[rows], matrix.scales[rows])
    return p.S8Matrix(matrix.q[rows], matrix.scales[rows])


def _expanded(matrix: p.Integers) -> p.S8Matrix:
    return matrix.expanded if isinstance(matrix, p.S4Matrix) else matrix
