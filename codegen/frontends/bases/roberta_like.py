# SPDX-License-Identifier: Apache-2.0
"""RoBERTa and the families that are RoBERTa with other names, tokenizers or places of norms.

It is BERT with positions that begin behind that of the padding token, and another head. A padding token that a text
spells out counts as any other here; `transformers` gives it no position of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ..shared import parts
from ..shared.prediction_head import Prediction
from . import bert_like
from .architecture import check_architecture
from .heads import Classifier, Encoder, FamilyHeads, graph_with_head

_POSITIONS = "max_position_embeddings"


@dataclass(frozen=True)
class Family:
    """One that is RoBERTa but for these."""

    name: str  # of its classes
    tokenizer_class: str = "RobertaTokenizer"
    prefix: str = "roberta."  # of the encoder in a file with a head
    form: bert_like.Form = bert_like.BERT
    pooled: bool = False  # a classifier of texts reads what BERT's pooler makes, and is one linear
    tied: bool | None = True  # predicted words, as `Prediction` has it

    def read_limits(self, config: Config) -> Limits:
        """As `limits_of`."""
        return limits_of(config, self.tokenizer_class)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        config, tensors = checkpoint.config, checkpoint.tensors
        check_architecture(checkpoint, self.name)
        bert_like.check_encoder_only(config)
        shape, tables, limits = bert_like.read_shape(config), bert_like.read_tables(config), self.read_limits(config)
        shape = replace(shape, epsilon=parts.epsilon_of(config, default=self.form.epsilon))
        first = first_position(config)
        bert_like.check_padding(checkpoint.tokenizer, first - 1)
        parts.check_max_tokens(max_tokens, limits.positions, limits.positions_key)
        prefix = tensors.below(self.prefix)
        prediction = replace(Prediction.as_roberta(shape), tied=self.tied)
        prediction.giving_words(checkpoint, f"{prefix}{bert_like.WORDS}")
        body = bert_like.encoder_body(config, tensors, prefix, tables, shape, self.form, first)
        pooler = ("pooler", f"{prefix}pooler.dense", "tanh")
        dense = ("classifier_dense", "classifier.dense", "tanh")
        encoder = Encoder(body, self.form.widths(shape), tables.vocabulary, tables.segments)
        heads = FamilyHeads(
            Classifier("classifier", pooler) if self.pooled else Classifier("classifier.out_proj", dense, pooler),
            prediction,
            # The pooler that the class makes is no part of most heads, but older files have it all the same.
            unread=(f"{prefix}pooler.dense.weight", f"{prefix}pooler.dense.bias"),
        )
        return graph_with_head(checkpoint, max_tokens, self.name, encoder, heads)


def limits_of(config: Config, tokenizer_class: str) -> Limits:
    """The positions up to that of the padding token are never a token's."""
    first = first_position(config)
    positions = config.positive_int(_POSITIONS, maximum=parts.MAX_WIDTH) - first
    width, vocabulary = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    return Limits(width, vocabulary, positions, f"{_POSITIONS} - {first}", tokenizer_class)


def first_position(config: Config) -> int:
    """That of a text's first token, behind that of the padding token."""
    return config.natural_int("pad_token_id", 1, maximum=parts.MAX_WIDTH) + 1
