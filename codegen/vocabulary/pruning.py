# SPDX-License-Identifier: Apache-2.0
"""A smaller vocabulary for a model: the pieces that a corpus uses often enough, renumbered, and their embeddings.

What is left is a tokenizer like any other. Rare words are `spelled`: a word whose piece is gone becomes the pieces that
the smaller tokenizer finds in it, in the end single letters or bytes. Dropping a piece changes the counts of those that
take its place, so that the bound rises in steps, each counted anew, and the last step is repeated until nothing falls
below it: every piece that stays is used as often as demanded in the corpus as it is then tokenized, or needed by one
that is (prunable.py). Or, of WordPiece only, rare words are `unknown`: pieces that go on a word all go, what stays are
whole words. A model knows little of letters, and where few pieces stay it answers better without them, to texts of
fewer tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import EtchError
from ..files.outside_files import NamedFile
from ..files.table_file import Columns, Echo, is_table, read_table
from ..ir import graph as g
from ..ir.derived import Derived, Values
from ..ir.normalizer_spec import SentencePieceNormalizer
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import WheelEncoding, encode_batch, ids_in_word, wheel_tokenizer
from ..load.checkpoint import Checkpoint
from ..tasks.generation import Generation
from .kept_target import needed_ids, renumbered_settings, shorter_rules
from .prunable import (
    STAGE,
    RareWords,
    continuing_ids,
    keep_pieces,
    needed_by,
    rare_words_of,
    spelled,
    spelling_ids,
    unknown_ids,
    unspelled_ids,
)

_BOUNDS = (8, 4, 2, 1)  # the count demanded is divided by these, one after the other
_TEXTS_AT_ONCE = 4096


@dataclass(frozen=True)
class Bound:
    """What goes."""

    min_count: int  # what is used less often
    rare_words: RareWords = "spelled"  # what becomes of its words


@dataclass(frozen=True)
class Pruning:
    """What stays of a vocabulary, and what that does to the corpus."""

    kept: tuple[int, ...]  # ascending
    entries: int  # before
    bound: Bound
    texts: int
    tokens_before: int
    tokens_after: int
    tokens_dropped: int  # of those before: of pieces that are gone
    unknown_before: int
    unknown_after: int


class Counted(Protocol):
    """Texts whose pieces are counted, as ids of the whole vocabulary: a `Corpus`, or several of one vocabulary."""

    @property
    def spec(self) -> TokenizerSpec: ...

    @property
    def texts(self) -> int: ...

    @property
    def kept(self) -> NDArray[np.bool_]: ...

    def counts(self) -> NDArray[np.int64]: ...

    def always(self, rare_words: RareWords) -> NDArray[np.bool_]: ...

    def with_needed(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]: ...

    def prepared(self, rare_words: RareWords) -> Counted: ...

    def without(self, gone: NDArray[np.bool_]) -> Counted: ...


def read_corpus(path: Path, columns: Columns, echo: Echo = lambda _: None) -> list[str]:
    """The lines of a text file, or the joined text columns of a table."""
    if is_table(path):
        return [row.joined for row in read_table(path, columns, echo)]
    lines = []
    for number, line in enumerate(NamedFile(path, "corpus", STAGE).lines(), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            message = f"line {number} is not UTF-8: {error.reason} at byte {error.start}"
            raise EtchError("corpus-not-utf8", STAGE, message, file=path.name) from None
        if text.strip():
            lines.append(text)
    if not lines:
        raise EtchError("corpus-empty", STAGE, "there is no text in it", file=path.name)
    return lines


def prune(spec: TokenizerSpec, texts: Sequence[str], bound: Bound) -> Pruning:
    """Drops every piece that `texts` use less often than `bound` says, but for those that are always kept."""
    return prune_corpus(Corpus(spec, texts), bound)


def prune_corpus(corpus: Counted, bound: Bound) -> Pruning:
    """The same of a corpus that is tokenized already, which stays as it is."""
    spec, before, entries = corpus.spec, corpus.counts(), int(corpus.kept.sum())
    if bound.rare_words not in rare_words_of(spec.model):
        message = f"--rare-words {bound.rare_words}: {spec.summary} has no unknown words"
        raise EtchError("rare-words-unsupported", STAGE, message)
    corpus = corpus.prepared(bound.rare_words)
    counts, kept, always = corpus.counts(), corpus.kept, corpus.always(bound.rare_words)
    for min_count in dict.fromkeys(-(-bound.min_count // divisor) for divisor in _BOUNDS):
        while (rare := kept & ~corpus.with_needed(kept & (always | (counts >= min_count)))).any():
            corpus = corpus.without(rare)
            counts, kept = corpus.counts(), corpus.kept
            if min_count < bound.min_count:
                break
    if np.array_equal(kept, always):
        raise EtchError("vocabulary-empty", STAGE, f"no piece occurs {bound.min_count} times")
    return Pruning(
        kept=tuple(np.flatnonzero(kept).tolist()),
        entries=entries,
        bound=bound,
        texts=corpus.texts,
        tokens_before=int(before.sum()),
        tokens_after=int(counts.sum()),
        tokens_dropped=int(before[~kept].sum()),
        unknown_before=sum(int(before[i]) for i in unknown_ids(spec.model)),
        unknown_after=sum(int(counts[i]) for i in unknown_ids(spec.model)),
    )


def keep_ids(checkpoint: Checkpoint, kept: Sequence[int]) -> Checkpoint:
    """The checkpoint with these entries of its vocabulary, ascending, numbered from 0 on."""
    ids = np.array(kept, np.int64)
    checkpoint = replace(checkpoint, tokenizer=keep_pieces(checkpoint.tokenizer, ids), kept_ids=tuple(kept))
    if checkpoint.target is None or checkpoint.generation is None:
        return checkpoint
    target = replace(checkpoint.target, spec=keep_pieces(checkpoint.target.spec, ids), reader=None)
    number = {old: new for new, old in enumerate(kept)}
    return replace(checkpoint, target=target, generation=renumbered_settings(checkpoint.generation, number))


def never_dropped(checkpoint: Checkpoint) -> set[int]:
    """The ids that tokenizers and settings of a checkpoint name."""
    specs = [checkpoint.tokenizer, *(() if checkpoint.target is None else (checkpoint.target.spec,))]
    named = {i for spec in specs for i in _named_ids(spec)}
    return named if checkpoint.generation is None else named | needed_ids(checkpoint.generation)


def keep_rows(graph: g.Graph, kept: Sequence[int]) -> g.Graph:
    """The graph with these rows of its word embedding; of one that writes texts with these logits, too, and its target
    must be one of renumbered settings (`keep_ids`). EtchError where a task has ids of the vocabulary besides."""
    if named := next((head.task.name for head in graph.heads if head.task.names_pieces), None):
        message = f"the task {named} names pieces of the vocabulary: all of them stay"
        raise EtchError("vocabulary-tied", STAGE, message)
    rows = np.array(kept, np.int64)
    written = {head.value for head in graph.heads} if graph.target_rules is not None else set()

    tables: dict[str, g.Parameter] = {}  # those that are shared stay one
    number = {old: new for new, old in enumerate(kept)}

    def kept_values(values: Values) -> Values:
        return values[rows]

    def kept_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
        return (len(rows), *shape[1:])

    def smaller_table(parameter: g.Parameter) -> g.Parameter:
        arrays = tuple(Derived(array, kept_values, kept_shape) for array in parameter.arrays)
        return tables.setdefault(parameter.name, replace(parameter, arrays=arrays))

    def smaller_term(term: g.Term) -> g.Term:
        if term.by != "ids":
            return term
        if term.outside is not None and term.outside not in number:
            message = f"id {term.outside} is read where a text has no token: its piece has to stay"
            raise EtchError("vocabulary-tied", STAGE, message)
        outside = None if term.outside is None else number[term.outside]
        dropped = None if term.dropped is None else number.get(term.dropped)  # None: no text has it anymore
        return replace(term, table=smaller_table(term.table), outside=outside, dropped=dropped)

    def smaller(node: g.Node) -> g.Node:
        if isinstance(node, g.Embed):
            return replace(node, terms=tuple(map(smaller_term, node.terms)))
        if isinstance(node, g.Linear) and node.out in written:
            bias = None if node.bias is None else smaller_table(node.bias)
            return replace(node, weight=smaller_table(node.weight), bias=bias)
        return node

    graph = replace(graph, body=tuple(map(smaller, graph.body)), vocabulary=len(kept))
    if graph.target_rules is None:
        return graph
    (head,) = graph.heads
    assert isinstance(head.task, Generation)
    return replace(
        graph,
        repeat=tuple(map(smaller, graph.repeat)),
        widths=graph.widths | {head.value: len(kept)},
        heads=(replace(head, task=replace(head.task, vocabulary=len(kept))),),
        target_rules=shorter_rules(graph.target_rules, len(kept)),
    )


class Corpus:
    """Words and how often they occur, as ids of the whole vocabulary; a word is tokenized again only where one of its
    pieces has gone.

    Texts fall apart into far fewer different words, which their pieces spell out. A text stays whole where it has an
    unknown word, whose letters are in no piece, or an added token, which is found before words are.
    """

    def __init__(self, spec: TokenizerSpec, texts: Sequence[str]) -> None:
        rare_words_of(spec.model)  # refuses what cannot be pruned
        self.spec = spec
        self.texts = len(texts)
        self.kept = self.always("unknown")  # by id
        self.kept[_ids_with_text(spec)] = True
        words: Counter[tuple[int, ...]] = Counter()
        whole: list[tuple[str, NDArray[np.int64]]] = []
        apart = _named_ids(spec) | unspelled_ids(spec.model)
        tokenizer = wheel_tokenizer(spec)
        for begin in range(0, len(texts), _TEXTS_AT_ONCE):
            some = list(texts[begin : begin + _TEXTS_AT_ONCE])
            for text, encoding in zip(some, encode_batch(tokenizer, some, add_special_tokens=False), strict=True):
                if apart.isdisjoint(encoding.ids):
                    words.update(_words(encoding))
                else:
                    whole.append((text, np.array(encoding.ids, np.int64)))
        self._words = [spelled(spec.model, ids) for ids in words]
        self._whole = [text for text, _ in whole]
        self._times = np.array([*words.values(), *([1] * len(whole))], np.int64)
        self._ids = [*(np.array(ids, np.int64) for ids in words), *(ids for _, ids in whole)]

    def counts(self) -> NDArray[np.int64]:
        """By id."""
        times = np.repeat(self._times, [len(ids) for ids in self._ids])
        counted = np.bincount(self._all_ids(), times, minlength=len(self.kept))
        return counted.astype(np.int64)  # exact: below 2^53

    def always(self, rare_words: RareWords) -> NDArray[np.bool_]:
        """By id: special and added tokens, and where rare words are spelled what spells them."""
        named = _named_ids(self.spec)
        always = np.zeros(max(len(self.spec.model.pieces), *(i + 1 for i in named)), bool)
        always[list(named)] = True
        if rare_words == "spelled":
            always[spelling_ids(self.spec.model)] = True
        return always

    def with_needed(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """By id: these pieces and those without which they are not found."""
        return needed_by(self.spec.model, kept)

    def prunable_counts(self, rare_words: RareWords) -> NDArray[np.int64]:
        """Of the pieces that are not always kept."""
        prepared = self.prepared(rare_words)
        return prepared.counts()[prepared.kept & ~self.always(rare_words)]

    def prepared(self, rare_words: RareWords) -> Corpus:
        """The same texts where rare words are to be unknown: without pieces that go on a word."""
        if rare_words == "spelled":
            return self
        gone = np.zeros(len(self.kept), bool)
        gone[continuing_ids(self.spec.model)] = True
        return self.without(gone)

    def without(self, gone: NDArray[np.bool_]) -> Corpus:
        """The same texts without some pieces. Words without pieces, too, may have some now: the longest one, that led
        nowhere, may be gone."""
        kept = self.kept & ~gone
        numbers = np.flatnonzero(kept)
        gone = gone.copy()
        gone[list(unknown_ids(self.spec.model))] = True
        changed = copy(self)
        changed.kept, changed._ids = kept, list(self._ids)
        owners = np.repeat(np.arange(len(self._ids)), [len(ids) for ids in self._ids])
        tokenizer = wheel_tokenizer(keep_pieces(self.spec, numbers))
        for i in np.unique(owners[gone[self._all_ids()]]).tolist():
            if i < len(self._words):
                found = ids_in_word(tokenizer, self._words[i])
            else:
                found = tokenizer.encode(self._whole[i - len(self._words)], add_special_tokens=False).ids
            changed._ids[i] = numbers[found]
        return changed

    def _all_ids(self) -> NDArray[np.int64]:
        return np.concatenate(self._ids) if self._ids else np.zeros(0, np.int64)


def _words(encoding: WheelEncoding) -> Iterator[tuple[int, ...]]:
    """The ids of each word."""
    for _, tokens in groupby(zip(encoding.word_ids, encoding.ids, strict=True), itemgetter(0)):
        yield tuple(i for _, i in tokens)


def _ids_with_text(spec: TokenizerSpec) -> list[int]:
    if spec.sentencepiece is not None:
        return list(spec.sentencepiece.ids.values())
    return [i for i, piece in enumerate(spec.model.pieces) if piece is not None]


def _named_ids(spec: TokenizerSpec) -> set[int]:
    """Special and added tokens, and codes."""
    codes = spec.normalizer.codes if isinstance(spec.normalizer, SentencePieceNormalizer) else ()
    added = {token.id for token in spec.added_tokens} | {number for _, number in codes}
    return added | {*unknown_ids(spec.model), *spec.template.special_ids}
