# SPDX-License-Identifier: Apache-2.0
"""BERTs whose scores fall with the distance of a key on both sides, as they were published under BERT's model type:
Jina's embeddings v2 (Günther et al., 2023, arXiv:2310.19923), in both of their forms, and MosaicBERT (Portes et al.,
2023, arXiv:2312.17482), which DNABERT-2 is. `transformers` has none of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ..shared import parts
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from . import bert_like, rotary_bert
from .architecture import check_own_code

# Of the published code: for how many tokens it makes a table at first; how it makes embeddings when nobody else does.
HARMLESS_KEYS = frozenset({"alibi_starting_size", "emb_pooler", "model_max_length"})
_PLACES, _BLOCK = "position_embedding_type", "feed_forward_type"
_GATES = {"geglu": "gelu", "reglu": "relu"}
_JINA, _MOSAIC = "JinaBert", "Bert"
_FIRST = rotary_bert.LayerForm(
    prefix="encoder.layer.",
    attention_inputs=(bert_like.LAYER.query, bert_like.LAYER.key, bert_like.LAYER.value),
    attention_output=bert_like.LAYER.attention_output,
    attention_norm=bert_like.LAYER.attention_norm,
    intermediate="mlp.gated_layers",
    gate="mlp.gated_layers",
    output="mlp.wo",
    output_norm="mlp.layernorm",
    attention_bias=True,
    intermediate_bias=False,
    output_bias=True,
    gate_first=True,
)
_INPUTS = "attention.self.Wqkv"
_OF_MOSAIC = replace(_FIRST, attention_inputs=(_INPUTS,))
_GATED = "mlp.up_gated_layer"
_SECOND = replace(
    _FIRST,
    input_norms=("attention.self.layer_norm_q", "attention.self.layer_norm_k"),
    attended_norm=bert_like.LAYER.attention_norm,
    attention_norm="layer_norm_1",
    intermediate=_GATED,
    gate=_GATED,
    gate_first=False,
    output="mlp.down_layer",
    output_norm="layer_norm_2",
)


@dataclass(frozen=True)
class Family:
    """BERT's model type, whose folders may be these: their tensors tell."""

    usual: bert_like.Family

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        config = checkpoint.config
        if _has(checkpoint, _INPUTS):
            # Its code reads no other activation, and says nothing of positions.
            return _build(checkpoint, max_tokens, _MOSAIC, _OF_MOSAIC, "gelu")
        if config.values.get(_PLACES) == "alibi":
            form = _SECOND if _has(checkpoint, _GATED) else _FIRST
            return _build(checkpoint, max_tokens, _JINA, form, _gate_of(config))
        return self.usual.build_graph(checkpoint, max_tokens)


def _has(checkpoint: Checkpoint, part: str) -> bool:
    return any(name.endswith(f".{part}.weight") for name in checkpoint.tensors.names)


def _gate_of(config: Config) -> str:
    kind = config.text(_BLOCK)
    if kind not in _GATES:
        message = f"{_BLOCK} '{kind[:40]}' is not supported (supported: {', '.join(_GATES)})"
        raise parts.refuse("activation-not-supported", message)
    return _GATES[kind]


def _build(checkpoint: Checkpoint, max_tokens: int, name: str, layer: rotary_bert.LayerForm, gate: str) -> Graph:
    """Of a family of this name, the gate's activation being the layers', that of config.json the prediction head's."""
    check_own_code(checkpoint.config, name)
    activation = parts.activation_of(checkpoint.config)

    def prediction(shape: LayerShape) -> Prediction:
        shape = replace(shape, activation=activation)
        return Prediction.as_bert("cls.predictions", "cls.predictions.transform", shape, shape.hidden)

    family = rotary_bert.Family(
        name=name,
        prefix="bert.",
        embedding_norm=bert_like.EMBEDDING_NORM,
        layer=layer,
        tokenizer_class="BertTokenizer",
        theta=0.0,
        activation="gelu",
        epsilon=parts.EPSILON,
        segments=2,
        classifier=("classifier", "pooler.dense"),
        prediction=prediction,
        places="slopes",
        pairs=True,
    )
    values = checkpoint.config.values.changed("hidden_act", gate)
    if values.get(_PLACES) == "alibi":
        values = values.changed(_PLACES, "absolute")  # which says nothing more
    graph = family.build_graph(replace(checkpoint, config=replace(checkpoint.config, values=values)), max_tokens)
    note = f"read as the published code computes {name}Model, not as BERT: scores fall with the distance (ALiBi)"
    return replace(graph, notes=(*graph.notes, note))
