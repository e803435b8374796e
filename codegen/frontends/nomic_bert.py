# SPDX-License-Identifier: Apache-2.0
"""Nomic's BERT (Nussbaum et al., 2024, arXiv:2402.01613), as nomic-embed-text: angles, a gate, no biases of layers."""

from __future__ import annotations

from .bases import rotary_bert
from .shared.encoder_layer import LayerShape
from .shared.prediction_head import Prediction

MODEL_TYPE = "nomic_bert"


def _prediction(shape: LayerShape) -> Prediction:
    return Prediction(
        dense="cls.predictions.transform.dense",
        norm="cls.predictions.transform.layer_norm",
        bias="cls.predictions.bias",
        decoder="cls.predictions.decoder",
        activation=shape.activation,
        epsilon=shape.epsilon,
        width=shape.hidden,
    )


_FAMILY = rotary_bert.Family(
    name="NomicBert",
    prefix="nomic_bert.",
    embedding_norm="emb_ln",
    layer=rotary_bert.LayerForm(
        prefix="encoder.layers.",
        attention_inputs="attn.Wqkv",
        attention_output="attn.out_proj",
        attention_norm="norm1",
        intermediate="mlp.fc11",
        gate="mlp.fc12",
        output="mlp.fc2",
        output_norm="norm2",
        attention_bias=False,
        intermediate_bias=False,
        output_bias=False,
    ),
    tokenizer_class="BertTokenizer",
    theta=1000.0,
    activation="silu",
    epsilon=1e-12,
    segments=2,
    classifier=("classifier", "pooler.dense"),
    prediction=_prediction,
)

read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
