# SPDX-License-Identifier: Apache-2.0
"""The texts' half of ALIGN (Jia et al., 2021, arXiv:2102.05918), a BERT: `AlignModel.get_text_features` of
`transformers`."""

from __future__ import annotations

from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ..bases import text_half
from ..bases.bert_texts import BERT_BASE, BertTexts
from ..shared.embedding_head import embedding_head
from ..shared.rows import HeadOps

MODEL_TYPE = "align"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
_POOLER = f"{text_half.TEXT_MODEL}pooler.dense.*"  # which the class makes, and nothing reads


def _embed(checkpoint: Checkpoint, texts: Config, width: int) -> HeadOps:
    checkpoint.tensors.ignore(_POOLER)
    outputs = text_half.projection_width(checkpoint.config, 640)
    return embedding_head(checkpoint.tensors, "first", "hidden", width, text_half.PROJECTION, outputs)


FAMILY = BertTexts("AlignModel", BERT_BASE, _embed)
