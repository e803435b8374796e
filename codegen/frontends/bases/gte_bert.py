# SPDX-License-Identifier: Apache-2.0
"""GTE's encoder (Zhang et al., 2024, arXiv:2407.19669): angles, and a gate without biases; by the keys and names of
`transformers` or, as it was published, of the code that comes with its checkpoints ("new-impl", `NewModel`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config, is_neutral
from ...load.limits import Limits
from ..shared import parts
from ..shared.encoder_layer import LayerShape
from ..shared.prediction_head import Prediction
from . import rotary_bert

# How the published code computes; widths that embeddings may be cut to.
HARMLESS_KEYS = frozenset({"matryoshka_dimensions", "unpad_inputs", "use_memory_efficient_attention"})
_PUBLISHED_PREFIX = "new."  # of the encoder in a published file with a head; the library reads it as its own, too
_NTK = "ntk"
_SCALING = {"type", "factor", "mixed_b"}
# What asks of the published code for another computation, and what it is when it does not.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "layer_norm_type": ("layer_norm",),
    "logn_attention_scale": (False,),
    "logn_attention_clip1": (False,),  # which counts with the other one only
}


def _prediction(shape: LayerShape) -> Prediction:
    return replace(Prediction.as_roberta(shape), norm="lm_head.norm", bias="lm_head.decoder.bias")


def _published_prediction(shape: LayerShape) -> Prediction:
    return replace(_prediction(shape), activation=shape.activation)


GTE = rotary_bert.Family(
    name="Gte",
    prefix="gte.",
    embedding_norm="embeddings.LayerNorm",
    layer=rotary_bert.LayerForm(
        prefix="encoder.layer.",
        attention_inputs=("attention.qkv_proj",),
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
NEW = replace(
    GTE,
    name="New",
    prefix=_PUBLISHED_PREFIX,
    theta=10_000.0,
    segments=0,
    prediction=_published_prediction,
    pairs=True,
)


@dataclass(frozen=True)
class Family:
    """The same encoder for a model type, whose `form` has the usual values of its configuration class."""

    form: rotary_bert.Family
    positions: tuple[str, ...]  # what `position_embedding_type` may say

    def read_limits(self, config: Config) -> Limits:
        """As `rotary.limits_of`."""
        return self.form.read_limits(config)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        form, config = self.form, checkpoint.config
        if not config.flag("pack_qkv", True):
            apart = tuple(f"attention.{name}_proj" for name in "qkv")
            form = replace(form, layer=replace(form.layer, attention_inputs=apart))
        if any(name.startswith(_PUBLISHED_PREFIX) for name in checkpoint.tensors.names):
            form = replace(form, prefix=_PUBLISHED_PREFIX)
        return form.build_graph(replace(checkpoint, config=self._with_library_keys(config)), max_tokens)

    def _with_library_keys(self, config: Config) -> Config:
        """With what the keys of the published code say by those of `transformers`."""
        for key, neutral in _NEUTRAL.items():
            if key in config and not is_neutral(config.values[key], neutral):
                raise parts.refuse("config-not-supported", f"{key} {str(config.values[key])[:40]} is not supported")
        position = config.text("position_embedding_type", self.positions[0])
        if position not in self.positions:
            message = f"position_embedding_type '{position[:40]}' (supported: {', '.join(self.positions)})"
            raise parts.refuse("position-embedding-not-supported", message)
        values = config.values.changed("position_embedding_type", "absolute")  # the library's, which has no other key
        scaling = values.get("rope_scaling")
        ntk = scaling if isinstance(scaling, dict) and scaling.get("type") == _NTK else None
        if scaling is not None and ntk is None and self.form is NEW:
            raise parts.refuse("rotary-not-supported", f"rope_scaling {str(scaling)[:60]} (supported: type {_NTK})")
        if values.get("rope_parameters") is None and ntk is not None:
            values = values.changed("rope_parameters", _slower(config, ntk, self.form.theta))
            values = values.changed("rope_scaling", None)
        return replace(config, values=values)


def _slower(config: Config, scaling: dict[str, object], theta: float) -> dict[str, object]:
    """NTK's angles, of a base that is `factor` times as large and slower by factor^(2 / width), as linear ones."""
    other = sorted(set(scaling) - _SCALING)
    if other or scaling.get("mixed_b") is not None:
        named = other[0][:40] if other else "mixed_b"
        raise parts.refuse("rotary-not-supported", f"rope_scaling of type {_NTK} has {named}, which is not supported")
    factor = Config.from_json(scaling).number("factor")
    if not 1 <= factor <= 1e6:
        raise parts.refuse("rotary-not-supported", f"factor {factor:g} of rope_scaling: expected 1 to 1e+06")
    hidden = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    base = config.number("rope_theta", theta) * factor
    return {"rope_type": "linear", "rope_theta": base, "factor": factor ** (2 / (hidden // heads or 1))}
