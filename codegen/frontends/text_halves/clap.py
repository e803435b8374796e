# SPDX-License-Identifier: Apache-2.0
"""The texts' half of CLAP (Wu et al., 2022, arXiv:2211.06687), a RoBERTa, beside one of sound:
`ClapModel.get_text_features` of `transformers`, whose embeddings have a length of one."""

from __future__ import annotations

from ...ir.graph import Head, Normalize, Pool
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...tasks.embedding import Embedding
from ..bases import text_half
from ..bases.bert_texts import HARMLESS_KEYS as HARMLESS_OF_TEXTS
from ..bases.bert_texts import ROBERTA_BASE, BertTexts
from ..shared import parts
from ..shared.rows import HeadOps
from ..shared.sentence_head import OUT

MODEL_TYPE = "clap"
# Others are made of those of its halves.
HARMLESS_KEYS = text_half.HARMLESS_KEYS | {"hidden_size", "num_hidden_layers"}
_ROW, _POOLED, _INNER = "row", "pooled", "inner_row"


def _embed(checkpoint: Checkpoint, texts: Config, width: int) -> HeadOps:
    tensors, config = checkpoint.tensors, checkpoint.config
    outputs = text_half.projection_width(config)
    activation = parts.activation_of(config, "projection_hidden_act", "relu")
    pooler, first, second = (
        *(f"{text_half.TEXT_MODEL}pooler.dense",),
        *(f"{text_half.PROJECTION}.linear{i}" for i in (1, 2)),
    )
    body = (
        Pool("first", "hidden", _ROW),
        parts.linear(tensors, "pooler", [pooler], (width, width), _ROW, _POOLED, "tanh"),
        parts.linear(tensors, "first_projection", [first], (outputs, width), _POOLED, _INNER, activation),
        parts.linear(tensors, "projection", [second], (outputs, outputs), _INNER, OUT),
        Normalize(OUT),
    )
    return body, {_ROW: width, _POOLED: width, _INNER: outputs, OUT: outputs}, Head(Embedding(outputs), OUT)


FAMILY = BertTexts(
    "ClapModel",
    ROBERTA_BASE,
    _embed,
    is_roberta=True,
    tokenizer_class="RobertaTokenizer",
    harmless=HARMLESS_OF_TEXTS | {"projection_dim", "projection_hidden_act"},
)
