# SPDX-License-Identifier: Apache-2.0
"""Megatron's BERT (Shoeybi et al., 2019, arXiv:1909.08053): norms before attention and feed-forward, and a last one
behind the layers. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ..bases import bert_like

MODEL_TYPE = "megatron-bert"
_FORM = bert_like.Form(
    replace(bert_like.LAYER, attention_norm="attention.ln", output_norm="ln"),
    embedding_norm=False,
    pre_norm=True,
    last_norm="encoder.ln",
)
FAMILY = bert_like.Family("MegatronBert", "bert.", _FORM)
