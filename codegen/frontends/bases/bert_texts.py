# SPDX-License-Identifier: Apache-2.0
"""The texts' half of classes whose encoder of texts is BERT's or RoBERTa's, below a name of its own: ALIGN, AltCLIP,
Chinese CLIP, CLAP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...ir.graph import Graph, Node
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits, usual_limits
from ..shared import parts
from ..shared.rows import HeadOps
from . import bert_like
from .roberta_like import first_position, limits_of
from .text_half import NEW, TEXT_MODEL, TextHalf, Whole, half_graph, of_texts

HARMLESS_KEYS = frozenset(("initializer_factor",))
BERT_BASE: dict[str, Any] = {
    **{"vocab_size": 30_522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12},
    **{"intermediate_size": 3072, "max_position_embeddings": 512, "hidden_act": "gelu", "type_vocab_size": 2},
    **{"layer_norm_eps": 1e-12, "pad_token_id": 0},
}
ROBERTA_BASE = BERT_BASE | {
    **{"vocab_size": 50_265, "max_position_embeddings": 514, "type_vocab_size": 1, "pad_token_id": 1},
}
# Of a text's rows, `hidden`, of this width; the whole class's configuration and that of its texts.
EmbedRows = Callable[[Checkpoint, Config, int], HeadOps]


@dataclass(frozen=True)
class BertTexts:
    """What such a class has."""

    name: str
    usual: Mapping[str, Any]  # of its texts' configuration
    embed: EmbedRows
    keys: tuple[str, ...] = NEW
    is_roberta: bool = False  # positions are counted from that of the padding token on
    tokenizer_class: str = "BertTokenizer"
    prefix: str = TEXT_MODEL  # of its encoder of texts, as files call it
    harmless: frozenset[str] = HARMLESS_KEYS

    def read_limits(self, config: Config) -> Limits:
        """Of the texts of a whole one."""
        return self.text_limits(of_texts(config, self.keys, self.usual))

    def text_limits(self, texts: Config) -> Limits:
        """By their own configuration."""
        limits = limits_of if self.is_roberta else usual_limits
        return replace(limits(texts, self.tokenizer_class), names_labels=False)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """Of the texts of a whole one."""

        def build(texts: Config) -> TextHalf:
            return self.half(checkpoint, texts, max_tokens)

        return half_graph(
            checkpoint, max_tokens, Whole(self.name), build, self.harmless, keys=self.keys, usual=self.usual
        )

    def half(self, checkpoint: Checkpoint, texts: Config, max_tokens: int) -> TextHalf:
        """Of a class with this configuration of its texts."""
        tensors = checkpoint.tensors
        bert_like.check_encoder_only(texts)
        shape, tables, limits = bert_like.read_shape(texts), bert_like.read_tables(texts), self.text_limits(texts)
        first = first_position(texts) if self.is_roberta else 0
        if self.is_roberta:
            bert_like.check_padding(checkpoint.tokenizer, first - 1)
        parts.check_max_tokens(max_tokens, limits.positions, limits.positions_key)
        tensors.ignore(f"{self.prefix}embeddings.token_type_ids")  # zeros: a buffer, not a weight
        body: tuple[Node, ...] = bert_like.encoder_body(
            texts, tensors, self.prefix, tables, shape, bert_like.BERT, first
        )
        head, widths, result = self.embed(checkpoint, texts, shape.hidden)
        return TextHalf(body + head, bert_like.BERT.widths(shape) | widths, result, tables.vocabulary, tables.segments)
