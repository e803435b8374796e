# SPDX-License-Identifier: Apache-2.0
"""T5's classes whose decoder reads the text itself. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ..shared import parts
from ..shared.t5_stack import ROOT, UNREAD, Form, Stack, check_pad, embedded, read_shape, read_words
from .rows_of_both import check_both, graph_of_rows

_END = 1


def rows_graph(checkpoint: Checkpoint, max_tokens: int, family: str, form: Form) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `family` is what the names of its classes
    begin with, `form` what it has of its own."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_both(config)
    check_pad(config)
    parts.check_max_tokens(max_tokens, parts.MAX_WIDTH, "of what has no positions")
    shape = read_shape(config, form)
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    begin = config.natural_int("decoder_start_token_id", form.begin, maximum=vocabulary - 1)
    root = tensors.below(ROOT)
    words = read_words(tensors, root, ("encoder", "decoder"), (vocabulary, shape.hidden))
    tensors.ignore(f"{root}{UNREAD}")
    encoder = Stack(config, tensors, shape, "encoder", "hidden", root=root)
    decoder = Stack(config, tensors, shape, "decoder", "target", "target_", root)
    body = (
        embedded(words, "hidden"),
        *encoder.encoded(max_tokens),
        embedded(words, "target", begin),
        *decoder.decoded(max_tokens),
    )
    return graph_of_rows(checkpoint, max_tokens, family, body, encoder.widths | decoder.widths, _END)
