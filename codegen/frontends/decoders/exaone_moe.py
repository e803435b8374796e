# SPDX-License-Identifier: Apache-2.0
"""EXAONE with experts, as K-EXAONE-236B-A23B: EXAONE 4's attention, norms before the blocks, and experts as DeepSeek-V3
chooses them. Names as in `transformers`. What guesses tokens beyond the next one is left aside."""

from __future__ import annotations

from dataclasses import replace

from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import experts
from ..shared.llama_stack import BlockNorms, Stack
from ..shared.sigmoid_experts import Usual, mixture_in
from . import exaone4

MODEL_TYPE = "exaone_moe"
HARMLESS_KEYS = experts.HARMLESS_KEYS | exaone4.HARMLESS_KEYS | {"first_k_dense_replace"}  # mlp_layer_types counts more
# Where the configuration does not say them.
_USUAL = Usual(64, 8, 1024, 1, ("num_experts",), "num_shared_experts", factor=2.5)
_DENSE = 1
_BIAS = ("mlp.e_score_correction_bias", "mlp.gate.e_score_correction_bias")


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    kinds = exaone4.kinds_in(config)
    dense = frozenset[int]()
    if config.values.get("mlp_layer_types") is None:
        dense = experts.first_dense(config, "first_k_dense_replace", _DENSE)
    mixture = mixture_in(config, _USUAL, experts.dense_by_kind(config, dense), chosen_by=_BIAS)
    form = replace(exaone4.form_in(kinds), norms=BlockNorms(), mixture=mixture)
    tensors.ignore("mtp*", f"{prefix}mtp*")
    return exaone4.stack(config, tensors, prefix, vocabulary, tokens, form, kinds)


FAMILY = Family("ExaoneMoe", "TokenizersBackend", _stack, padding=0)
