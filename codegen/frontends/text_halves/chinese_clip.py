# SPDX-License-Identifier: Apache-2.0
"""The texts' half of Chinese CLIP (Yang et al., 2022, arXiv:2211.01335), a BERT: `ChineseCLIPModel.get_text_features`
of `transformers`."""

from __future__ import annotations

from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ..bases import text_half
from ..bases.bert_texts import BERT_BASE, BertTexts
from ..shared.embedding_head import embedding_head
from ..shared.rows import HeadOps

MODEL_TYPE = "chinese_clip"
HARMLESS_KEYS = text_half.HARMLESS_KEYS


def _embed(checkpoint: Checkpoint, texts: Config, width: int) -> HeadOps:
    outputs = text_half.projection_width(checkpoint.config)
    return embedding_head(checkpoint.tensors, "first", "hidden", width, text_half.PROJECTION, outputs, bias=False)


FAMILY = BertTexts("ChineseCLIPModel", BERT_BASE, _embed, keys=text_half.OLD_OR_NEW)
