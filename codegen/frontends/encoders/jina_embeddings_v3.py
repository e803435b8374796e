# SPDX-License-Identifier: Apache-2.0
"""Jina's embeddings v3 (Sturua et al., 2024, arXiv:2409.10173): XLM-RoBERTa with angles; adapters are no part of it."""

from __future__ import annotations

from ..bases import rotary_bert
from ..shared.prediction_head import Prediction

MODEL_TYPE = "jina_embeddings_v3"
FAMILY = rotary_bert.Family(
    name="JinaEmbeddingsV3",
    prefix="roberta.",
    embedding_norm="emb_ln",
    layer=rotary_bert.LayerForm(
        prefix="encoder.layers.",
        attention_inputs=("mixer.Wqkv",),
        attention_output="mixer.out_proj",
        attention_norm="norm1",
        intermediate="mlp.fc1",
        gate=None,
        output="mlp.fc2",
        output_norm="norm2",
        attention_bias=True,
        intermediate_bias=True,
        output_bias=True,
    ),
    tokenizer_class="XLMRobertaTokenizer",
    theta=20_000.0,
    activation="gelu",
    epsilon=1e-5,
    segments=1,
    classifier=("classifier.out_proj", "classifier.dense"),
    prediction=Prediction.as_roberta,
)
