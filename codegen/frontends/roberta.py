# SPDX-License-Identifier: Apache-2.0
"""RoBERTa: an encoder with the head of one of its classes, or of sentence-transformers. Names as in `transformers`.

It is BERT with positions that begin behind that of the padding token, and another head. Other families are RoBERTa with
other names, tokenizers or places of norms. A padding token that a text spells out counts as any other here;
`transformers` gives it no position of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.graph import Graph
from ..load.checkpoint import Checkpoint
from ..load.config import Config
from ..load.limits import Limits
from .bases import bert_like
from .bases.architecture import check_architecture
from .bases.heads import Classifier, Encoder, FamilyHeads, graph_with_head
from .shared import parts
from .shared.prediction_head import Prediction

MODEL_TYPE = "roberta"
NAME = "Roberta"
_PREFIX = "roberta."  # of most
_POSITIONS = "max_position_embeddings"


@dataclass(frozen=True)
class Heads:
    """What a family has behind the encoder."""

    pooled: bool = False  # a classifier of texts reads what BERT's pooler makes, and is one linear
    tied: bool | None = True  # predicted words, as `Prediction` has it


HEADS = Heads()


def read_limits(config: Config) -> Limits:
    """The positions up to that of the padding token are never a token's."""
    return limits_of(config, "RobertaTokenizer")


def limits_of(config: Config, tokenizer_class: str) -> Limits:
    """The same of a family with another tokenizer."""
    first = first_position(config)
    positions = config.positive_int(_POSITIONS, maximum=parts.MAX_WIDTH) - first
    width, vocabulary = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    return Limits(width, vocabulary, positions, f"{_POSITIONS} - {first}", tokenizer_class)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    return graph_of(checkpoint, max_tokens, NAME)


def graph_of(
    checkpoint: Checkpoint,
    max_tokens: int,
    name: str,
    prefix: str = _PREFIX,
    form: bert_like.Form = bert_like.BERT,
    heads: Heads = HEADS,
) -> Graph:
    """The same of a family that is RoBERTa but for what its classes begin with, the prefix of the encoder in a file
    with a head, the places of norms, and what is behind the encoder."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_architecture(checkpoint, name)
    bert_like.check_encoder_only(config)
    shape, tables, limits = bert_like.read_shape(config), bert_like.read_tables(config), limits_of(config, "")
    shape = replace(shape, epsilon=parts.epsilon_of(config, default=form.epsilon))
    bert_like.check_padding(checkpoint.tokenizer, first_position(config) - 1)
    parts.check_max_tokens(max_tokens, limits.positions, limits.positions_key)
    prefix = parts.prefix_of(checkpoint, prefix, bert_like.WORDS)
    body = bert_like.encoder_body(config, tensors, prefix, tables, shape, form, first_position(config))
    pooler = ("pooler", f"{prefix}pooler.dense", "tanh")
    dense = ("classifier_dense", "classifier.dense", "tanh")
    encoder = Encoder(body, form.widths(shape), tables.vocabulary, tables.segments)
    family_heads = FamilyHeads(
        Classifier("classifier", pooler) if heads.pooled else Classifier("classifier.out_proj", dense, pooler),
        replace(Prediction.as_roberta(shape), tied=heads.tied),
        # The pooler that the class makes is no part of most heads, but older files have it all the same.
        unread=(f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias"),
    )
    return graph_with_head(checkpoint, max_tokens, name, encoder, family_heads)


def first_position(config: Config) -> int:
    """That of a text's first token, behind that of the padding token."""
    return config.natural_int("pad_token_id", 1, maximum=parts.MAX_WIDTH) + 1
