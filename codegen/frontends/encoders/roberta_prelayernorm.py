# SPDX-License-Identifier: Apache-2.0
"""RoBERTa with norms before attention and feed-forward, as in fairseq (`--encoder-normalize-before`), and a last one
behind the layers. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ..bases import bert_like, roberta_like

MODEL_TYPE = "roberta-prelayernorm"
_FORM = bert_like.Form(
    replace(bert_like.LAYER, attention_norm="attention.LayerNorm", output_norm="intermediate.LayerNorm"),
    pre_norm=True,
    last_norm="LayerNorm",
)
FAMILY = roberta_like.Family("RobertaPreLayerNorm", prefix="roberta_prelayernorm.", form=_FORM)
