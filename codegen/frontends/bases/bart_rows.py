# SPDX-License-Identifier: Apache-2.0
"""BART's classes whose decoder reads the encoder's own text, one token behind it: classifiers by the row of the text's
last token, and answers to questions. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Graph
from ...load.folder import Checkpoint
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.encoder_decoder import POSITIONS, Form, Positions, position_count, read_stacks, vocabulary_of
from ..shared.rows import HeadOps
from .heads import CLASSIFIER_ENDING, read_head

ENDINGS = (CLASSIFIER_ENDING, "ForQuestionAnswering")
_BEGIN, _END = "decoder_start_token_id", "eos_token_id"
_USUAL = 2  # of both


def rows_graph(checkpoint: Checkpoint, max_tokens: int, family: str, positions: Positions, form: Form) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. `family` is what the names of its classes
    begin with."""
    config, tensors = checkpoint.config, checkpoint.tensors
    if not config.flag("is_encoder_decoder", True):
        raise parts.refuse("config-value", "is_encoder_decoder is false, against the family")
    config.natural_int("pad_token_id", 1)  # the library moves no text without one
    parts.check_max_tokens(max_tokens, position_count(config), POSITIONS)
    vocabulary = vocabulary_of(config)
    begin = config.natural_int(_BEGIN, _USUAL, maximum=vocabulary - 1)
    stacks = read_stacks(config, tensors, positions, form, begin=begin)
    body = (*stacks.encoder, *stacks.decoder)

    def classify() -> HeadOps:
        _check_end(checkpoint)
        dense = ("classifier_dense", "classification_head.dense", "tanh")
        source = "classification_head.out_proj"
        return classifier_head(config, tensors, "target", stacks.width, source, dense, pooling="last")

    head, widths, result, notes = read_head(
        checkpoint, f"{family}{CLASSIFIER_ENDING}", "target", stacks.width, classify, body=body
    )
    tensors.finish()
    return Graph(stacks.widths | widths, body + head, (result,), vocabulary, parts.SEGMENTS, max_tokens, notes)


def _check_end(checkpoint: Checkpoint) -> None:
    """EtchError where the last row is not that of the last `eos_token_id`, which the library takes."""
    end = checkpoint.config.natural_int(_END, _USUAL)
    template = checkpoint.tokenizer.template
    for last in (template.single[-1].content, template.pair[-1].content):
        number = checkpoint.kept_ids[last] if checkpoint.kept_ids is not None and isinstance(last, int) else last
        if number != end:
            message = f"{_END} is {end}, the tokenizer ends texts with {number}: the class reads the row of the former"
            raise parts.refuse("config-value", message)
