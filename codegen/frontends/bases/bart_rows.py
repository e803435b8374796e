# SPDX-License-Identifier: Apache-2.0
"""BART's classes whose decoder reads the text itself. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ..shared.encoder_decoder import Form, Positions, check_tokens, read_stacks, vocabulary_of
from .bert_like import check_padding
from .rows_of_both import END, check_both, graph_of_rows

_BEGIN = "decoder_start_token_id"
_USUAL = 2


def rows_graph(
    checkpoint: Checkpoint,
    max_tokens: int,
    family: str,
    positions: Positions,
    form: Form,
    end: int,
    *,
    turns: bool = False,
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `family` is what the names of its classes
    begin with, `end` the token that texts end with where the folder does not say it. Where a text `turns`, the decoder
    reads its last token first, which `graph_of_rows` checks to be that end."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_both(config)
    padding = config.natural_int("pad_token_id", 1)  # the library moves no text without one
    check_tokens(config, form, max_tokens, max_tokens)
    if turns:
        check_padding(checkpoint.tokenizer, padding)  # the last token is found by the number of others
    begin = config.natural_int(*((END, end) if turns else (_BEGIN, _USUAL)), maximum=vocabulary_of(config) - 1)
    stacks = read_stacks(config, tensors, positions, form, begin=begin)
    body = (*stacks.encoder, *stacks.decoder)
    graph = graph_of_rows(checkpoint, max_tokens, family, body, stacks.widths, end)
    return replace(graph, notes=(*stacks.notes, *graph.notes))
