# SPDX-License-Identifier: Apache-2.0
"""Pairs of texts to prune the vocabulary of a model by that reads the one and should write the other.

One vocabulary is for both, and a piece stays that both together use often enough. Each side has a tokenizer of its own,
which finds its pieces by scores of its own.

What is left writes the same: whatever the whole model writes greedily to a text, where all pieces of that text and of
what is written have stayed, the pruned one writes as well. Its logits are the whole model's of the entries that stay,
bit for bit, so that the largest is the same one. Scores are others, for the probabilities are of fewer pieces, and so
may be what beams find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import EtchError
from ..files.table_file import Columns, Echo, is_table, read_table
from ..ir.tokenizer_spec import TokenizerSpec
from ..load.checkpoint import Checkpoint
from .prunable import STAGE, RareWords
from .pruning import Corpus, never_dropped


@dataclass(frozen=True)
class Sides:
    """The corpora of what is read and of what is written, as one `Corpus`."""

    source: Corpus
    target: Corpus
    needed: frozenset[int]  # ids that stay, whatever the texts use

    @property
    def spec(self) -> TokenizerSpec:
        """Of what is read."""
        return self.source.spec

    @property
    def texts(self) -> int:
        """Pairs."""
        return self.source.texts

    @property
    def kept(self) -> NDArray[np.bool_]:
        """By id."""
        return self.source.kept

    def counts(self) -> NDArray[np.int64]:
        """By id, of both."""
        return self.source.counts() + self.target.counts()

    def always(self, rare_words: RareWords) -> NDArray[np.bool_]:
        """By id: those that stay."""
        always = self.source.always(rare_words) | self.target.always(rare_words)
        always[list(self.needed)] = True
        return always

    def with_needed(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """By id: these and those without which they are not found."""
        return self.source.with_needed(kept) | self.target.with_needed(kept)

    def prepared(self, rare_words: RareWords) -> Sides:
        """As of a corpus."""
        return self._each(lambda side: side.prepared(rare_words))

    def without(self, gone: NDArray[np.bool_]) -> Sides:
        """As of a corpus."""
        return self._each(lambda side: side.without(gone))

    def _each(self, change: Callable[[Corpus], Corpus]) -> Sides:
        return replace(self, source=change(self.source), target=change(self.target))


def check_has_sides(checkpoint: Checkpoint) -> None:
    """EtchError where the vocabulary of a generative model cannot be pruned."""
    if checkpoint.target is None or checkpoint.target.reader is None:
        message = (
            "--prune-vocabulary: of generative models those lose pieces that have source.spm and target.spm; "
            "leave it out; --embedding-bits 4 and --recipe w4a8 make the tables smaller"
        )
        raise EtchError("generation-not-supported", "arguments", message)


def read_sides(checkpoint: Checkpoint, path: Path, columns: Columns, echo: Echo = lambda _: None) -> Sides:
    """Of a table: a text to read and, in the place of its label, the one that should be written."""
    check_has_sides(checkpoint)
    target = checkpoint.target
    assert target is not None and target.reader is not None
    if not is_table(path) or columns.label is None:
        message = (
            "what is read and written is pruned by pairs: a .csv, .tsv or .jsonl file with a text in each row and, "
            "in its --label-column, what should be written"
        )
        raise EtchError("corpus-one-sided", STAGE, message, file=path.name)
    rows = read_table(path, columns, echo)
    source = Corpus(checkpoint.tokenizer, [row.joined for row in rows])
    return Sides(source, Corpus(target.reader(), [row.value for row in rows]), frozenset(never_dropped(checkpoint)))
