# SPDX-License-Identifier: Apache-2.0
"""Nomic's BERT (Nussbaum et al., 2024, arXiv:2402.01613), as nomic-embed-text: angles, a gate, no biases of layers; or
experts in some layers, as nomic-embed-text-v2-moe. Keys of dense ones are those of `transformers` or, as they were
published, of the code that comes with them."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ..bases import nomic_keys, nomic_mixture, rotary_bert
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction

MODEL_TYPE = "nomic_bert"
HARMLESS_KEYS = nomic_keys.HARMLESS_KEYS


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
        attention_inputs=("attn.Wqkv",),
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


def read_limits(config: Config) -> Limits:
    """As the form says: that with experts has keys of its own, which dense models may have, too."""
    if nomic_mixture.has_experts(config):
        return nomic_mixture.read_limits(config)
    return _FAMILY.read_limits(nomic_keys.with_library_keys(config))


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    if nomic_mixture.has_experts(checkpoint.config):
        return nomic_mixture.build_graph(checkpoint, max_tokens)
    config = nomic_keys.with_library_keys(checkpoint.config)
    return _FAMILY.build_graph(replace(checkpoint, config=config), max_tokens)
