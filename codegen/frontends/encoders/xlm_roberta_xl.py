# SPDX-License-Identifier: Apache-2.0
"""XLM-RoBERTa XL and XXL (Goyal et al., 2021, arXiv:2105.00572): norms before attention and feed-forward, none of the
embedding, and a last one behind the layers. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ..bases import bert_like, roberta_like

MODEL_TYPE = "xlm-roberta-xl"
_FORM = bert_like.Form(
    replace(bert_like.LAYER, attention_norm="attention.self_attn_layer_norm", output_norm="LayerNorm"),
    embedding_norm=False,
    pre_norm=True,
    last_norm="encoder.LayerNorm",
    epsilon=1e-5,
)
# The library has no class of its own for its tokenizer, and takes tokenizer.json as it is.
FAMILY = roberta_like.Family("XLMRobertaXL", "TokenizersBackend", form=_FORM)
