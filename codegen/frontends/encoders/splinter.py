# SPDX-License-Identifier: Apache-2.0
"""Splinter (Ram et al., 2021, arXiv:2101.00438): BERT that answers a question by the row of a token that stands where
the answer would. Names as in `transformers`.

A token begins the answer by the product of its row with that of the question's token, both transformed, and ends it by
another one. The sum over the channels of a product is a linear of ones, in float32 in every recipe.
"""

from __future__ import annotations

import numpy as np

from ...ir.graph import Graph, Head, Linear, Multiply, Node, Norm, Parameter, RowOfToken
from ...ir.parameter import F32Array
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ...load.safetensors import TensorFile
from ...tasks.answering import ENDS, Answering
from ..bases import bert_like
from ..bases.architecture import check_architecture
from ..bases.heads import Encoder, FamilyHeads, graph_with_head
from ..shared import parts
from ..shared.computed import Computed
from ..shared.rows import HeadOps

MODEL_TYPE = "splinter"
NAME = "Splinter"
_ANSWERS = "ForQuestionAnswering"
_EPSILON = 1e-5  # of the head's norms, whatever the configuration says
_OUT = "ends"


def read_limits(config: Config) -> Limits:
    """By the usual keys."""
    return usual_limits(config, "SplinterTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, NAME, classifier_ending=_ANSWERS, others=())
    bert_like.check_encoder_only(config)
    shape, tables = bert_like.read_shape(config), bert_like.read_tables(config)
    parts.check_max_tokens(max_tokens, tables.positions)
    prefix = tensors.below("splinter.")
    body = bert_like.encoder_body(config, tensors, prefix, tables, shape, bert_like.BERT)

    def answers() -> HeadOps:
        return _head(tensors, _question_of(checkpoint), shape.hidden)

    heads = FamilyHeads(answers, own={_ANSWERS: answers}, left_out=("splinter_qass.*",))
    encoder = Encoder(body, shape.widths, tables.vocabulary, tables.segments)
    return graph_with_head(checkpoint, max_tokens, NAME, encoder, heads)


def _question_of(checkpoint: Checkpoint) -> int:
    """The token whose row asks: it stands in every pair of the tokenizer."""
    question = checkpoint.config.natural_int("question_token_id", 104)
    if question not in [part.content for part in checkpoint.tokenizer.template.pair]:
        message = f"question_token_id {question}: the tokenizer puts no such token behind a question"
        raise parts.refuse("config-value", message)
    return question


def _head(tensors: TensorFile, question: int, width: int) -> HeadOps:
    widths = dict.fromkeys(("question_row", "asking", "asked", "found"), width) | {_OUT: ENDS}
    body: list[Node] = [RowOfToken(question, "hidden", "question_row")]
    for index, end in enumerate(("start", "end")):
        body += (
            *_transformed(tensors, f"query_{end}", "question_row", "asked", width),
            parts.linear(
                tensors,
                f"{end}_classifier",
                [f"splinter_qass.{end}_classifier"],
                (width, width),
                "asked",
                "asking",
                bias=False,
            ),
            *_transformed(tensors, end, "hidden", "found", width),
            Multiply("asking", "found", "found"),
            _summed(f"{end}_logits", index, width),
        )
    return tuple(body), widths, Head(Answering(), _OUT)


def _transformed(tensors: TensorFile, name: str, value: str, out: str, width: int) -> tuple[Linear, Norm]:
    source = f"splinter_qass.{name}_transform"
    return (
        parts.linear(tensors, f"{name}_dense", [f"{source}.dense"], (width, width), value, out, "gelu"),
        parts.layer_norm(tensors, f"{name}_norm", [f"{source}.LayerNorm"], width, _EPSILON, out),
    )


def _summed(name: str, index: int, width: int) -> Linear:
    """The sum of a row in one column, nothing in the others; the columns of those before stay."""

    def values() -> F32Array:
        return np.repeat((np.arange(ENDS) == index).astype(np.float32)[:, None], width, axis=1)

    ones = Parameter(f"{name}_weight", (Computed(f"{name}: ones", (ENDS, width), values),))
    return Linear(name, ones, None, "found", _OUT, residual=_OUT if index else None, exact=True)
