# SPDX-License-Identifier: Apache-2.0
"""LFM2 with experts, as LFM2-8B-A1B: the dense one's layers, of which all but the first have experts that sigmoids and
a stored bias choose. Names as in `transformers`."""

from __future__ import annotations

from ...ir.experts import ExpertShares
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.experts import Mixture, OneByOne, Stacked
from ..shared.layer_kinds import FULL, layer_kinds
from ..shared.llama_stack import Stack
from ..shared.sigmoid_experts import factor_in
from . import lfm2
from .lfm2 import CONVOLUTION, with_attention

MODEL_TYPE = "lfm2_moe"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"use_pos_enc"}
# Where the configuration does not say them.
_EXPERTS, _INNER, _DENSE_INNER, _DENSE = (32, 4), 1792, 7168, 2
_ADDED = 1e-6  # to what weights are divided by
_ROUTER, _BLOCK = "feed_forward.gate", "feed_forward.experts"
_NAMES = (
    OneByOne(_ROUTER, *(f"{_BLOCK}.{{}}.{of}" for of in ("w1", "w3", "w2"))),
    Stacked(_ROUTER, f"{_BLOCK}.gate_up_proj", f"{_BLOCK}.down_proj"),
)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count, top = experts.counts_of(config, ("num_experts",), _EXPERTS)
    mixture = Mixture(
        *(count, top, config.positive_int("moe_intermediate_size", _INNER, maximum=parts.MAX_WIDTH), "each", _NAMES),
        dense=experts.first_dense(config, "num_dense_layers", _DENSE),
        chosen_by=("feed_forward.expert_bias",) if config.flag("use_expert_bias", True) else (),
        shares=ExpertShares(added=_ADDED) if config.flag("norm_topk_prob", True) else None,
        factor=factor_in(config, "routed_scaling_factor"),
    )
    inner = config.positive_int("intermediate_size", _DENSE_INNER, maximum=parts.MAX_WIDTH)
    return lfm2.stack(config, tensors, prefix, vocabulary, tokens, inner, _kinds(config), mixture)


def _kinds(config: Config) -> tuple[str, ...]:
    """Of each layer, which the configuration has to say."""
    if config.values.get("layer_types") is None:
        raise parts.refuse("config-not-supported", "layer_types: which layers have attention is not said")
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    return with_attention(layer_kinds(config, (FULL,) * layers, (FULL, CONVOLUTION)))


FAMILY = Family(
    "Lfm2Moe", "TokenizersBackend", _stack, tied=True, tied_keys=("tie_embedding", "tie_word_embeddings"), padding=0
)
