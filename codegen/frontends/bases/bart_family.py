# SPDX-License-Identifier: Apache-2.0
"""BART and what descends from it: a family is its class, its tokenizer, its form and where its positions come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.encoder_decoder import Form, Positions, build_encoder_decoder, learned_positions, position_count
from ..shared.target_rules import build_behind_encoder, check_begin
from . import bert_like
from .bart_rows import rows_graph
from .rows_of_both import ENDINGS, classes_of


@dataclass(frozen=True)
class Family:
    """What it has of its own."""

    writer: str  # its class
    tokenizer_class: str
    form: Form
    positions: Callable[[Config, TensorFile], Positions] = learned_positions
    said: Mapping[str, object] = field(default_factory=dict)  # by keys of older files, and what the class always does
    check: Callable[[Config], None] = lambda _: None  # of keys besides
    padding: Callable[[Config], int] | None = None  # the token that has no position, where there is one
    of_rows: str = ""  # what its classes that read a text in both begin with, where there are some,
    endings: tuple[str, ...] = ENDINGS  # and end with
    labels: int = 2  # of a classifier that names none
    end: int = 2  # the token that a text ends with where the configuration does not say it
    turns: bool = False  # whether a decoder that reads a text begins with the last token of it

    def read_limits(self, config: Config) -> Limits:
        """Positions are those of a text, and of what is written."""
        width, vocabulary = config.positive_int("d_model"), config.positive_int(self.form.source_entries)
        has_own = self.form.target_entries != self.form.source_entries  # words that are written
        return Limits(
            width,
            vocabulary,
            position_count(config, self.form.source_positions),
            self.form.source_positions,
            self.tokenizer_class,
            writes_texts=not self._reads_in_both(config),
            target_entries=config.positive_int(self.form.target_entries) if has_own else None,
            family_writes=True,
            usual_labels=self.labels,
        )

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """As `build_behind_encoder`, or `rows_graph`."""
        config = checkpoint.config
        if self._reads_in_both(config):
            self.check(config)
            positions = self._positions(config, checkpoint.tensors)
            return rows_graph(checkpoint, max_tokens, self.of_rows, positions, self.form, self.end, turns=self.turns)
        if self.padding is not None:
            bert_like.check_padding(checkpoint.tokenizer, self.padding(config))
        most = position_count(config, self.form.target_positions)
        return build_behind_encoder(checkpoint, self.writer, self.graph_of, max_tokens, most)

    def graph_of(
        self,
        config: Config,
        tensors: TensorFile,
        max_source: int,
        max_target: int,
        generation: GenerationSettings | None = None,
    ) -> Graph:
        """As `build_encoder_decoder`."""
        for key, value in self.said.items():
            if config.values.get(key, value) != value:
                raise parts.refuse("generation-not-supported", f"{key} is not {str(value).lower()}")
        self.check(config)
        positions, limits = self._positions(config, tensors), (max_source, max_target)
        graph = build_encoder_decoder(config, tensors, limits, positions, self.form, generation)
        check_begin(graph.target_rules, None if self.padding is None else self.padding(config))
        return graph

    def _positions(self, config: Config, tensors: TensorFile) -> Positions:
        """Of a file whose names may have their prefix or not."""
        tensors.below(self.form.root)
        return self.positions(config, tensors)

    def _reads_in_both(self, config: Config) -> bool:
        named = config.architectures
        classes = classes_of(self.of_rows, self.endings) if self.of_rows else ()
        return not config.embeds and self.writer not in named and not set(classes).isdisjoint(named)
