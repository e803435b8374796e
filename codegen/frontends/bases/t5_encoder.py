# SPDX-License-Identifier: Apache-2.0
"""T5's encoder alone: `T5EncoderModel`, also of a file that has the decoder as well, and `T5ForTokenClassification`."""

from __future__ import annotations

from ...ir.graph import Graph, Node
from ...load.checkpoint import Checkpoint
from ..shared import parts
from ..shared.t5_stack import ROOT, Form, Stack, embedded, read_shape, read_words
from . import bert_like
from .architecture import check_architecture
from .heads import Encoder, FamilyHeads, graph_with_head
from .rows_of_both import classes_of


def encoder_graph(checkpoint: Checkpoint, max_tokens: int, family: str, form: Form, writer: str) -> Graph:
    """The graph of a checkpoint; takes every tensor of the encoder and its head exactly once. `family` is what the
    names of its classes begin with, `form` what it has of its own, `writer` the class that has the decoder as well."""
    config, tensors, sentence = checkpoint.config, checkpoint.tensors, checkpoint.sentence
    if sentence is None or writer not in config.architectures:
        others = (writer, *classes_of(family))
        endings = "EncoderModel", "ForTokenClassification"
        check_architecture(checkpoint, family, *endings, others=others)
    bert_like.check_encoder_only(config)
    parts.check_max_tokens(max_tokens, parts.MAX_WIDTH, "of what has no positions")
    shape = read_shape(config, form)
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    root = tensors.below(ROOT)
    words = read_words(tensors, root, ("encoder",), (vocabulary, shape.hidden))
    stack = Stack(config, tensors, shape, "encoder", "hidden", root=root)
    body: tuple[Node, ...] = (embedded(words, "hidden"), *stack.encoded(max_tokens))
    ignored = tensors.ignore(f"{root}decoder.*", "lm_head.weight")
    notes: tuple[str, ...] = ()
    if ignored:  # hundreds, of a whole T5
        notes = (f"not used by the encoder: {len(ignored)} tensors of the decoder, {ignored[0]} the first",)
    return graph_with_head(
        checkpoint, max_tokens, family, Encoder(body, stack.widths, vocabulary), FamilyHeads(), notes
    )
