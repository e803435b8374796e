# SPDX-License-Identifier: Apache-2.0
"""Granite with experts, as granite-3.1-1b-a400m: Granite's factors, and experts in every layer. Names as in
`transformers`."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases.decoder_family import Family
from ..shared import experts, parts
from ..shared.experts import Beside, Stacked
from ..shared.llama_stack import Biases, Form, Stack, causal_stack
from .granite import factors_in, logits_factor

MODEL_TYPE = "granitemoe"
HARMLESS_KEYS = experts.HARMLESS_KEYS | {"attention_dropout"}
_COUNTS = ("num_local_experts",)
_EXPERTS, _INNER = (8, 2), 11_008  # where the configuration does not say them
_BLOCK = "block_sparse_moe"
_NAMES = (
    Stacked(f"{_BLOCK}.router.layer", f"{_BLOCK}.input_linear.weight", f"{_BLOCK}.output_linear.weight"),
    Stacked(f"{_BLOCK}.router", f"{_BLOCK}.experts.gate_up_proj", f"{_BLOCK}.experts.down_proj"),
)


def form_in(config: Config, beside: Beside | None = None) -> Form:
    """With a block `beside` the experts, where there is one."""
    count, top = experts.counts_of(config, _COUNTS, _EXPERTS)
    inner = config.positive_int("intermediate_size", _INNER, maximum=parts.MAX_WIDTH)
    bias = config.flag("attention_bias", False)
    return Form(
        Biases(bias, bias, feed_forward=False),
        factors=factors_in(config, 1.0),
        mixture=experts.Mixture(count, top, inner, "chosen", _NAMES, beside=beside),
    )


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form_in(config))


FAMILY = Family("GraniteMoe", AS_IN_JSON, _stack, logits_factor=logits_factor)
