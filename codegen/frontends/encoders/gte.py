# SPDX-License-Identifier: Apache-2.0
"""GTE (Zhang et al., 2024, arXiv:2407.19669), as gte-multilingual: angles, and a gate without biases."""

from __future__ import annotations

from dataclasses import replace

from ..bases import rotary_bert
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction

MODEL_TYPE = "gte"


def _prediction(shape: LayerShape) -> Prediction:
    return replace(Prediction.as_roberta(shape), norm="lm_head.norm", bias="lm_head.decoder.bias")


FAMILY = rotary_bert.Family(
    name="Gte",
    prefix="gte.",
    embedding_norm="embeddings.LayerNorm",
    layer=rotary_bert.LayerForm(
        prefix="encoder.layer.",
        attention_inputs="attention.qkv_proj",
        attention_output="attention.o_proj",
        attention_norm="attn_ln",
        intermediate="mlp.up_gate_proj",
        gate="mlp.up_gate_proj",
        output="mlp.down_proj",
        output_norm="mlp_ln",
        attention_bias=True,
        intermediate_bias=False,
        output_bias=True,
    ),
    tokenizer_class="XLMRobertaTokenizer",
    theta=160_000.0,
    activation="gelu",
    epsilon=1e-12,
    segments=1,
    classifier=("classifier", "pooler.dense"),
    prediction=_prediction,
)
